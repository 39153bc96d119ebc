import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { assertNear, segments } from '../../../test/transcode/result.ts';
import {
  assertDecodes,
  make,
  normalPriorityGuard,
  packetTimes,
  pictures,
  readTrack,
  testTranscoder,
} from '../../../test/transcode/sources.ts';
import { checkFfmpeg } from '../ffmpeg/check.ts';

const transcoder = testTranscoder({ guard: normalPriorityGuard });
const { signal } = new AbortController();
const { videoCodecs } = await checkFfmpeg('ffmpeg');
const SKIP = videoCodecs.length < 3 && 'this ffmpeg was built without libx265 or libsvtav1';

let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'further-'));
});
after(() => rm(dir, { recursive: true, force: true }));

/** Encodes a 10-bit PQ source with irregular keyframes into all renditions. */
async function encodeAll(alignToSource: boolean) {
  const colours = 'colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc';
  const input = await make(
    dir,
    ...[...pictures('426x240', 25, 2.4), '-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params'],
    ...[`log-level=error:pools=none:wpp=0:frame-threads=1:open-gop=0:keyint=33:scenecut=0:${colours}`],
    ...['-pix_fmt', 'yuv420p10le', '-tag:v', 'hvc1', `hdr-${alignToSource}.mp4`],
  );
  const source = await transcoder.probe(input, signal);
  const ladder = transcoder.plan(source, 1080, ['HEVC', 'AV1']);
  const outDir = await mkdtemp(join(dir, 'out-'));
  const run = { input, source, outDir, signal, audio: [], alignToSource };
  const made = [];
  for (const rung of [...ladder.rungs.slice(0, 1), ...ladder.further]) {
    made.push(...(await transcoder.encode({ ...run, rungs: [rung] })));
  }
  return { made, source, path: (name: string) => join(outDir, name, 'index.m3u8') };
}

test('HEVC and AV1 keep ten bits and HDR; H.264 is SDR for every screen', {
  skip: SKIP,
}, async () => {
  const { made, path } = await encodeAll(false);
  const facts = made.map(({ name, codecs, videoRange }) => [name, videoRange, codecs]);
  const [h264, hevc, av1] = facts.map(([, , codecs]) => codecs);
  assert.deepEqual(
    facts.map(([name, range]) => `${name} ${range}`),
    ['240p SDR', '240p-hevc PQ', '240p-av1 PQ'],
  );
  // Main 10, main tier, level 2 (60); profile 0, ten bits: Chromium and Apple's players go by these.
  assert.match(h264 ?? '', /^avc1\.6400[0-9a-f]{2}$/);
  assert.match(hevc ?? '', /^hvc1\.2\.4\.L(?:60|63)\.90$/);
  assert.match(av1 ?? '', /^av01\.0\.0[01]M\.10$/);
  const reference = await segments(path('240p'));
  for (const { name } of made) {
    const { stream, times } = await readTrack(path(name));
    const { pix_fmt: format, color_transfer: transfer, color_primaries: primaries } = stream;
    const expected = name === '240p' ? ['yuv420p', 'bt709', 'bt709'] : ['yuv420p10le', 'smpte2084', 'bt2020'];
    assert.deepEqual([format, transfer, primaries], expected, name);
    assert.equal(times.length, 60, name);
    assertNear(times[0] ?? -1, 0, 0.002, `${name} begins`);
    assert.deepEqual(await segments(path(name)), reference, name);
    if (name === '240p-hevc') assert.equal(stream.codec_tag_string, 'hvc1');
  }
  await assertDecodes(...made.map(({ name }) => path(name)));
});

test("HEVC is cut at the source's keyframes when a rung is copied, and every frame keeps its time", {
  skip: SKIP,
}, async () => {
  const { made, path } = await encodeAll(true);
  const wanted = await packetTimes(path('240p'));
  assert.deepEqual(await packetTimes(path('240p-hevc')), wanted);
  assert.equal((await packetTimes(path('240p-av1'))).length, wanted.length);
  assert.deepEqual(await segments(path('240p-hevc')), await segments(path('240p')));
  assert.equal(made.length, 3);
});

test('plan: excludes codecs that would take too long to encode, and additional codecs for small videos', async () => {
  const source = await transcoder.probe(join(dir, 'hdr-false.mp4'), signal);
  const video = { ...source.video, width: 1920, height: 1080, frameRate: 30 };
  const codecsOf = (durationSec: number, size = {}) =>
    transcoder
      .plan({ ...source, durationSec, video: { ...video, ...size } }, 2160, ['HEVC', 'AV1'])
      .further.map(({ codec }) => codec);
  assert.deepEqual(new Set(codecsOf(600)), new Set(['HEVC', 'AV1']));
  assert.deepEqual(codecsOf(12 * 3600), []);
  assert.deepEqual(codecsOf(600, { width: 320, height: 180 }), []);
});
