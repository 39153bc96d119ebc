import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { eventually } from '../../../test/live/eventually.ts';
import { testFfmpeg } from '../../../test/live/ffmpeg.ts';
import { startIngest } from '../../../test/rtmp/ingest.ts';
import { startPublisher } from '../../../test/rtmp/publisher.ts';
import { systemClock } from '../../kernel/clock.ts';
import { createLogger } from '../../platform/logger.ts';
import type { LiveIssue } from '../contract/index.ts';
import { createLiveManager, type LiveManager } from './live-manager.ts';
import { type MediaPlaylist, parseMediaPlaylist } from './playlist.ts';

const run = promisify(execFile);

/**
 * Seconds after which one track ends while the other continues. Without the option below, ffmpeg waits for
 * the ended track.
 */
const SECONDS = 4;
const INTERLEAVED = ['-max_interleave_delta', '1', '-flush_packets', '1'];

interface Fixture {
  dir: string;
  issues(): LiveIssue[];
  playlist(): Promise<MediaPlaylist>;
  /** Waits for this number of segments of a rung. */
  after(segments: number, rung?: string): Promise<MediaPlaylist>;
}

/** Publishes with a real encoder by RTMP, and packages as the media role does. */
async function broadcast(
  t: TestContext,
  extraArgs: string[],
  { maxRungs = 0, width = 320, height = 180, fps = 15 } = {},
): Promise<Fixture> {
  const liveDir = await mkdtemp(join(tmpdir(), 'odd-signals-'));
  let manager: LiveManager | null = null;
  const ingest = await startIngest(
    t,
    {},
    {
      onStart: async (session) => manager?.onStart(session),
      onMedia: (session) => manager?.onMedia(session),
      onEnd: async (end) => manager?.onEnd(end),
    },
  );
  const { engine } = ingest;
  const made = createLiveManager({
    ...{ engine, liveDir, ffmpeg: testFfmpeg, maxRungs, cores: 8 },
    ...{ log: createLogger('silent'), clock: systemClock },
  });
  manager = made;
  await made.start();
  const publisher = startPublisher({
    ...{ url: ingest.url('key-s1'), width, height, fps },
    extraArgs: [...extraArgs, ...INTERLEAVED],
  });
  t.after(async () => {
    publisher.kill('SIGKILL');
    await publisher.exited;
    await made.stop();
    await rm(liveDir, { recursive: true, force: true });
  });
  const dir = join(liveDir, 'str_s1');
  const playlist = async (rung = 'src') => {
    const found = parseMediaPlaylist(await readFile(join(dir, `${rung}.m3u8`), 'utf8').catch(() => ''));
    assert.ok(found !== null, 'there is a playlist');
    return found;
  };
  return {
    dir,
    playlist,
    issues: () => made.health('str_s1')?.issues ?? [],
    after: (segments, rung) =>
      eventually(`${segments} segments`, async () => {
        const found = await playlist(rung).catch(() => null);
        return found !== null && found.nextSeq >= segments ? found : null;
      }),
  };
}

/** Seconds that the track covers in the listed segments, as a decoder finds them. */
async function covered(dir: string, { segments }: MediaPlaylist, track: 'a' | 'v'): Promise<number> {
  const [first] = segments;
  assert.ok(first !== undefined);
  const files = segments.map(({ epoch, file }) => join(dir, epoch, 'src', file));
  const input = `concat:${[join(dir, first.epoch, 'src', 'init.mp4'), ...files].join('|')}`;
  const entries = ['-show_entries', 'packet=pts_time,duration_time', '-of', 'csv=p=0'];
  const { stdout } = await run('ffprobe', ['-v', 'error', '-select_streams', track, ...entries, input]);
  const packets = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(',').map(Number));
  const [firstPts = 0] = packets[0] ?? [];
  const gaps = packets.slice(1).map(([pts = 0], i) => pts - (packets[i]?.[0] ?? 0));
  assert.ok(Math.max(...gaps) < 0.5, `the ${track} track has a gap of ${Math.max(...gaps)} s`);
  const [lastPts = 0, lastSec = 0] = packets.at(-1) ?? [];
  return lastPts + lastSec - firstPts;
}

function durationOf({ segments }: MediaPlaylist): number {
  return segments.reduce((sum, { durationSec }) => sum + durationSec, 0);
}

test('audio that stops is replaced by silence, and health names it instead of a drift', async (t) => {
  const silentLater = ['-af', `atrim=end=${SECONDS}`];
  const { dir, after, issues, playlist } = await broadcast(t, silentLater);
  await eventually('the issue', () => issues().includes('AUDIO_STOPPED'), 20_000);
  const found = await after((await playlist()).nextSeq + 2);
  assert.ok(!issues().includes('AV_DRIFT'), issues().join());
  const [audioSec, videoSec] = [await covered(dir, found, 'a'), await covered(dir, found, 'v')];
  assert.ok(Math.abs(audioSec - videoSec) < 0.5, `${audioSec} s of audio for ${videoSec} s of video`);
  assert.ok(Math.abs(videoSec - durationOf(found)) < 0.5);
});

test('video that stops is replaced by its last keyframe, and segments stay as long', async (t) => {
  const stillLater = ['-vf', `trim=end=${SECONDS}`];
  const { dir, after, issues, playlist } = await broadcast(t, stillLater);
  const { targetDuration } = await after(1);
  await eventually('the issue', () => issues().includes('VIDEO_STOPPED'), 20_000);
  const found = await after((await playlist()).nextSeq + 3);
  assert.equal(found.targetDuration, targetDuration);
  for (const { durationSec } of found.segments) assert.ok(durationSec < 2.5, `${durationSec} s`);
  const [audioSec, videoSec] = [await covered(dir, found, 'a'), await covered(dir, found, 'v')];
  assert.ok(Math.abs(audioSec - videoSec) < 0.5, `${audioSec} s of audio for ${videoSec} s of video`);
});

test('interlaced video is reported when copied, and deinterlaced in the encoded renditions', async (t) => {
  const interlaced = [
    ...['-vf', 'tinterlace=interleave_top', '-r', '15'],
    ...['-flags', '+ildct+ilme', '-x264-params', 'tff=1'],
  ];
  const { dir, after, issues } = await broadcast(t, interlaced, {
    maxRungs: 1,
    width: 854,
    height: 480,
    fps: 30,
  });
  const combed = async (rung: string) => {
    const last = (await after(3, rung)).segments.at(-1);
    assert.ok(last !== undefined);
    const files = ['init.mp4', last.file].map((file) => join(dir, last.epoch, rung, file));
    const filter = ['-vf', 'idet', '-f', 'null', '-'];
    const { stderr } = await run('ffmpeg', ['-i', `concat:${files.join('|')}`, ...filter]);
    const [, tff = '0', bff = '0', progressive = '0'] =
      /Multi frame detection: TFF:\s*(\d+) BFF:\s*(\d+) Progressive:\s*(\d+)/.exec(stderr) ?? [];
    return Number(tff) + Number(bff) > Number(progressive);
  };
  assert.deepEqual([await combed('src'), await combed('360')], [true, false]);
  assert.ok(issues().includes('INTERLACED'), issues().join());
});

test('renditions of an untagged HD source carry the colors of HD', async (t) => {
  const { dir, after } = await broadcast(t, [], { maxRungs: 1, width: 1280, height: 720 });
  const last = (await after(1, '360')).segments.at(-1);
  assert.ok(last !== undefined);
  const files = ['init.mp4', last.file].map((file) => join(dir, last.epoch, '360', file));
  const entries = 'stream=color_range,color_space,color_transfer,color_primaries';
  const args = ['-v', 'error', '-select_streams', 'v', '-show_entries', entries, '-of', 'csv=p=0'];
  const { stdout } = await run('ffprobe', [...args, `concat:${files.join('|')}`]);
  assert.equal(stdout.trim(), 'tv,bt709,bt709,bt709');
});
