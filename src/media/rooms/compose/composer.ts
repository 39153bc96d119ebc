import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { MediaFileError, type RoomComposer } from '../../contract/index.ts';
import { concatGuard } from '../../ffmpeg/guard.ts';
import { openOutputFile, writeOutput } from '../../ffmpeg/output.ts';
import { runTool, type Tools } from '../../transcode/run.ts';
import { readDescription } from '../janus/sources.ts';
import { findFont } from './font.ts';
import {
  captionOf,
  JOINED_AUDIO_FILTER,
  SCENE_AUDIO,
  SCENE_VIDEO,
  type SceneTile,
  sceneArgs,
} from './graph.ts';
import { type FrameSize, tilesOf } from './layout.ts';
import { measureLoudness } from './loudness.ts';
import { readMjrHeader } from './mjr.ts';
import { type ScannedTrack, type Span, scanTrack } from './scan.ts';
import { type Slice, writeSlice } from './slice.ts';
import { FPS, type Scene, scenesOf } from './timeline.ts';

/** `threads` are for each decoder and the encoder. */
export type RoomComposerOptions = Omit<Tools, 'stallMs'>;

type Run = Parameters<RoomComposer['compose']>[0];

const STALL_MS = 120_000;
const GB = 2 ** 30;
/** Limits of a scene: far above the need of the largest room. */
const SCENE_LIMITS = { memoryBytes: 8 * GB, cpuSec: 20_000, fileBytes: 16 * GB };
const JOIN_LIMITS = { memoryBytes: 8 * GB, cpuSec: 40_000, fileBytes: 256 * GB };
const VIDEO_LIST = 'video.ffconcat';
const AUDIO_LIST = 'sound.ffconcat';
const OUTPUT = 'composed.mp4';
/** Share of the scenes in the progress; joining them is the rest. */
const SCENES_SHARE = 0.95;
const MS_PER_SEC = 1000;

/**
 * Composes scene by scene, each at most a few minutes long and with one layout: disk use is limited to the
 * slices of one scene and the video itself. Scenes begin and end on the same frame and the same sample.
 */
export function createRoomComposer(options: RoomComposerOptions): RoomComposer {
  const tools: Tools = { ...options, stallMs: STALL_MS };
  return {
    look: describedIn,
    async compose(run) {
      const tracks: ScannedTrack[] = [];
      for (const track of run.tracks) {
        const scanned = await scanTrack(track, run.maxSec * MS_PER_SEC, run.signal);
        if (scanned !== null) tracks.push(await withLoudness(tools, run, scanned));
        else options.log.warn({ path: track.path }, 'a track of a room cannot be read');
      }
      const spans = tracks.flatMap((track) => track.spans);
      if (spans.length === 0) throw new MediaFileError('CORRUPT_INPUT', 'The recording is unreadable.');
      const startedMs = spans.reduce(
        (least, { fromMs }) => Math.min(least, fromMs),
        Number.POSITIVE_INFINITY,
      );
      const lastMs = spans.reduce((most, { toMs }) => Math.max(most, toMs), 0);
      const endMs = Math.min(lastMs, startedMs + run.maxSec * MS_PER_SEC);
      const scenes = scenesOf(tracks, { startMs: startedMs, endMs, layout: run.layout });
      const path = await composeScenes(tools, run, scenes, startedMs);
      return { path, durationSec: (scenes.at(-1)?.toFrame ?? 0) / FPS, startedMs };
    },
  };
}

/**
 * Adds measured loudness for speaker detection, because not every media server records the audio levels of
 * packets.
 */
async function withLoudness(tools: Tools, run: Run, track: ScannedTrack): Promise<ScannedTrack> {
  const isWanted = run.layout === 'SPEAKER' && track.source === 'MICROPHONE' && track.loudness.length === 0;
  return isWanted ? { ...track, loudness: await measureLoudness(tools, track, run) } : track;
}

async function describedIn(path: string) {
  const file = await openOutputFile(path);
  try {
    return readDescription((await readMjrHeader(file))?.description);
  } finally {
    await file.close();
  }
}

async function composeScenes(
  tools: Tools,
  run: Run,
  scenes: readonly Scene[],
  startedMs: number,
): Promise<string> {
  const dir = join(run.dir, 'scenes');
  await mkdir(dir);
  const font = await findFont();
  const last = scenes.at(-1)?.toFrame ?? 1;
  for (const [index, scene] of scenes.entries()) {
    await composeScene(tools, run, { scene, font, startedMs, into: join(dir, String(index)) });
    run.onProgress?.((scene.toFrame / last) * SCENES_SHARE);
  }
  return joinScenes(tools, run, dir, scenes);
}

interface SceneRun {
  scene: Scene;
  font: string | null;
  startedMs: number;
  /** Path of the outputs, without the file extension. */
  into: string;
}

async function composeScene(
  tools: Tools,
  run: Run,
  { scene, font, startedMs, into }: SceneRun,
): Promise<void> {
  const dir = join(run.dir, 'scene');
  await mkdir(dir);
  const picture = { width: 2 * Math.round((run.height * 8) / 9), height: run.height };
  const msOf = (frame: number) => startedMs + (frame * MS_PER_SEC) / FPS;
  const span = { fromMs: msOf(scene.fromFrame), toMs: msOf(scene.toFrame) };
  const sliced = { dir, span, signal: run.signal };
  const tiles = await sceneTiles(scene, picture, sliced);
  const sounds: Slice[] = [];
  for (const [index, track] of scene.sounds.entries()) {
    const slice = await writeSlice({ ...sliced, track, name: `s${index}.mka` });
    if (slice !== null) sounds.push(slice);
  }
  const frames = scene.toFrame - scene.fromFrame;
  const input = { frames, picture, tiles, sounds, font, threads: tools.threads };
  await runTool(tools, {
    program: 'ffmpeg',
    cwd: dir,
    args: sceneArgs(input, (name) => join(dir, name)),
    reads: font === null ? [] : [font],
    limits: SCENE_LIMITS,
    signal: run.signal,
    onProgress: () => {},
  });
  await rename(join(dir, SCENE_VIDEO), `${into}.mp4`);
  await rename(join(dir, SCENE_AUDIO), `${into}.mka`);
  await rm(dir, { recursive: true });
}

async function sceneTiles(
  scene: Scene,
  picture: FrameSize,
  sliced: { dir: string; span: Span; signal: AbortSignal },
): Promise<SceneTile[]> {
  const tiles: SceneTile[] = [];
  for (const [index, tile] of tilesOf(scene, picture).entries()) {
    const nameFile = `n${index}.txt`;
    await writeOutput(sliced.dir, nameFile, captionOf(tile, picture));
    const { camera: track } = tile;
    const slice = track === null ? null : await writeSlice({ ...sliced, track, name: `t${index}.mkv` });
    // Uses the shape after changes that happen together have settled.
    const shape = track?.shapes.findLast(({ atMs }) => atMs <= sliced.span.fromMs + SETTLED_MS) ?? null;
    tiles.push({ tile, slice, shape: shape ?? track?.shapes[0] ?? null, nameFile });
  }
  return tiles;
}

const SETTLED_MS = 250;

async function joinScenes(tools: Tools, run: Run, dir: string, scenes: readonly Scene[]): Promise<string> {
  const list = (extension: string) => {
    const lines = scenes.map(({ fromFrame, toFrame }, index) => {
      const sec = ((toFrame - fromFrame) / FPS).toFixed(6);
      return `file '${index}.${extension}'\nduration ${sec}\n`;
    });
    return `ffconcat version 1.0\n${lines.join('')}`;
  };
  await writeOutput(dir, VIDEO_LIST, list('mp4'));
  await writeOutput(dir, AUDIO_LIST, list('mka'));
  await runTool(tools, {
    program: 'ffmpeg',
    cwd: dir,
    args: [
      ...['-nostdin', '-v', 'error', '-y'],
      ...concatGuard(join(dir, VIDEO_LIST), 'mov,mp4', 'h264'),
      ...concatGuard(join(dir, AUDIO_LIST), 'matroska', 'flac'),
      ...['-map', '0:v:0', '-c:v', 'copy', '-map', '1:a:0', '-af', JOINED_AUDIO_FILTER],
      ...['-c:a', 'aac', '-b:a', '128k', '-f', 'mp4', OUTPUT],
    ],
    limits: JOIN_LIMITS,
    signal: run.signal,
    onProgress: () => {},
  });
  const path = join(run.dir, OUTPUT);
  await rename(join(dir, OUTPUT), path);
  await rm(dir, { recursive: true });
  return path;
}
