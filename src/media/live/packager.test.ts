import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { afterEach, test } from 'node:test';
import { eventually } from '../../../test/live/eventually.ts';
import { testFfmpeg } from '../../../test/live/ffmpeg.ts';
import { cleanups, fixture, probe, run } from '../../../test/live/packager.ts';
import { startPlaybackServer } from '../../../test/live/playback-server.ts';
import { AVC_360P30, videoFrame, videoHeader } from '../../../test/rtmp/media.ts';
import { createLocalSource } from '../nodes/local-source.ts';
import { createLiveFiles } from '../playback/index.ts';
import { FlvTagType, flvHeader, flvTag } from '../protocols/flv/tags.ts';

/** Source with one rung below it. */
const TALL = { width: 854, height: 480, fps: 15 };
const SMALL = { width: 320, height: 180, fps: 15 };

/** A program left running would use the processor during later tests. */
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test('packager: source and scaled rungs play over HTTP, with the codecs in the master', async () => {
  const { liveDir, packager, segments, master } = await fixture(TALL, { maxRungs: 1 });
  packager.start();
  const predicted = await eventually('a master', () => master().catch(() => null));
  await segments('360', 3);
  const measured = await master();
  const codecs = (text: string): string[] =>
    [...text.matchAll(/CODECS="([^"]+)"/g)].map((match) => match[1] ?? '');
  assert.deepEqual(codecs(measured)[1], codecs(predicted)[1], 'an encoded rung is not what was announced');
  assert.match(measured, /RESOLUTION=854x480,FRAME-RATE=15\.000\nsrc\/index\.m3u8/);

  const server = await startPlaybackServer(createLiveFiles({ source: createLocalSource({ liveDir }) }));
  cleanups.push(() => server.close());
  const top = await probe(`${server.url}/live/s1/src/index.m3u8`);
  assert.deepEqual(
    top.map((stream) => stream.codec_name),
    ['h264', 'aac'],
  );
  const scaled = await probe(`${server.url}/live/s1/360/index.m3u8`);
  assert.deepEqual([scaled[0]?.width, scaled[0]?.height], [640, 360]);
  const decode = ['-v', 'error', '-xerror', '-t', '2', '-i', `${server.url}/live/s1/master.m3u8`];
  const { stderr } = await run('ffmpeg', [...decode, '-map', '0', '-f', 'null', '-'], { timeout: 20_000 });
  assert.equal(stderr, '');
  assert.ok(
    server.requests.every((url) =>
      /^\/live\/s1\/(master\.m3u8|[a-z0-9]+\/(index\.m3u8|[a-z0-9]+\/(init\.mp4|s_\d+\.m4s)))$/.test(url),
    ),
    server.requests.join('\n'),
  );
});

test('packager: the frames of all rungs have the same times', async () => {
  // The encoder reorders frames.
  const flv = { ...TALL, extraArgs: ['-bf', '3'] };
  const { liveDir, packager, segments } = await fixture(flv, { maxRungs: 1 });
  packager.start();
  await segments('360', 4);
  const { segments: listed } = await segments('src', 3);
  // The first two share the frames up to the second keyframe.
  const [, , whole] = listed;
  const shown = async (rung: string): Promise<{ sec: number; isKey: boolean }[]> => {
    const folder = join(liveDir, 's1', whole?.epoch ?? '', rung);
    const files = ['init.mp4', whole?.file ?? ''].map((file) => join(folder, file));
    const packets = ['-show_entries', 'packet=pts_time,flags', '-of', 'csv=p=0'];
    const video = ['-v', 'error', '-select_streams', 'v'];
    const { stdout } = await run('ffprobe', [...video, ...packets, `concat:${files.join('|')}`]);
    const lines = stdout.trim().split('\n');
    const frames = lines.map((line) => ({ sec: Number.parseFloat(line), isKey: line.includes(',K') }));
    return frames.sort((a, b) => a.sec - b.sec);
  };
  const [source, scaled] = [await shown('src'), await shown('360')];
  assert.equal(source.length, TALL.fps);
  assert.equal(scaled.length, TALL.fps);
  for (const [index, { sec }] of source.entries())
    assert.ok(Math.abs(sec - (scaled[index]?.sec ?? 9)) < 0.0015, `${sec} and ${scaled[index]?.sec}`);
  assert.ok(source[0]?.isKey && scaled[0]?.isKey);
});

test('packager: a killed ffmpeg causes one discontinuity in an unbroken sequence', async () => {
  const { packager, segments, master } = await fixture({ ...SMALL, audio: 'mp3' });
  packager.start();
  await packager.setFps(29.97);
  const before = await segments('src', 2);
  const pid = packager.pid();
  assert.ok(pid > 0);
  process.kill(pid, 'SIGKILL');
  const later = await segments('src', before.nextSeq + 3);
  const discs = later.segments.map((segment) => segment.disc);
  const seqs = later.segments.map((segment) => segment.seq);
  assert.deepEqual(
    seqs,
    seqs.map((_, index) => (seqs[0] ?? 0) + index),
  );
  assert.deepEqual([...new Set(discs)], [0, 1]);
  assert.equal(new Set(later.segments.map((segment) => segment.epoch)).size, 2);
  assert.notEqual(packager.pid(), pid);
  assert.match(await master(), /FRAME-RATE=29\.970/);
});

test('packager: the end of the publish keeps the last short segment and leaves no process', async () => {
  const { packager, playlist, segments, source } = await fixture(TALL, { maxRungs: 1 });
  packager.start();
  const before = await segments('src', 1);
  await segments('360', 1);
  const pid = packager.pid();
  assert.ok(pid > 0);
  source.endReaders();
  await packager.stop();
  const { segments: kept } = await playlist('src');
  assert.ok(
    kept.length > before.segments.length || (kept.at(-1)?.durationSec ?? 1) < 1,
    'the open segment was lost',
  );
  assert.equal((await playlist('360')).nextSeq, (await playlist('src')).nextSeq);
  assert.throws(() => process.kill(pid, 0), /ESRCH/);
  assert.equal(packager.pid(), 0);
});

test('packager: a source without audio gets silence in all rungs', async () => {
  const { liveDir, packager, segments } = await fixture({ ...TALL, audio: 'none' }, { maxRungs: 1 });
  packager.start();
  await segments('360', 2);
  const server = await startPlaybackServer(createLiveFiles({ source: createLocalSource({ liveDir }) }));
  cleanups.push(() => server.close());
  for (const rung of ['src', '360']) {
    const streams = await probe(`${server.url}/live/s1/${rung}/index.m3u8`);
    assert.deepEqual(
      streams.map((stream) => stream.codec_name),
      ['h264', 'aac'],
    );
  }
});

test('packager: the source continues without its rungs, which return in the same run', async () => {
  const { packager, segments, playlist } = await fixture(TALL, { maxRungs: 1 });
  packager.start();
  const before = await segments('360', 2);
  process.kill(packager.pid(), 'SIGKILL');
  // The interrupted segment may be short; segments of the source fill the gap.
  const back = await eventually('the rungs again', async () => {
    const { segments: listed } = await playlist('360');
    return listed.find(({ rung, seq }) => rung === '360' && seq > before.nextSeq + 1);
  });
  const source = await segments('src', back.seq + 1);
  assert.equal(new Set(source.segments.map(({ disc, epoch }) => `${disc} ${epoch}`)).size, 1);
  const { segments: scaled } = await playlist('360');
  for (const { seq, startMs, durationSec } of scaled.slice(0, -1)) {
    const same = source.segments.find((segment) => segment.seq === seq);
    if (same === undefined) continue;
    assert.equal(startMs, same.startMs);
    assert.ok(durationSec <= same.durationSec + 0.05, `${seq}: ${durationSec} and ${same.durationSec}`);
  }
});

/** Feeds keyframes only, each with a different header. */
function feedOfChanges(reader: Writable): void {
  const startedMs = performance.now();
  let frame = 0;
  reader.write(flvHeader({ audio: false, video: true }));
  const timer = setInterval(() => {
    const atMs = performance.now() - startedMs;
    const record = frame % 2 === 0 ? AVC_360P30 : AVC_360P30.replace('c01e', 'c01f');
    frame += 1;
    reader.write(flvTag(FlvTagType.video, atMs, videoHeader(record)));
    reader.write(flvTag(FlvTagType.video, atMs, videoFrame(true)));
  }, 20);
  reader.once('close', () => clearInterval(timer));
}

test('packager: an encoder that changes its header with each frame starts one run per second', async () => {
  const begun = performance.now();
  const { packager, playlist } = await fixture({ audio: 'none' }, {}, { feed: feedOfChanges });
  packager.start();
  const shown = await eventually('three runs', async () => {
    const found = await playlist('src').catch(() => null);
    return found !== null && found.nextSeq >= 3 ? found : null;
  });
  const seconds = (performance.now() - begun) / 1000;
  assert.ok(seconds > shown.nextSeq - 1, `${shown.nextSeq} runs in ${seconds} s`);
});

test('packager: MP3 becomes AAC', async () => {
  const { liveDir, packager, segments, master } = await fixture({ ...SMALL, audio: 'mp3' });
  packager.start();
  await segments('src', 1);
  assert.match(await master(), /CODECS="avc1\.[0-9a-f]{6},mp4a\.40\.2"/);
  const server = await startPlaybackServer(createLiveFiles({ source: createLocalSource({ liveDir }) }));
  cleanups.push(() => server.close());
  const streams = await probe(`${server.url}/live/s1/src/index.m3u8`);
  assert.equal(streams.find((stream) => stream.codec_type === 'audio')?.codec_name, 'aac');
});

test('packager: a missing program is a failure, not a crash', async () => {
  let givenUp = false;
  const { packager } = await fixture(
    { audio: 'mp3' },
    {},
    {
      ffmpeg: { ...testFfmpeg, bin: '/nonexistent/ffmpeg' },
      backoffMs: [0],
      onGiveUp: () => (givenUp = true),
    },
  );
  packager.start();
  await eventually('giving up', () => givenUp);
});
