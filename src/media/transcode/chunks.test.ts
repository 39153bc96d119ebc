import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { assertNear, segments } from '../../../test/transcode/result.ts';
import {
  assertDecodes,
  H264,
  MIRRORED,
  make,
  packetTimes,
  pictures,
  TURNED,
  testTranscoder,
  tone,
  withMatrix,
} from '../../../test/transcode/sources.ts';
import type { RenditionFiles, RungPlan, SourceChunk, SourceInfo } from '../contract/index.ts';

const transcoder = testTranscoder();
let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'chunks-'));
});
after(() => rm(dir, { recursive: true, force: true }));

interface Cut {
  source: SourceInfo;
  chunks: SourceChunk[] | null;
}

async function cut(input: string, chunkSec: number): Promise<Cut> {
  const signal = AbortSignal.timeout(120_000);
  const source = await transcoder.probe(input, signal);
  const outDir = await mkdtemp(join(dir, 'cut-'));
  return { source, chunks: await transcoder.split({ input, source, outDir, signal, chunkSec }) };
}

/** Encodes the chunks, last one first, and joins them. @returns the rendition's playlist. */
async function rejoin(
  { source, chunks }: Cut,
  rung: RungPlan,
): Promise<{ made: RenditionFiles; path: string }> {
  assert.ok(chunks);
  const signal = AbortSignal.timeout(120_000);
  const encoded: SourceChunk[] = [];
  for (const chunk of chunks.toReversed()) {
    const outDir = await mkdtemp(join(dir, 'chunk-'));
    await transcoder.encodeChunk({ input: chunk.file, source, outDir, signal, rungs: [rung], chunk });
    encoded.unshift({ ...chunk, file: join(outDir, `${rung.name}.mkv`) });
  }
  const outDir = await mkdtemp(join(dir, 'joined-'));
  const made = await transcoder.stitch({ source, outDir, signal, rung, chunks: encoded });
  return { made, path: join(outDir, rung.name, 'index.m3u8') };
}

function rung(frameRate: number): RungPlan {
  return { name: '90p', codec: 'H264', width: 160, height: 90, frameRate, bitrate: 300_000, isCopy: false };
}

const BFRAMES = ['-c:v', 'libx264', '-preset', 'veryfast', '-bf', '3', '-pix_fmt', 'yuv420p'];

for (const [name, args] of [
  [
    '30 frames a second, uneven keyframes',
    [...pictures('160x90', 30, 14), ...tone(14), ...BFRAMES, '-g', '83', 'a.mp4'],
  ],
  ['29.97 in Matroska', [...pictures('160x90', '30000/1001', 11), ...BFRAMES, '-g', '50', 'a.mkv']],
  ['50 in a transport stream', [...pictures('160x90', 50, 8), ...BFRAMES, '-g', '100', 'a.ts']],
  [
    'VP9',
    [
      ...pictures('160x90', 25, 12),
      '-c:v',
      'libvpx-vp9',
      '-deadline',
      'realtime',
      '-cpu-used',
      '8',
      '-g',
      '40',
      'a.webm',
    ],
  ],
] as const) {
  test(`chunks: ${name}: contain every frame, once, at its time`, async () => {
    const input = await make(dir, ...args);
    const piece = await cut(input, 3);
    const { made, path } = await rejoin(piece, rung(piece.source.video.frameRate));
    assert.ok((piece.chunks?.length ?? 0) >= 3);
    const [before, after] = [await packetTimes(input), await packetTimes(path)];
    assert.equal(after.length, before.length);
    assert.equal(new Set(after).size, after.length);
    before.forEach((sec, index) => {
      assertNear(after[index] ?? -1, sec - (before[0] ?? 0), 0.0011, `picture ${index}`);
    });
    const total = (await segments(path)).reduce((sum, sec) => sum + sec, 0);
    assertNear(total, before.length / piece.source.video.frameRate, 0.005, 'the playlist');
    assert.match(made.codecs, /^avc1\.64/);
    await assertDecodes(path);
  });
}

test('chunks: are cut at the same times as the copied rung and one encoded as a whole', async () => {
  const args = [...pictures('160x90', 30, 14), ...BFRAMES, '-b:v', '500k', '-g', '47', 'aligned.mp4'];
  const input = await make(dir, ...args);
  const piece = await cut(input, 5);
  const { source } = piece;
  const outDir = join(dir, 'whole');
  await mkdir(outDir);
  const signal = AbortSignal.timeout(120_000);
  const run = { input, source, outDir, signal };
  const [top] = transcoder.plan(source, 1080).rungs;
  assert.ok(top?.isCopy);
  await transcoder.copyTop({ ...run, rung: { ...top, name: 'top' }, audio: [] });
  // Half of the frames, but every keyframe.
  const half = { ...rung(15), name: 'half' };
  await transcoder.encode({ ...run, rungs: [rung(30), half], audio: [], alignToSource: true });
  const expected = await segments(join(outDir, 'top', 'index.m3u8'));
  const { path } = await rejoin(piece, rung(30));
  for (const playlist of [join(outDir, '90p', 'index.m3u8'), join(outDir, 'half', 'index.m3u8'), path]) {
    const own = await segments(playlist);
    assert.equal(own.length, expected.length);
    own.forEach((sec, index) => {
      assertNear(sec, expected[index] ?? 0, 0.04, `${playlist} ${index}`);
    });
  }
});

test('chunks: the last frame is held to the end of longer audio', async () => {
  const tracks = [...pictures('160x90', 25, 6), ...tone(6.3), ...BFRAMES, '-g', '50', '-c:a', 'aac'];
  const input = await make(dir, ...tracks, 'longer.mp4');
  const { source, chunks } = await cut(input, 2);
  const { made } = await rejoin({ source, chunks }, rung(25));
  assertNear(source.durationSec, 6.3, 0.06, 'the length of the source');
  assertNear(made.durationSec, source.durationSec, 0.04, 'the length of the rendition');
});

test('chunks: a source that cannot be cut exactly is not split', async () => {
  const hevc = ['-c:v', 'libx265', '-preset', 'fast', '-pix_fmt', 'yuv420p', '-x265-params'];
  const open = 'log-level=error:open-gop=1:keyint=50:bframes=3:b-adapt=0';
  const sources = {
    'open GOPs': [...pictures('160x90', 25, 6), ...hevc, open, 'open.mp4'],
    'MPEG-2': [...pictures('160x90', 25, 6), '-c:v', 'mpeg2video', 'm.mpg'],
    'one group of pictures': [...pictures('160x90', 5, 12), ...H264, '-g', '999', 'one.mp4'],
  };
  for (const [name, args] of Object.entries(sources)) {
    assert.equal((await cut(await make(dir, ...args), 2)).chunks, null, name);
  }
  for (const [name, matrix] of Object.entries({ TURNED, MIRRORED })) {
    const { source, chunks } = await cut(await withMatrix(join(dir, 'a.mp4'), matrix, `${name}.mp4`), 3);
    assert.deepEqual([chunks, source.copyRefusal], [null, 'rotation'], name);
  }
  const edited = await make(dir, '-ss', '1.3', '-i', join(dir, 'a.mp4'), '-c', 'copy', 'edited.mp4');
  assert.equal((await cut(edited, 2)).chunks, null);
  const short = await make(dir, ...pictures('160x90', 25, 2), ...H264, 'short.mp4');
  assert.equal((await cut(short, 5)).chunks, null);
});
