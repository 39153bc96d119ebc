import type { SourceInfo, Span } from '../contract/index.ts';
import { STILL_COLORS } from '../ffmpeg/color.ts';
import { SHEET_TILES, tileSize } from './storyboard.ts';

export const POSTER = 'poster.jpg';
const POSTER_SIDE = 1280;
/** Candidate positions of a poster, as fractions of the duration. */
const POSTER_PLACES = [0.1, 0.3, 0.6];
/** Length of the search after each position. */
export const SEARCH_SEC = 5;
/** Margin before the end, after which there may be no frame. */
export const LAST_PICTURE_SEC = 0.5;
/** Mean brightness above which a frame is not black; black is 16, and 0 in JPEG. */
const NOT_BLACK = { video: 24, jpeg: 9 };
/** Filter that drops black frames. */
export const BRIGHT = brighterThan(NOT_BLACK.video);
export const BRIGHT_JPEG = brighterThan(NOT_BLACK.jpeg);

function brighterThan(value: number): string {
  return `signalstats,metadata=select:key=lavfi.signalstats.YAVG:value=${value}:function=greater`;
}

const TILES_MAX = 900;
export const TILE_MIN_SEC = 2;
export const TILES_ENOUGH = 10;
export const SHEET = `tile=${SHEET_TILES.columns}x${SHEET_TILES.rows}`;
export const SHEET_QUALITY = ['-q:v', '5'];
export const POSTER_OUTPUT = ['-frames:v', '1', '-q:v', '3', '-f', 'mjpeg'];

export const PREVIEW = 'preview.webp';
export const PREVIEW_SEC = 4;
const PREVIEW_MIN_SEC = 1;
export const PREVIEW_MAX_BYTES = 500_000;
const PREVIEW_SIDE = 320;
export interface PreviewTry {
  /** Frames per second. */
  rate: number;
  quality: number;
}
/** Settings to try in order; the first small enough result is used. */
export const PREVIEW_TRIES: readonly [PreviewTry, ...PreviewTry[]] = [
  { rate: 10, quality: 50 },
  { rate: 6, quality: 30 },
  { rate: 4, quality: 10 },
];

/** Returns the time span with video frames: a video may last longer than its frames. */
export function videoSpanOf({ durationSec, video }: SourceInfo): Span {
  const { startSec = 0, endSec = durationSec } = video.span ?? {};
  return { startSec: Math.max(0, startSec), endSec: Math.min(durationSec, endSec) };
}

/** Seconds. */
export function posterPlaces(source: SourceInfo): number[] {
  const { startSec, endSec } = videoSpanOf(source);
  return POSTER_PLACES.map((share) => startSec + share * (endSec - startSec));
}

export function posterSize(source: SourceInfo): string {
  return scaleTo(source, POSTER_SIDE, `${STILL_COLORS.jpeg},format=yuvj420p`);
}

/** Returns a filter that selects a frame every few seconds. */
export function dueTiles({ durationSec }: SourceInfo): string {
  const everySec = Math.max(Math.min(TILE_MIN_SEC, durationSec / TILES_ENOUGH), durationSec / TILES_MAX);
  // A keyframe slightly too early is acceptable.
  return `select=isnan(prev_selected_t)+gte(t-prev_selected_t\\,${(everySec * 0.98).toFixed(3)})`;
}

export function tileScale({ video }: SourceInfo): string {
  const { width, height } = tileSize(video);
  return `scale=${width}:${height}:${STILL_COLORS.jpeg},format=yuvj420p,setsar=1`;
}

/** Returns the start of the preview; null when the video is too short for one. */
export function previewStart(source: SourceInfo): number | null {
  const { startSec, endSec } = videoSpanOf(source);
  const lengthSec = endSec - startSec;
  if (lengthSec < PREVIEW_MIN_SEC) return null;
  return startSec + Math.max(0, Math.min(lengthSec * 0.2, lengthSec - PREVIEW_SEC));
}

export function previewSize(source: SourceInfo): string {
  return scaleTo(source, PREVIEW_SIDE, `${STILL_COLORS.webp},format=yuv420p`);
}

export function previewOutput(quality: number): string[] {
  return ['-c:v', 'libwebp_anim', '-quality', String(quality), '-loop', '0', '-f', 'webp'];
}

/** Returns a filter that limits the longer side to `side` pixels, without upscaling. */
function scaleTo({ video }: SourceInfo, side: number, colors: string): string {
  const scale = Math.min(1, side / Math.max(video.width, video.height));
  const size = [video.width, video.height].map((value) => Math.max(2, Math.round((value * scale) / 2) * 2));
  return `scale=${size.join(':')}:flags=bicubic:${colors},setsar=1`;
}
