import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '../../src/kernel/clock.ts';
import { type Composer, openComposer } from '../../src/media/live/composer.ts';
import { type LadderInput, planLadder } from '../../src/media/live/ladder.ts';
import { createPackager, type Packager, type PackagerOptions } from '../../src/media/live/packager.ts';
import { type MediaPlaylist, parseMediaPlaylist } from '../../src/media/live/playlist.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { eventually } from './eventually.ts';
import { OLD_ABILITIES, testFfmpeg } from './ffmpeg.ts';
import { type FlvSource, type FlvSourceOptions, startFlvSource } from './flv-source.ts';

export const run = promisify(execFile);
const log = createLogger('silent');
/** Ends what a test started; each test runs and empties the list. */
export const cleanups: (() => Promise<unknown>)[] = [];

export interface Fixture {
  liveDir: string;
  source: FlvSource;
  composer: Composer;
  packager: Packager;
  playlist(rung: string): Promise<MediaPlaylist>;
  /** Waits for `count` segments in a rung's playlist. */
  segments(rung: string, count: number): Promise<MediaPlaylist>;
  master(): Promise<string>;
}

export async function fixture(
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

/** Returns the streams that a player gets for one rung. */
export async function probe(url: string): Promise<Probed['streams']> {
  const { stdout } = await run('ffprobe', ['-v', 'error', '-of', 'json', '-show_streams', url], {
    timeout: 20_000,
  });
  const parsed: Probed = JSON.parse(stdout);
  return parsed.streams;
}
