import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { errorLog, KINDS, plantOutput } from '../../../test/transcode/malicious-outputs.ts';
import { H264, make, pictures, sourceInfo, testTranscoder } from '../../../test/transcode/sources.ts';
import { createLogger } from '../../platform/logger.ts';
import type { RungPlan } from '../contract/index.ts';

let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'run-'));
});
after(() => rm(dir, { recursive: true, force: true }));

const RUNG: RungPlan = {
  name: '90p',
  width: 160,
  height: 90,
  frameRate: 25,
  bitrate: 200_000,
  codec: 'H264' as const,
  isCopy: false,
};
const SOURCE = sourceInfo({ width: 160, height: 90, frameRate: 25 });

/** Creates a fake ffmpeg that runs the given script. */
async function program(name: string, script: string): Promise<{ ffmpeg: string; pid(): Promise<number> }> {
  const path = join(dir, name);
  // Queries that the transcoder sends to every ffmpeg first.
  const asked = `case "$*" in
*-version*) echo "ffmpeg version 5.1"; exit 0;;
*-encoders*) printf ' V libx264 x\\n A aac x\\n'; exit 0;;
*-muxers*) echo ' E hls x'; exit 0;;
*-filters*) exit 0;;
esac`;
  await writeFile(path, `#!/bin/sh\n${asked}\n${script}\n`, { mode: 0o755 });
  return {
    ffmpeg: path,
    // Process ID outside the sandbox, where it has another one.
    pid: () => waitFor(() => runningPid(path), { message: `${name} runs` }),
  };
}

async function encode(
  ffmpeg: string,
  signal: AbortSignal,
  stallMs = 60_000,
  log = createLogger('silent'),
): Promise<unknown> {
  const outDir = await mkdtemp(join(dir, 'out-'));
  const run = { input: join(dir, 'in.mp4'), source: SOURCE, outDir, signal };
  const transcoder = testTranscoder({ ffmpeg, stallMs, log });
  return transcoder.encode({ ...run, rungs: [RUNG], audio: [], alignToSource: false });
}

async function runningPid(path: string): Promise<number | null> {
  for (const pid of await readdir('/proc')) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (command.startsWith(`/bin/sh\0${path}\0-progress`)) return Number(pid);
  }
  return null;
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

test('run: an abort ends ffmpeg immediately, and the caller gets its reason', async () => {
  const { ffmpeg, pid } = await program('deaf', 'trap "" INT TERM; while :; do sleep 0.05; done');
  const abort = new AbortController();
  const encoding = encode(ffmpeg, abort.signal);
  const child = await pid();
  const startedMs = performance.now();
  const reason = new Error('the video was deleted');
  abort.abort(reason);
  await assert.rejects(encoding, (error) => error === reason);
  assert.ok(performance.now() - startedMs < 2000);
  await waitFor(() => isGone(child), { message: 'the program is gone' });
  await assert.rejects(encode(ffmpeg, AbortSignal.abort(reason)), (error) => error === reason);
});

test('run: a stalled process is killed', async () => {
  const progress = 'echo out_time_us=1000000; echo progress=continue';
  const { ffmpeg } = await program('stuck', `while :; do ${progress}; sleep 0.05; done`);
  await assert.rejects(encode(ffmpeg, AbortSignal.timeout(20_000), 400), /ffmpeg stalled/);
  await waitFor(async () => (await runningPid(ffmpeg)) === null, { message: 'the program is gone' });
});

test('run: a process with progress is not killed, however slow', async () => {
  const moving =
    'i=0; while [ $i -lt 9 ]; do i=$((i+1)); echo out_time_us=$i; echo progress=continue; sleep 0.3; done';
  const { ffmpeg } = await program('slow', `${moving}; exit 9`);
  await assert.rejects(encode(ffmpeg, AbortSignal.timeout(20_000), 2000), /ended with 9/);
});

const FAILURES: [string, string, object][] = [
  [
    'a full disk',
    'echo "av_interleaved_write_frame(): No space left on device" >&2; exit 1',
    { code: 'ENOSPC' },
  ],
  ['a full disk that is no failure', 'echo "No space left on device" >&2; exit 0', { code: 'ENOSPC' }],
  [
    'a damaged file',
    'echo "in.mp4: Invalid data found when processing input" >&2; exit 1',
    { code: 'CORRUPT_INPUT' },
  ],
  ['nothing but errors', 'echo "Error while decoding stream #0:0" >&2; exit 69', { code: 'CORRUPT_INPUT' }],
  ['an unknown codec', 'echo "Decoder (codec none) not found" >&2; exit 1', { code: 'UNSUPPORTED_FORMAT' }],
  ['nothing written', 'exit 0', { code: 'CORRUPT_INPUT' }],
  ['a crash', 'kill -SEGV $$', { name: 'Error', message: /SIGSEGV/ }],
  ['a kill among complaints', 'echo "Invalid data found" >&2; kill -KILL $$', { name: 'Error' }],
  ['the limit of CPU time', 'echo "Invalid data found" >&2; exit 255', { name: 'Error' }],
];
for (const [name, script, expected] of FAILURES) {
  test(`run: ${name}`, async () => {
    const { ffmpeg } = await program(name.replaceAll(' ', '-'), script);
    await assert.rejects(encode(ffmpeg, AbortSignal.timeout(20_000)), expected);
  });
}

for (const [name, script, expected] of [
  ['words that nobody knows', 'echo "the quux is not frobbed" >&2; exit 1', { code: 'CORRUPT_INPUT' }],
  ['a report of nothing', 'echo "{}"', { code: 'CORRUPT_INPUT' }],
  ['no memory', 'echo "upload: Cannot allocate memory" >&2; exit 1', { name: 'Error' }],
  ['a guard that fails', 'echo "prlimit: failed to set limits" >&2; exit 1', { name: 'Error' }],
] as const) {
  test(`run: ${name}, by ffprobe`, async () => {
    const ffprobe = join(dir, `probe-${name.replaceAll(' ', '-')}`);
    await writeFile(ffprobe, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const input = await make(dir, ...pictures('64x64', 5, 1), ...H264, 'probed.mp4');
    await assert.rejects(testTranscoder({ ffprobe }).probe(input, AbortSignal.timeout(20_000)), expected);
  });
}

test('run: a missing ffmpeg is not the fault of the file', async () => {
  await assert.rejects(encode(join(dir, 'absent'), AbortSignal.timeout(5000)), { name: 'Error' });
});

const PLAYLIST = '#EXTM3U\n#EXT-X-MAP:URI="init.mp4"\n#EXTINF:2.0,\ns_00000.m4s\n#EXT-X-ENDLIST\n';

test('run: a truncated segment is never returned', async () => {
  const { ffmpeg } = await program(
    'half',
    [
      `printf '${PLAYLIST.replaceAll('\n', '\\n')}' > 90p/index.m3u8`,
      "printf avcC > 90p/init.mp4; printf '\\000\\000\\000\\040ftyp' > 90p/s_00000.m4s",
      'echo out_time_us=2000000; echo progress=end',
    ].join('\n'),
  );
  await assert.rejects(encode(ffmpeg, AbortSignal.timeout(20_000)), /s_00000\.m4s is truncated/);
});

for (const kind of KINDS) {
  test(`run: ${kind} in place of a segment is rejected, and nothing is returned`, async () => {
    const secret = join(await mkdtemp(join(dir, 'outside-')), 'secret');
    await writeFile(secret, 'secret');
    const { log, errors } = errorLog();
    // The link out of the sandbox is created from outside; the rest could be created inside.
    const outDir = await mkdtemp(join(dir, 'out-'));
    await mkdir(join(outDir, '90p'));
    const { ffmpeg } = await program(
      `planting-${kind.replaceAll(' ', '-')}`,
      `printf '${PLAYLIST.replaceAll('\n', '\\n')}' > 90p/index.m3u8\nprintf avcC > 90p/init.mp4`,
    );
    await plantOutput(kind, join(outDir, '90p/s_00000.m4s'), secret);
    const run = { input: join(dir, 'in.mp4'), source: SOURCE, outDir, signal: AbortSignal.timeout(20_000) };
    const encoding = testTranscoder({ ffmpeg, log }).encode({
      ...run,
      rungs: [RUNG],
      audio: [],
      alignToSource: false,
    });
    await assert.rejects(encoding, { code: 'CORRUPT_INPUT' });
    if (kind !== 'a folder') assert.deepEqual(errors, ['ffmpeg left something other than a file']);
    assert.equal(await readFile(secret, 'utf8'), 'secret');
  });
}

test('run: an output folder replaced by a link is rejected', async () => {
  const outside = await mkdtemp(join(dir, 'outside-'));
  const { log, errors } = errorLog();
  const { ffmpeg } = await program('moving', `rm -r 90p; ln -s ${outside} 90p`);
  await assert.rejects(encode(ffmpeg, AbortSignal.timeout(20_000), 60_000, log), { code: 'CORRUPT_INPUT' });
  assert.deepEqual(errors, ['ffmpeg left something other than a file']);
});

test('run: a list of chunks contains only chunks', async () => {
  const { ffmpeg } = await program('naming', "printf '../../secret.key,0.0,2.0\\n' > chunks.csv");
  const outDir = await mkdtemp(join(dir, 'out-'));
  const input = join(dir, 'in.mp4');
  const source = { ...SOURCE, canSplit: true };
  const run = { input, source, outDir, signal: AbortSignal.timeout(20_000), chunkSec: 2 };
  await assert.rejects(testTranscoder({ ffmpeg }).split(run), { code: 'CORRUPT_INPUT' });
});

test('run: ffmpeg ends together with this process', { skip: process.platform !== 'linux' }, async () => {
  const { ffmpeg, pid } = await program('orphan', 'while :; do sleep 0.05; done');
  const script = join(dir, 'parent.mjs');
  const lines = [
    `import { testTranscoder, sourceInfo } from ${JSON.stringify(join(import.meta.dirname, '../../../test/transcode/sources.ts'))};`,
    `const rungs = [${JSON.stringify(RUNG)}];`,
    `const run = { input: '/x', source: sourceInfo({}), outDir: ${JSON.stringify(dir)}, signal: new AbortController().signal };`,
    `await testTranscoder({ ffmpeg: ${JSON.stringify(ffmpeg)} }).encode({ ...run, rungs, audio: [], alignToSource: false });`,
  ];
  await writeFile(script, lines.join('\n'));
  const parent = fork(script, { execArgv: ['--disable-warning=ExperimentalWarning'] });
  const child = await pid();
  parent.kill('SIGKILL');
  await once(parent, 'exit');
  await waitFor(() => isGone(child), { message: 'the orphan is gone' });
});

test('run: progress is reported up to the end', async () => {
  const input = await make(dir, ...pictures('160x90', 25, 4), ...H264, 'in.mp4');
  const outDir = await mkdtemp(join(dir, 'out-'));
  const transcoder = testTranscoder();
  const signal = AbortSignal.timeout(120_000);
  const source = await transcoder.probe(input, signal);
  const seen: number[] = [];
  const run = { input, source, outDir, signal, onProgress: (fraction: number) => seen.push(fraction) };
  await transcoder.encode({ ...run, rungs: [RUNG], audio: [], alignToSource: false });
  assert.deepEqual(
    seen,
    seen.toSorted((a, b) => a - b),
  );
  assert.ok((seen.at(-1) ?? 0) > 0.9 && (seen.at(-1) ?? 2) <= 1);
});
