import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { after, before, test } from 'node:test';
import { eventually } from '../../../test/live/eventually.ts';
import { createLogger } from '../../platform/logger.ts';
import { checkFfmpeg, missingFeatures } from './check.ts';
import { type FfmpegProcess, spawnFfmpeg } from './process.ts';
import { createProgressParser, type FfmpegProgress } from './progress.ts';
import { lineReader, MAX_LINE_CHARS } from './text.ts';

const log = createLogger('silent');
let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ffmpeg-'));
});
after(() => rm(dir, { recursive: true, force: true }));

/** Creates a program from a script. */
async function program(name: string, script: string): Promise<string> {
  const path = join(dir, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

function fake(version: string, encoders: string, muxers: string): string {
  return [
    `case "$*" in`,
    `*-version*) echo "ffmpeg version ${version} Copyright" ;;`,
    `*-encoders*) printf '${encoders}' ;;`,
    `*-muxers*) printf '${muxers}' ;;`,
    'esac',
  ].join('\n');
}

const ENCODERS = ' V....D libx264   H.264\\n A..... aac   AAC\\n';
const MUXERS = '  E hls   Apple HTTP Live Streaming\\n';

test('ffmpeg check: the installed one is good', async () => {
  const info = await checkFfmpeg('ffmpeg');
  assert.match(info.version, /\d/);
});

const OLD = { enhancedFlv: false, enhancedFlv2: false, sourceTimeBase: '-1' };
const MIDDLE = { enhancedFlv: true, enhancedFlv2: false, sourceTimeBase: 'demux' };
const NEW = { ...MIDDLE, enhancedFlv2: true };
const versions: [string, object | RegExp][] = [
  ['5.1.9-0+deb12u1', OLD],
  ['n6.0', OLD],
  ['6.1.1', MIDDLE],
  ['7.0', MIDDLE],
  ['7.1.1', MIDDLE],
  ['8.0', NEW],
  ['n9.0.2-17-g2a571b6068-20260930', NEW],
  ['10.2', NEW],
  ['N-109000-gabcdef', NEW],
  ['5.0.3', /is version 5\.0\.3: install ffmpeg 5\.1 or later/],
  ['4.4.2-0ubuntu0', /is version 4\.4\.2/],
];
for (const [version, expected] of versions) {
  test(`ffmpeg check: version ${version}`, async () => {
    const bin = await program(`v-${version}`, fake(version, ENCODERS, MUXERS));
    if (expected instanceof RegExp) await assert.rejects(checkFfmpeg(bin), expected);
    else {
      const poor = { canToneMap: false, canWriteWebp: false, videoCodecs: ['H264'] };
      assert.deepEqual(await checkFfmpeg(bin), { version, ...expected, ...poor });
    }
  });
}

test('ffmpeg check: what this one lacks has a word', () => {
  const able = { enhancedFlv: true, enhancedFlv2: true, canToneMap: true, canWriteWebp: true };
  assert.deepEqual(missingFeatures({ ...able, videoCodecs: [], sourceTimeBase: 'demux' }), []);
  const old = { enhancedFlv: false, enhancedFlv2: false, canToneMap: false, canWriteWebp: false };
  assert.deepEqual(missingFeatures({ ...old, videoCodecs: [], sourceTimeBase: '-1' }), [
    'ENHANCED_RTMP',
    'OPUS_OVER_RTMP',
    'HDR_TONE_MAPPING',
    'ANIMATED_PREVIEWS',
  ]);
});

test('ffmpeg check: missing features are named in one line', async () => {
  const bin = await program(
    'poor',
    fake('5.1', ' V....D libx264rgb  x\\n A..... aac   AAC\\n', '  E hlsx  x\\n'),
  );
  await assert.rejects(checkFfmpeg(bin), (error: Error) => {
    assert.match(error.message, /without libx264, hls: install ffmpeg/);
    assert.doesNotMatch(error.message, /\n/);
    return true;
  });
  await assert.rejects(checkFfmpeg(join(dir, 'absent')), /absent cannot be run \(spawn .*ENOENT\): install/);
  const other = await program('other', 'echo hello');
  await assert.rejects(checkFfmpeg(other), /other is not ffmpeg: install/);
});

test('ffmpeg process: ends with its code and the tail of its log', async () => {
  const bin = await program(
    'noisy',
    'i=0; while [ $i -lt 4000 ]; do echo "line $i ........................................" >&2; i=$((i+1)); done; exit 3',
  );
  const exit = await spawnFfmpeg({ program: bin, args: [], log }).exited;
  assert.equal(exit.code, 3);
  assert.ok(exit.stderr.length <= 64 * 1024);
  assert.match(exit.stderr, /line 3999 /);
});

test('ffmpeg process: arguments reach it as they are, no shell reads them', async () => {
  const bin = await program('echo', 'printf "%s|" "$@" >&2');
  const exit = await spawnFfmpeg({ program: bin, args: ['a b', '$(id)', ';ls'], log }).exited;
  assert.equal(exit.stderr, 'a b|$(id)|;ls|');
});

test('ffmpeg process: a program that is not there is an exit', async () => {
  const started = spawnFfmpeg({ program: join(dir, 'absent'), args: [], log });
  const exit = await started.exited;
  assert.match(exit.spawnError ?? '', /ENOENT/);
  assert.equal(started.pid, 0);
  assert.deepEqual(await started.stop(), exit);
});

/** Starts a program that ignores some signals; resolves when it does so. */
async function stubborn(name: string, ignored: string): Promise<FfmpegProcess> {
  const ready = join(dir, `${name}.ready`);
  const trap = ignored === '' ? '' : `trap "" ${ignored}`;
  const bin = await program(name, `${trap}\ntouch ${ready}\nwhile :; do sleep 0.05; done`);
  const started = spawnFfmpeg({ program: bin, args: [], log });
  await eventually('the program runs', () => existsSync(ready));
  return started;
}

for (const [name, ignored, signal, graceMs] of [
  // A busy machine takes its time to deliver a signal.
  ['willing', '', 'SIGINT', 20_000],
  ['deaf-to-int', 'INT', 'SIGTERM', 3000],
  ['deaf', 'INT TERM', 'SIGKILL', 200],
] as const) {
  test(`ffmpeg process: a ${name} one is stopped by ${signal}`, async () => {
    const started = await stubborn(name, ignored);
    const exit = await started.stop(graceMs);
    assert.equal(exit.signal, signal);
    assert.throws(() => process.kill(started.pid, 0), /ESRCH/);
  });
}

test('ffmpeg process: one that waits for its input stops immediately, and finishes its file', async () => {
  let stdin: Writable | null = null;
  const input = (pipe: Writable) => {
    stdin = pipe;
  };
  const args = ['-v', 'error', '-nostdin', '-f', 'live_flv', '-i', 'pipe:0', '-f', 'null', '-'];
  const startedMs = performance.now();
  const started = spawnFfmpeg({ program: 'ffmpeg', args, log, input });
  await eventually('the pipe', () => stdin !== null);
  await started.stop(20_000);
  assert.ok(performance.now() - startedMs < 5000);
  assert.throws(() => process.kill(started.pid, 0), /ESRCH/);
});

test('ffmpeg process: one whose output cannot be read is killed', async () => {
  const onBytes = () => {
    throw new RangeError('no file of ours');
  };
  const args = ['-c', 'echo anything; exec sleep 60'];
  const { exited } = spawnFfmpeg({ program: 'sh', args, log: createLogger('silent'), onBytes });
  assert.equal((await exited).signal, 'SIGKILL');
});

test('ffmpeg process: progress blocks are handed over', async () => {
  const blocks: FfmpegProgress[] = [];
  const args = ['-v', 'error', '-f', 'lavfi', '-i', 'sine=duration=1', '-f', 'null', '-'];
  const exit = await spawnFfmpeg({ program: 'ffmpeg', args, log, onProgress: (block) => blocks.push(block) })
    .exited;
  assert.equal(exit.code, 0);
  assert.equal(blocks.at(-1)?.done, true);
  assert.equal(Math.round((blocks.at(-1)?.outTimeMs ?? 0) / 100), 10);
});

test('ffmpeg progress: split anywhere, N/A is null', () => {
  const text =
    'frame=12\ntotal_size=N/A\nout_time_us=1500000\nout_time_ms=1500000\nspeed=1.02x\nprogress=continue\nframe=30\nprogress=end\n';
  for (let at = 0; at <= text.length; at += 1) {
    const blocks: FfmpegProgress[] = [];
    const feed = createProgressParser((block) => blocks.push(block));
    feed(text.slice(0, at));
    feed(text.slice(at));
    assert.deepEqual(blocks, [
      { outTimeMs: 1500, totalBytes: null, frame: 12, speed: 1.02, done: false },
      { outTimeMs: null, totalBytes: null, frame: 30, speed: null, done: true },
    ]);
  }
});

test('ffmpeg process: only the beginning of an endless line is buffered', () => {
  const lines: string[] = [];
  const read = lineReader((line) => lines.push(line));
  read('a\nb');
  for (let i = 0; i < 1000; i += 1) read('x'.repeat(1000));
  read('\nlast\nopen');
  assert.deepEqual([lines[0], lines[1]?.length, lines[2]], ['a', MAX_LINE_CHARS, 'last']);
  assert.equal(lines.length, 3);
});

for (const [how, end] of [
  ['stopped', (child) => child.stop(20_000)],
  ['killed', (child) => child.kill('SIGKILL')],
] satisfies [string, (child: FfmpegProcess) => void][]) {
  test(`ffmpeg process: a sandbox that is ${how} as it starts leaves no process that holds our pipes`, async () => {
    const late = await program('late', `sleep 60 &\nsleep 0.3\necho "{ \\"child-pid\\": $! }" >&3\nwait`);
    const child = spawnFfmpeg({ program: { command: [late], isSandboxed: true }, args: [], log });
    const startedMs = performance.now();
    end(child);
    await child.exited;
    assert.ok(performance.now() - startedMs < 10_000);
  });
}
