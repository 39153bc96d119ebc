import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { afterEach, test } from 'node:test';
import { CURRENT_FFMPEG, NO_CURRENT_FFMPEG } from '../../../test/live/current-ffmpeg.ts';
import { eventually } from '../../../test/live/eventually.ts';
import { testFfmpeg } from '../../../test/live/ffmpeg.ts';
import { type FlvSource, startFlvSource } from '../../../test/live/flv-source.ts';
import { ingestStats } from '../../../test/live/ingest-stats.ts';
import { dateFromMs, systemClock } from '../../kernel/clock.ts';
import { createLogger } from '../../platform/logger.ts';
import type { IngestSession, IngestStats } from '../contract/index.ts';
import { openFfmpeg } from '../ffmpeg/program.ts';
import { createLiveManager, type LiveManager, type LiveManagerOptions } from './live-manager.ts';
import { type MediaPlaylist, parseMediaPlaylist } from './playlist.ts';
import { emptyState } from './state.ts';

const cleanups: (() => Promise<unknown>)[] = [];
/** A program left running would use the processor during later tests. */
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Fixture {
  liveDir: string;
  manager: LiveManager;
  source: FlvSource;
  kicked: string[];
  stats: { value: IngestStats | null };
  session(changes?: Partial<IngestSession>): IngestSession;
  playlist(): Promise<MediaPlaylist | null>;
  slots(count: number): Promise<MediaPlaylist>;
}

async function fixture(changes: Partial<LiveManagerOptions> = {}): Promise<Fixture> {
  const source = await startFlvSource({ width: 320, height: 180, fps: 15 });
  const liveDir = await mkdtemp(join(tmpdir(), 'live-manager-'));
  const kicked: string[] = [];
  const stats: Fixture['stats'] = { value: null };
  const manager = createLiveManager({
    engine: {
      feed: (session, reader) => source.feed(session, reader),
      stats: () => stats.value,
      kick: async (sessionId) => void kicked.push(sessionId),
    },
    liveDir,
    ffmpeg: testFfmpeg,
    maxRungs: 0,
    cores: 8,
    log: createLogger('silent'),
    clock: systemClock,
    ...changes,
  });
  cleanups.push(async () => {
    await source.close();
    await manager.stop();
    await rm(liveDir, { recursive: true, force: true });
  });
  await manager.start();
  const playlist = async (): Promise<MediaPlaylist | null> =>
    parseMediaPlaylist(await readFile(join(liveDir, 's1', 'src.m3u8'), 'utf8').catch(() => ''));
  return {
    liveDir,
    manager,
    source,
    kicked,
    stats,
    session: (override = {}) => ({
      sessionId: 'a',
      streamId: 's1',
      nodeId: 'n1',
      protocol: 'rtmp',
      startedAt: systemClock.now(),
      grant: { streamId: 's1', maxHeight: 1080, maxFps: 60, latencyMode: 'LOW' },
      video: { codec: 'avc1.42c01e', width: 320, height: 180, fps: 0 },
      audio: { codec: 'mp4a.40.2', sampleRate: 44_100, channels: 2 },
      ...override,
    }),
    playlist,
    slots: (count) =>
      eventually(`${count} slots`, async () => {
        const found = await playlist();
        return found && found.nextSeq >= count ? found : null;
      }),
  };
}

async function begin(manager: LiveManager, session: IngestSession): Promise<void> {
  await manager.onStart(session);
  manager.onMedia(session);
}

test('live: packages a publish and keeps the window after its end', async () => {
  const { manager, session, slots, playlist, source, stats } = await fixture();
  await begin(manager, session());
  await slots(1);
  stats.value = ingestStats({});
  assert.deepEqual(manager.health('s1'), {
    bitrateKbps: 512,
    fps: 30,
    width: 320,
    height: 180,
    codec: 'avc1.42c01e',
    keyframeIntervalSec: 1,
    droppedFrames: 0,
    lateFrames: 0,
    avDriftMs: 20,
    issues: [],
  });
  source.endReaders();
  await manager.onEnd({ sessionId: 'a', streamId: 's1', reason: 'unpublish', bytes: 0 });
  assert.equal(manager.health('s1'), null);
  const kept = await playlist();
  assert.ok(kept && kept.segments.length > 0);
});

test('live: learning the frame rate changes the master but not the epoch', async () => {
  const { liveDir, manager, session, slots } = await fixture();
  const known = session();
  await begin(manager, known);
  await slots(1);
  manager.onMedia({ ...known, video: { codec: 'avc1.42c01e', width: 320, height: 180, fps: 30 } });
  const master = (): Promise<string> => readFile(join(liveDir, 's1', 'master.m3u8'), 'utf8');
  await eventually('the frame rate', async () => (await master()).includes('FRAME-RATE=30.000'));
  const { segments } = await slots(2);
  assert.equal(new Set(segments.map((segment) => segment.epoch)).size, 1);
});

test('live: a takeover continues in a new epoch, and the end of the old session changes nothing', async () => {
  const { manager, session, slots, source } = await fixture();
  await begin(manager, session());
  const before = await slots(1);
  source.endReaders();
  await begin(manager, session({ sessionId: 'b' }));
  await manager.onEnd({ sessionId: 'a', streamId: 's1', reason: 'replaced', bytes: 0 });
  const later = await slots(before.nextSeq + 3);
  assert.deepEqual([...new Set(later.segments.map((segment) => segment.disc))], [0, 1]);
  assert.ok(manager.health('s1'));
});

test('live: a resolution change within a publish starts a new epoch', async () => {
  const { manager, session, slots, playlist, source } = await fixture();
  await begin(manager, session());
  await slots(1);
  source.use({ width: 640, height: 360, fps: 15 });
  manager.onMedia(session({ video: { codec: 'avc1.42c01e', width: 640, height: 360, fps: 0 } }));
  const epochs = async () => new Set((await playlist())?.segments.map(({ epoch }) => epoch)).size;
  await eventually('a second epoch', async () => (await epochs()) === 2);
});

test('live: the audio header that follows the video header does not start a second run', async () => {
  const { manager, session, slots } = await fixture();
  const { audio, ...videoOnly } = session();
  assert.ok(audio);
  await manager.onStart(videoOnly);
  manager.onMedia(videoOnly);
  manager.onMedia(session());
  const { segments } = await slots(2);
  assert.equal(new Set(segments.map((segment) => segment.epoch)).size, 1);
});

test('live: a late call of an ended session starts nothing', async () => {
  const { manager, session, playlist } = await fixture();
  await manager.onStart(session());
  await manager.onEnd({ sessionId: 'a', streamId: 's1', reason: 'closed', bytes: 0 });
  manager.onMedia(session());
  await manager.stop();
  assert.equal(await playlist(), null);
});

test('live: an unplayable publish is ended, and health reports the reason', async () => {
  const { manager, session, kicked } = await fixture({ cores: 0 });
  await begin(manager, session({ grant: { streamId: 's1', maxHeight: 90, maxFps: 60 } }));
  await eventually('the kick', () => kicked.length > 0);
  assert.deepEqual(kicked, ['a']);
  assert.deepEqual(manager.health('s1')?.issues, ['NO_TRANSCODE_CAPACITY']);
});

test('live: a node that has become full does not restart a running packager', async () => {
  const { liveDir, manager, session, slots } = await fixture({ maxRungs: 1, cores: 0.25 });
  const publish = (streamId: string, fps: number) =>
    session({
      sessionId: streamId,
      streamId,
      video: { codec: 'avc1.42c01e', width: 854, height: 480, fps },
    });
  const master = (streamId: string) =>
    eventually(`the master of ${streamId}`, () =>
      readFile(join(liveDir, streamId, 'master.m3u8'), 'utf8').catch(() => null),
    );
  await begin(manager, publish('s1', 30));
  assert.match(await master('s1'), /^360/m);
  await begin(manager, publish('s2', 30));
  assert.match(await master('s2'), /^360/m, 'both fit');
  await begin(manager, publish('s3', 30));
  assert.doesNotMatch(await master('s3'), /^360/m, 'a third is copied');
  // Twice the announced frame rate: both together exceed the node's capacity.
  manager.onMedia(publish('s1', 60));
  const before = await slots(1);
  const { segments } = await slots(before.nextSeq + 2);
  assert.ok(segments.every((segment) => segment.disc === 0));
  assert.match(await master('s1'), /FRAME-RATE=60[\s\S]*^360/m);
});

test('live: a publish without a second keyframe is transcoded with regular keyframes', async () => {
  const { manager, session, slots, stats, source } = await fixture();
  source.use({ width: 320, height: 180, fps: 15, gopSec: 60 });
  await begin(manager, session());
  stats.value = ingestStats({ keyframeIntervalMs: null, lastMediaAtMs: systemClock.ms() + 60_000 });
  const { segments } = await slots(2);
  assert.ok((segments.at(-1)?.durationSec ?? 9) < 2.1);
  await eventually('the issue', () => manager.health('s1')?.issues.join() === 'KEYFRAME_INTERVAL');
});

test('live: a publish that was refused and ended leaves the way free for the next one', async () => {
  const told: string[] = [];
  const { manager, session, slots, source } = await fixture({
    engine: {
      feed: (session, reader) => source.feed(session, reader),
      stats: () => null,
      kick: (sessionId, reason) => manager.onEnd({ sessionId, streamId: 's1', reason, bytes: 0 }),
    },
    onRefused: async (_session, issue) => void told.push(issue),
  });
  await begin(manager, session({ audio: { codec: 'speex', sampleRate: 16_000, channels: 1 } }));
  await eventually('the refusal', () => told.length > 0);
  assert.deepEqual(told, ['UNSUPPORTED_CODEC']);
  await begin(manager, session({ sessionId: 'ing_next' }));
  await slots(1);
});

test('live: a rejected publish does not block the next one', async () => {
  const { liveDir, manager, session, slots } = await fixture();
  await begin(manager, session());
  await slots(1);
  await manager.remove('s1');
  await assert.rejects(access(join(liveDir, 's1')), /ENOENT/);
  assert.equal(manager.health('s1'), null);
});

test('live: an encoder that returns after hours continues the sequence numbers, and only they remain until then', async () => {
  const { liveDir, manager, session, slots, playlist } = await fixture({ idleMs: 100 });
  await begin(manager, session());
  await slots(1);
  await manager.onEnd({ sessionId: 'a', streamId: 's1', reason: 'closed', bytes: 0 });
  const { nextSeq, disc } = (await playlist()) ?? {};
  const names = () => readdir(join(liveDir, 's1'));
  await eventually('an empty folder', async () => (await names()).length === 2);
  assert.deepEqual((await names()).sort(), ['src.m3u8', 'state.json']);
  const empty = await playlist();
  assert.deepEqual([empty?.segments, empty?.nextSeq, empty?.disc], [[], nextSeq, disc]);
  await begin(manager, session({ sessionId: 'b' }));
  const { segments } = await slots((nextSeq ?? 0) + 1);
  assert.deepEqual([segments[0]?.seq, segments[0]?.disc], [nextSeq, 1]);
});

test('live: a start empties idle folders and removes those that no encoder can resume', async () => {
  const { liveDir, manager } = await fixture();
  const slot = { seq: 6, disc: 2, epoch: 'e1', file: 's_000000.m4s', startMs: 0, rungs: {}, leftAtMs: null };
  const state = {
    ...emptyState(),
    targetDuration: 20,
    nextSeq: 7,
    disc: 2,
    slots: [slot],
    playlists: ['src'],
  };
  const hoursAgo: [string, number][] = [
    ['fresh', 0],
    ['old', 2],
    ['forgotten', 24 * 40],
  ];
  for (const [name, hours] of hoursAgo) {
    await mkdir(join(liveDir, name, 'e1'), { recursive: true });
    await writeFile(join(liveDir, name, 'state.json'), JSON.stringify(state));
    const at = dateFromMs(systemClock.ms() - hours * 3_600_000);
    await utimes(join(liveDir, name, 'state.json'), at, at);
  }
  await mkdir(join(liveDir, 'nothing'));
  await utimes(join(liveDir, 'nothing'), 0, 0);
  await manager.start();
  assert.deepEqual((await readdir(liveDir)).sort(), ['fresh', 'old']);
  assert.deepEqual(await readdir(join(liveDir, 'fresh')), ['e1', 'state.json']);
  assert.deepEqual((await readdir(join(liveDir, 'old'))).sort(), ['src.m3u8', 'state.json']);
  const text = await readFile(join(liveDir, 'old', 'src.m3u8'), 'utf8');
  assert.match(text, /TARGETDURATION:4\n(.*\n)*#EXT-X-MEDIA-SEQUENCE:7\n#EXT-X-DISCONTINUITY-SEQUENCE:2\n/);
});

test('live: a stream ID that is not a valid folder name is rejected', async () => {
  const { manager, session } = await fixture();
  await assert.rejects(manager.onStart(session({ streamId: '../up' })), /stream ID/);
});

/** Feeds HEVC and Opus, which only a current ffmpeg writes. */
function feedOfHevcAndOpus(_session: unknown, reader: Writable): void {
  const args =
    '-v error -nostdin -re -f lavfi -i testsrc2=size=640x480:rate=15 -re -f lavfi -i sine=sample_rate=48000 -pix_fmt yuv420p ' +
    '-c:v libx265 -preset ultrafast -tune zerolatency -x265-params log-level=none -g 15 -c:a libopus -flush_packets 1 -f flv -';
  const camera = spawn(CURRENT_FFMPEG, args.split(' '), { stdio: ['ignore', 'pipe', 'ignore'] });
  camera.stdout.pipe(reader);
  reader.once('close', () => camera.kill('SIGKILL'));
}

test('live: HEVC and Opus pass through, with additional H.264 rungs', {
  skip: NO_CURRENT_FFMPEG,
}, async () => {
  const { liveDir, manager, session, slots } = await fixture({
    engine: { feed: feedOfHevcAndOpus, stats: () => null, kick: async () => {} },
    ffmpeg: await openFfmpeg(CURRENT_FFMPEG),
    maxRungs: 1,
  });
  const video = { codec: 'hvc1.1.6.L90.90', width: 640, height: 480, fps: 15, isEnhanced: true } as const;
  const audio = { codec: 'opus', sampleRate: 48_000, channels: 1, isEnhanced: true } as const;
  await begin(manager, session({ video, audio }));
  const { segments } = await slots(1);
  const boxes = { src: ['hvcC', 'dOps'], 480: ['avcC', 'dOps'], 360: ['avcC', 'dOps'] };
  for (const [rung, types] of Object.entries(boxes)) {
    const path = join(liveDir, 's1', `${rung}.m3u8`);
    await eventually(`segments of ${rung}`, async () =>
      (await readFile(path, 'utf8')).includes(`/${rung}/s_`),
    );
    const init = await readFile(join(liveDir, 's1', segments[0]?.epoch ?? '', rung, 'init.mp4'));
    assert.ok(
      types.every((type) => init.includes(type)),
      rung,
    );
  }
  assert.deepEqual(manager.health('s1')?.issues, ['CODEC_TRANSCODED', 'CODEC_NOT_EVERYWHERE']);
});

test('live: sources that this ffmpeg cannot read pass through', async () => {
  const { liveDir, manager, session, slots, playlist, source } = await fixture();
  const audio = { codec: 'mp4a.40.2', sampleRate: 44_100, channels: 2, isEnhanced: true } as const;
  await begin(manager, session({ audio }));
  const { segments } = await slots(2);
  const folder = join(liveDir, 's1', segments[0]?.epoch ?? '', 'src');
  const init = await readFile(join(folder, 'init.mp4'));
  assert.ok(['avcC', 'esds', 'mvex'].every((type) => init.includes(type)));
  const master = await readFile(join(liveDir, 's1', 'master.m3u8'), 'utf8');
  assert.match(master, /CODECS="avc1\.[0-9a-f]{6},mp4a\.40\.2"/);
  assert.deepEqual(manager.health('s1')?.issues, []);
  source.endReaders();
  await manager.onEnd({ sessionId: 'a', streamId: 's1', reason: 'unpublish', bytes: 0 });
  const kept = await playlist();
  assert.equal(kept?.open, undefined);
  assert.ok((kept?.segments ?? []).every(({ disc }) => disc === 0));
});
