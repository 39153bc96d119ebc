import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { OLD_ABILITIES, testFfmpeg } from '../../../test/live/ffmpeg.ts';
import { type FlvSource, type FlvSourceOptions, startFlvSource } from '../../../test/live/flv-source.ts';
import { startPlaybackServer } from '../../../test/live/playback-server.ts';
import { eventually } from '../../../test/live/poll.ts';
import { AVC_360P30, videoFrame, videoHeader } from '../../../test/rtmp/media.ts';
import { fakeNvenc } from '../../../test/transcode/fake-hardware.ts';
import { systemClock } from '../../kernel/clock.ts';
import { createLogger } from '../../platform/logger.ts';
import { FlvTagType, flvHeader, flvTag } from '../ingest/flv.ts';
import { createLocalSource } from '../nodes/local-source.ts';
import { createLiveFiles } from '../playback/index.ts';
import { type Composer, openComposer } from './composer.ts';
import { type LadderInput, planLadder } from './ladder.ts';
import { createPackager, type Packager, type PackagerOptions } from './packager.ts';
import { type MediaPlaylist, parseMediaPlaylist } from './playlist.ts';

const run = promisify(execFile);
const log = createLogger('silent');
const cleanups: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

interface Fixture {
  liveDir: string;
  source: FlvSource;
  composer: Composer;
  packager: Packager;
  playlist(rung: string): Promise<MediaPlaylist>;
  /** Waits for so many segments in a rung's playlist. */
  segments(rung: string, count: number): Promise<MediaPlaylist>;
  master(): Promise<string>;
}

async function fixture(
  source: FlvSourceOptions,
  ladder: Partial<LadderInput> = {},
  changes: Partial<PackagerOptions> = {},
): Promise<Fixture> {
  const flv = await startFlvSource(source);
  const liveDir = await mkdtemp(join(tmpdir(), 'packager-'));
  const dir = join(liveDir, 's1');
  const composer = await openComposer({ dir, clock: systemClock, log });
  const { width = 640, height = 360, fps = 30, audio = 'aac' } = source;
  const sound = { codec: audio === 'mp3' ? 'mp3' : 'mp4a.40.2', sampleRate: 44_100, channels: 2 };
  const result = planLadder({
    video: { codec: 'avc1.42c01e', width, height, fps },
    audio: audio === 'none' ? undefined : sound,
    grant: { streamId: 's1', maxHeight: 2160, maxFps: 60 },
    maxRungs: 0,
    coresLeft: 8,
    abilities: OLD_ABILITIES,
    longKeyframeInterval: false,
    ...ladder,
  });
  assert.ok(result.ok);
  const packager = createPackager({
    ffmpeg: testFfmpeg,
    feed: (stdin) => flv.feed(null, stdin),
    plan: result.plan,
    source: { width, height },
    audioCodec: 'mp4a.40.2',
    segmentSeconds: 1,
    latencyMode: 'LOW',
    composer,
    log,
    clock: systemClock,
    ...changes,
  });
  cleanups.push(async () => {
    await flv.close();
    await packager.stop(0);
    await composer.close();
    await rm(liveDir, { recursive: true, force: true });
  });
  const playlist = async (rung: string): Promise<MediaPlaylist> => {
    const parsed = parseMediaPlaylist(await readFile(join(dir, `${rung}.m3u8`), 'utf8'));
    assert.ok(parsed);
    return parsed;
  };
  return {
    liveDir,
    source: flv,
    composer,
    packager,
    playlist,
    segments: (rung, count) =>
      eventually(`${count} segments of ${rung}`, async () => {
        const found = await playlist(rung).catch(() => null);
        return found && found.nextSeq >= count ? found : null;
      }),
    master: () => readFile(join(dir, 'master.m3u8'), 'utf8'),
  };
}

interface Probed {
  streams: {
    codec_type: string;
    codec_name: string;
    width?: number;
    height?: number;
    r_frame_rate?: string;
  }[];
}

/** What a player sees of one rung. */
async function probe(url: string): Promise<Probed['streams']> {
  const { stdout } = await run('ffprobe', ['-v', 'error', '-of', 'json', '-show_streams', url], {
    timeout: 20_000,
  });
  const parsed: Probed = JSON.parse(stdout);
  return parsed.streams;
}

test('packager: source and scaled rungs play over HTTP, with the codecs that the master names', async () => {
  const { liveDir, packager, segments, master } = await fixture({ width: 854, height: 480 }, { maxRungs: 1 });
  packager.start();
  const predicted = await eventually('a master', () => master().catch(() => null));
  await segments('360', 3);
  const measured = await master();
  const codecs = (text: string): string[] =>
    [...text.matchAll(/CODECS="([^"]+)"/g)].map((match) => match[1] ?? '');
  assert.deepEqual(codecs(measured)[1], codecs(predicted)[1], 'an encoded rung is not what was announced');
  assert.match(measured, /RESOLUTION=854x480,FRAME-RATE=30\.000\nsrc\/index\.m3u8/);

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
  // Frames are shown in another order than they come.
  const flv = { width: 854, height: 480, extraArgs: ['-bf', '3'] };
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
  assert.equal(source.length, 30);
  assert.equal(scaled.length, 30);
  for (const [index, { sec }] of source.entries())
    assert.ok(Math.abs(sec - (scaled[index]?.sec ?? 9)) < 0.0015, `${sec} and ${scaled[index]?.sec}`);
  assert.ok(source[0]?.isKey && scaled[0]?.isKey);
});

test('packager: a killed ffmpeg is one discontinuity in one unbroken sequence', async () => {
  const { packager, segments, master } = await fixture({ audio: 'mp3' });
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
  const { packager, playlist, segments, source } = await fixture(
    { width: 854, height: 480, gopSec: 1 },
    { maxRungs: 1 },
  );
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

test('packager: a silent source gets silence, in all its rungs', async () => {
  const { liveDir, packager, segments } = await fixture(
    { width: 854, height: 480, audio: 'none' },
    { maxRungs: 1 },
  );
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

test('packager: the source goes on without its rungs, which come back in the same run', async () => {
  const { packager, segments, playlist } = await fixture(
    { width: 854, height: 480, gopSec: 1 },
    { maxRungs: 1 },
  );
  packager.start();
  const before = await segments('360', 2);
  process.kill(packager.pid(), 'SIGKILL');
  // The segment that it was in may be cut short; those of the source stand for what is missed.
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

/** Each frame is a keyframe, and comes with another header than the one before. */
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

test('packager: an encoder that is another one with each frame begins one run a second', async () => {
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
  const { liveDir, packager, segments, master } = await fixture({ audio: 'mp3' });
  packager.start();
  await segments('src', 1);
  assert.match(await master(), /CODECS="avc1\.[0-9a-f]{6},mp4a\.40\.2"/);
  const server = await startPlaybackServer(createLiveFiles({ source: createLocalSource({ liveDir }) }));
  cleanups.push(() => server.close());
  const streams = await probe(`${server.url}/live/s1/src/index.m3u8`);
  assert.equal(streams.find((stream) => stream.codec_type === 'audio')?.codec_name, 'aac');
});

test('packager: above the ceiling the source rung is a transcode to it, with our own keyframes', async () => {
  const { liveDir, packager, segments, master } = await fixture(
    { width: 854, height: 480, fps: 75, gopSec: 4 },
    { grant: { streamId: 's1', maxHeight: 360, maxFps: 60 } },
  );
  packager.start();
  const { segments: listed } = await segments('src', 3);
  for (const segment of listed) assert.ok(segment.durationSec < 1.1, `${segment.durationSec} s`);
  assert.match(await master(), /RESOLUTION=640x360,FRAME-RATE=60\.000/);
  const server = await startPlaybackServer(createLiveFiles({ source: createLocalSource({ liveDir }) }));
  cleanups.push(() => server.close());
  const [video] = await probe(`${server.url}/live/s1/src/index.m3u8`);
  assert.deepEqual([video?.width, video?.height, video?.r_frame_rate], [640, 360, '60/1']);
});

test('packager: gives up after ten failures, having waited between them', async () => {
  let givenUp = 0;
  const { packager, playlist } = await fixture(
    { audio: 'mp3' },
    {},
    { feed: (stdin) => stdin.end(), backoffMs: [1], onGiveUp: () => (givenUp += 1) },
  );
  packager.start();
  // Ten starts of a program, on a machine that does other things.
  await eventually('giving up', () => givenUp === 1, 60_000);
  assert.equal(packager.pid(), 0);
  assert.deepEqual((await playlist('src')).segments, []);
  await packager.stop();
  assert.equal(givenUp, 1);
});

test('packager: a program that is not there is a failure, not a crash', async () => {
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

/** The profile of the newest run: Baseline is that of the fake hardware. */
const profileOf = (master: string) => /CODECS="(avc1\.[0-9a-f]{2})[^"]*"[^\n]*\n360\//.exec(master)?.[1];

for (const [name, source] of [
  ['beside the source', {}],
  ['in one ffmpeg with it', { audio: 'mp3' }],
] as const) {
  test(`packager: rungs ${name} are encoded by the hardware, and in software when that ends`, async () => {
    const dir = await mkdtemp(join(tmpdir(), 'packager-hardware-'));
    cleanups.push(() => rm(dir, { recursive: true, force: true }));
    const hardware = { kind: 'nvenc', device: null, nodes: [], can: ['H264', 'LIVE'] } as const;
    let left = 0;
    const { packager, segments, master } = await fixture(
      { width: 854, height: 480, ...source },
      { maxRungs: 1, sessionsLeft: 1 },
      {
        ffmpeg: { ...testFfmpeg, bin: await fakeNvenc(dir, 'ffmpeg') },
        hardware,
        onSoftware: () => (left += 1),
        backoffMs: [1],
      },
    );
    packager.start();
    const before = await segments('360', 2);
    assert.equal(profileOf(await master()), 'avc1.42');
    process.kill(packager.pid(), 'SIGKILL');
    const later = await segments('360', before.nextSeq + 3);
    assert.equal(profileOf(await master()), 'avc1.4d');
    assert.equal(left, 1);
    assert.deepEqual([...new Set(later.segments.map(({ disc }) => disc))], [0, 1]);
  });
}
