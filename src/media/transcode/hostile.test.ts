import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { needsOwnProcess } from '../../../test/harness/needs.ts';
import { peakOfChildren } from '../../../test/transcode/memory.ts';
import { H264, make, pictures, testTranscoder, tone } from '../../../test/transcode/sources.ts';
import { createLogger } from '../../platform/logger.ts';
import { createGuard, inputGuard } from '../ffmpeg/guard.ts';
import { spawnFfmpeg } from '../ffmpeg/process.ts';

needsOwnProcess();

const transcoder = testTranscoder();
let dir = '';
let hits = 0;
const honeypot = createServer((_request, response) => {
  hits += 1;
  response.end('#EXTM3U\n');
});
let trap = '';
/** Another user's video, in a sibling of the folder of the hostile files. */
let victim = '';

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hostile-'));
  await mkdir(join(dir, 'victim'));
  await mkdir(join(dir, 'mine'));
  victim = await make(join(dir, 'victim'), ...pictures('64x64', 5, 1), ...H264, 'v.mp4');
  await new Promise<void>((resolve) => honeypot.listen(0, '127.0.0.1', resolve));
  const { port }: AddressInfo = Object(honeypot.address());
  trap = `http://127.0.0.1:${port}/seg.ts`;
});
after(async () => {
  honeypot.close();
  await rm(dir, { recursive: true, force: true });
});

async function hostile(content: string | Buffer): Promise<string> {
  const path = join(dir, 'mine', 'upload');
  await writeFile(path, content);
  return path;
}

const hls = (uri: string) => `#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n${uri}\n#EXT-X-ENDLIST\n`;

/** Formats a text to pass as a transport stream for readers that check only every 188th byte. */
function asTransportStream(text: string): Buffer {
  const bytes = Buffer.alloc(188 * 8, '#');
  bytes.write(`${text}\n#`);
  for (let at = 150; at < bytes.length; at += 188) bytes.write('G', at);
  return bytes;
}

const TEXTS: [string, () => string | Buffer][] = [
  ['a playlist of a file of the system', () => hls('file:///etc/passwd')],
  ['a playlist of an address', () => hls(trap)],
  ["a playlist of another user's file", () => hls(victim)],
  ["a playlist of another user's file by a relative name", () => hls('../victim/v.mp4')],
  ['a playlist that looks like a transport stream', () => asTransportStream(hls('../victim/v.mp4'))],
  ['a concatenation', () => "ffconcat version 1.0\nfile '../victim/v.mp4'\n"],
  [
    'a DASH manifest',
    () => `<?xml version="1.0"?><MPD type="static" xmlns="urn:mpeg:dash:schema:mpd:2011"><Period><AdaptationSet
      mimeType="video/mp4"><Representation id="1" bandwidth="1"><BaseURL>${trap}</BaseURL></Representation>
      </AdaptationSet></Period></MPD>`,
  ],
  [
    'an SVG',
    () => `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><image
      xlink:href="${trap}"/></svg>`,
  ],
  ['three megabytes of noise', () => Buffer.concat([Buffer.from('x'), randomBytes(3_000_000)])],
];

for (const [name, content] of TEXTS) {
  test(`hostile: ${name}`, async () => {
    const path = await hostile(content());
    const refusal = transcoder.probe(path, AbortSignal.timeout(10_000));
    await assert.rejects(refusal, { name: 'MediaFileError', code: 'UNSUPPORTED_FORMAT' });
    assert.equal(hits, 0);
  });

  // Second line of defense, behind the check of the first bytes.
  test(`hostile: ${name}, given to ffmpeg itself`, async () => {
    const path = await hostile(content());
    const out = join(dir, 'mine', 'out.mkv');
    const args = ['-nostdin', '-y', '-v', 'error', ...inputGuard(path), '-c', 'copy', out];
    const exit = await spawnFfmpeg({ program: 'ffmpeg', args, log: createLogger('silent') }).exited;
    assert.notEqual(exit.code, 0);
    assert.deepEqual(await readdir(join(dir, 'mine')), ['upload']);
    assert.equal(hits, 0);
  });
}

test('hostile: an image of 16000 by 16000 takes neither memory nor time', async () => {
  const size = 'color=black:s=16000x16000:r=1,format=gray';
  const png = ['-c:v', 'png', '-compression_level', '1'];
  const path = await make(dir, '-f', 'lavfi', '-i', size, '-frames:v', '1', ...png, 'huge.mkv');
  const startedMs = performance.now();
  const peak = await peakOfChildren(() =>
    assert.rejects(transcoder.probe(path, AbortSignal.timeout(20_000)), { code: 'UNSUPPORTED_FORMAT' }),
  );
  assert.ok(peak < 200, `${peak} MB`);
  assert.ok(performance.now() - startedMs < 10_000);
});

const LONG = ['-f', 'lavfi', '-i', 'color=s=32x32:r=1/50:d=200000', '-c:v', 'mpeg4'];

test('hostile: rejects 200,000 seconds in a few kilobytes', async () => {
  const told = await make(dir, ...LONG, 'long.mp4');
  await assert.rejects(transcoder.probe(told, AbortSignal.timeout(10_000)), { code: 'DURATION_EXCEEDED' });
  // The header of this one declares no duration.
  const untold = await make(dir, '-i', told, '-c', 'copy', '-f', 'matroska', '-live', '1', 'long.mkv');
  await assert.rejects(transcoder.probe(untold, AbortSignal.timeout(10_000)), { code: 'DURATION_EXCEEDED' });
});

test('hostile: rejects a long file whose header declares a shorter duration', async () => {
  const path = await make(dir, '-i', join(dir, 'long.mp4'), '-c', 'copy', 'lie.mkv');
  const bytes = await readFile(path);
  const at = bytes.indexOf(Buffer.from('448988', 'hex'));
  assert.ok(at > 0);
  bytes.writeDoubleBE(10_000, at + 3);
  await writeFile(path, bytes);
  await assert.rejects(transcoder.probe(path, AbortSignal.timeout(10_000)), { code: 'DURATION_EXCEEDED' });
});

test('hostile: 33 tracks', async () => {
  const tracks = Array.from({ length: 32 }, () => ['-map', '1:a']).flat();
  const path = await make(dir, ...pictures('32x32', 5, 1), ...tone(1), '-map', '0:v', ...tracks, 'many.mkv');
  const refusal = transcoder.probe(path, AbortSignal.timeout(10_000));
  await assert.rejects(refusal, { code: 'UNSUPPORTED_FORMAT', message: /32 tracks/ });
});

test('guard: a guarded program has no network, no environment and limited resources', async (t) => {
  const guard = await createGuard();
  const limits = { memoryBytes: 2 ** 30, cpuSec: 7, fileBytes: 12_345, isUrgent: false };
  const program = await guard.start('sh', limits, { reads: [], writes: null });
  if (!program.command.includes('prlimit')) {
    t.skip('this system has not all of the means');
    return;
  }
  let output = '';
  const script = 'env; cat /proc/self/limits; cat /proc/self/net/dev; nice';
  const exit = await spawnFfmpeg({
    program,
    args: ['-c', script],
    log: createLogger('silent'),
    onOutput: (text) => {
      output += text;
    },
  }).exited;
  assert.equal(exit.code, 0);
  assert.doesNotMatch(output, /HOME|NODE|eth0:/);
  assert.match(output, /Max address space +1073741824/);
  assert.match(output, /Max cpu time +7 /);
  assert.match(output, /Max file size +12345 /);
  assert.match(output, /Max core file size +0 /);
  assert.match(output, new RegExp(`^${Math.min(19, getPriority() + 10)}$`, 'm'));
});
