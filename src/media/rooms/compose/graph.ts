import { inputGuard } from '../../ffmpeg/guard.ts';
import { type Box, captionSize, type FrameSize, type Tile } from './layout.ts';
import type { Shape } from './scan.ts';
import type { Slice } from './slice.ts';
import { FPS } from './timeline.ts';

/** Decoders for video that participants send. */
const VIDEO_DECODERS = 'vp8,libvpx';
export const AUDIO_DECODERS = 'opus,libopus';

const BACKGROUND = '0x14171c';
const TILE = '0x23272f';
const LETTERS = '0xe8eaed';
const RATE = 48_000;
const SAMPLES_PER_FRAME = RATE / FPS;
/**
 * Attenuation of the slices, because mixed voices may exceed the range; undone afterwards, before a limiter.
 */
const HEADROOM = 4;
/**
 * Minimum drift for a hard correction, less than a packet: missing packets become silence. Drifting clocks
 * are corrected by this step, too.
 */
const MIN_HARD_CORRECTION_SEC = 0.015;
/** Maximum ratio of aspect ratios for cropping; above it, too much would be cut off. */
const CROPPED_UP_TO = 1.4;
/** Width of a letter, relative to its height. */
const LETTER_WIDTH = 0.62;

export interface SceneInput {
  frames: number;
  picture: FrameSize;
  tiles: readonly SceneTile[];
  sounds: readonly Slice[];
  /** Font of the names; null omits them. */
  font: string | null;
  threads: number;
}

export interface SceneTile {
  tile: Tile;
  /** null while the camera is off. */
  slice: Slice | null;
  shape: Shape | null;
  /** File with the name, in the folder of the slices. */
  nameFile: string;
}

export const SCENE_VIDEO = 'video.mp4';
export const SCENE_AUDIO = 'sound.mka';

/**
 * Returns the arguments that compose a scene of a fixed number of frames, with exactly that duration of
 * audio.
 */
export function sceneArgs(input: SceneInput, pathOf: (name: string) => string): string[] {
  const { frames, threads, tiles, sounds } = input;
  const seen = tiles.flatMap(({ slice }) => (slice === null ? [] : [slice]));
  const group = String(2 * FPS);
  return [
    // Timestamps are those we wrote, regardless of the start time of a file.
    ...['-nostdin', '-v', 'error', '-y', '-copyts', '-filter_complex_threads', String(threads)],
    // The scaler handles a size change in the middle of a track; otherwise all filters would restart.
    ...seen.flatMap(({ name }) => [
      ...['-threads', String(threads), '-reinit_filter', '0'],
      ...inputGuard(pathOf(name), VIDEO_DECODERS),
    ]),
    ...sounds.flatMap(({ name }) => inputGuard(pathOf(name), AUDIO_DECODERS)),
    ...['-filter_complex', [...videoFilterGraph(input), ...audioFilterGraph(input, seen.length)].join(';')],
    ...['-map', '[v]', '-frames:v', String(frames), '-c:v', 'libx264', '-preset', 'veryfast', '-crf', '21'],
    // Slices must join: no frame reordering at the boundaries, and identical settings.
    ...['-profile:v', 'high', '-bf', '0', '-g', group, '-threads', String(threads), '-pix_fmt', 'yuv420p'],
    ...['-video_track_timescale', String(FPS * 1000), '-f', 'mp4', SCENE_VIDEO],
    ...['-map', '[a]', '-c:a', 'flac', '-sample_fmt', 's32', '-f', 'matroska', SCENE_AUDIO],
  ];
}

/**
 * Returns the arguments that render the names and empty tiles as one `yuv420p` frame to the standard output.
 */
export function stillArgs({ picture, tiles, font }: Still): string[] {
  const { width, height } = picture;
  const filters = [
    `color=c=${BACKGROUND}:s=${width}x${height}:r=${FPS}`,
    ...['trim=end_frame=1', 'format=yuv420p'],
    ...tiles.flatMap((one) => drawn(one, picture, font)),
  ];
  return [
    ...['-nostdin', '-v', 'error', '-filter_complex', `${filters.join(',')}[v]`, '-map', '[v]'],
    ...['-frames:v', '1', '-f', 'rawvideo', '-pix_fmt', 'yuv420p', 'pipe:1'],
  ];
}

export interface Still {
  picture: FrameSize;
  tiles: readonly { tile: Box & { caption: Box }; nameFile: string; isSeen: boolean }[];
  font: string | null;
}

/** Builds the video graph: names and empty tiles are drawn once, and the videos are overlaid. */
function videoFilterGraph({ frames, picture, tiles, font }: SceneInput): string[] {
  const { width, height } = picture;
  const still = [
    `color=c=${BACKGROUND}:s=${width}x${height}:r=${FPS}`,
    ...['trim=end_frame=1', 'format=yuv420p'],
    ...tiles.flatMap((one) => drawn({ ...one, isSeen: one.slice !== null }, picture, font)),
    ...['loop=loop=-1:size=1', `setpts=N/(${FPS}*TB)`, `trim=end_frame=${frames}`],
  ];
  const chains = [`${still.join(',')}[b0]`];
  const seen = tiles.flatMap(({ tile, slice, shape }) => (slice === null ? [] : [{ tile, slice, shape }]));
  for (const [index, { tile, slice, shape }] of seen.entries()) {
    const fitted = fit(tile, shape);
    const zero = (slice.zeroMs / 1000).toFixed(3);
    const filters = [`trim=start=${zero}`, `setpts=PTS-${zero}/TB`, ...fitted.filters];
    chains.push(`[${index}:v]${filters.join(',')}[t${index}]`);
    chains.push(`[b${index}][t${index}]overlay=x=${fitted.x}:y=${fitted.y}:eval=init[b${index + 1}]`);
  }
  chains.push(`[b${seen.length}]setsar=1,format=yuv420p[v]`);
  return chains;
}

function drawn(
  { tile, nameFile, isSeen }: Still['tiles'][number],
  picture: FrameSize,
  font: string | null,
): string[] {
  const { x, y, width, height, caption } = tile;
  const size = captionSize(picture);
  const box = `drawbox=x=${x}:y=${y}:w=${width}:h=${height}:color=${TILE}:t=fill`;
  if (font === null) return [box];
  const text = (place: string, letters: number) =>
    `drawtext=fontfile=${font}:textfile=${nameFile}:expansion=none:fontsize=${letters}:fontcolor=${LETTERS}:${place}`;
  const below = text(`x=${caption.x + 4}:y=${caption.y}+(${caption.height}-th)/2`, size);
  const inside = text(`x=${x}+(${width}-tw)/2:y=${y}+(${height}-th)/2`, size);
  return [box, below, ...(isSeen ? [] : [inside])];
}

/**
 * Returns the filters that fit a video into its tile: only the scaler sees varying sizes, later filters a
 * constant one.
 */
export function fit(
  tile: Box & { isWhole: boolean },
  shape: Omit<Shape, 'atMs'> | null,
): Box & { filters: string[] } {
  const degrees = shape?.degrees ?? 0;
  const isTurned = degrees === 90 || degrees === 270;
  const [wide, high] = [shape?.width ?? 16, shape?.height ?? 9];
  const ratio = isTurned ? high / wide : wide / high;
  const [byWidth, byHeight] = [tile.width / ratio, tile.height * ratio];
  const stretch = Math.max(byHeight / tile.width, tile.width / byHeight);
  const isCropped = !tile.isWhole && stretch < CROPPED_UP_TO;
  const isWide = byHeight >= tile.width;
  const [width, height] = isCropped === isWide ? [even(byHeight), tile.height] : [tile.width, even(byWidth)];
  const scale = isTurned ? `scale=${height}:${width}` : `scale=${width}:${height}`;
  const turn = { 0: [], 90: ['transpose=1'], 180: ['hflip', 'vflip'], 270: ['transpose=2'] }[degrees];
  const crop = isCropped ? [`crop=${tile.width}:${tile.height}`] : [];
  const seen = isCropped ? { width: tile.width, height: tile.height } : { width, height };
  return {
    filters: [scale, 'format=yuv420p', ...turn, ...crop],
    x: tile.x + even((tile.width - seen.width) / 2),
    y: tile.y + even((tile.height - seen.height) / 2),
    ...seen,
  };
}

function even(value: number): number {
  return Math.max(2, 2 * Math.round(value / 2));
}

/** Builds the audio graph: mixes all participants at their own volume, with silence for gaps. */
function audioFilterGraph({ frames, sounds }: SceneInput, firstInput: number): string[] {
  const samples = frames * SAMPLES_PER_FRAME;
  if (sounds.length === 0) return [`anullsrc=r=${RATE}:cl=stereo,atrim=end_sample=${samples}[a]`];
  const voices = sounds.map(({ zeroMs }, index) => {
    const start = Math.round((zeroMs * RATE) / 1000);
    const filters = [
      `aresample=${RATE}:async=1:min_hard_comp=${MIN_HARD_CORRECTION_SEC}:first_pts=0`,
      'aformat=sample_fmts=fltp:channel_layouts=stereo',
      `atrim=start_sample=${start}:end_sample=${start + samples}`,
      ...['asetpts=N/SR/TB', `apad=whole_len=${samples}`, `volume=${1 / HEADROOM}`],
    ];
    return `[${firstInput + index}:a]${filters.join(',')}[s${index}]`;
  });
  const all = sounds.map((_, index) => `[s${index}]`).join('');
  const mix = `amix=inputs=${sounds.length}:duration=longest:normalize=0`;
  return [...voices, `${all}${mix},atrim=end_sample=${samples}[a]`];
}

/** Filters for the joined audio. */
export const JOINED_AUDIO_FILTER = `asetpts=N/SR/TB,volume=${HEADROOM},alimiter=level=disabled:limit=0.95`;

/** Returns the name, truncated to fit, without line breaks and invisible characters. */
export function captionOf(tile: Pick<Tile, 'width' | 'name'>, picture: FrameSize): string {
  const most = Math.max(1, Math.floor(tile.width / (captionSize(picture) * LETTER_WIDTH)));
  const letters = [...tile.name.normalize('NFC').replace(/\p{C}|\p{Zl}|\p{Zp}/gu, ' ')];
  return letters.length <= most ? letters.join('') : `${letters.slice(0, Math.max(1, most - 1)).join('')}…`;
}
