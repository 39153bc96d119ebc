/** Grid of tiles on one sheet. */
export const SHEET_TILES = { columns: 10, rows: 10 } as const;
const TILE_WIDTH = 160;

export interface TileSize {
  width: number;
  height: number;
}

export function tileSize(video: { width: number; height: number }): TileSize {
  const height = Math.max(2, Math.round((TILE_WIDTH * video.height) / video.width / 2) * 2);
  return { width: TILE_WIDTH, height };
}

/** Returns the name of a sheet, such as `sb_001.jpg`; the number may be ffmpeg's pattern. */
export function sheetName(number: string): string {
  return `sb_${number}.jpg`;
}

/**
 * Renders WebVTT whose cues reference the part of a sheet (`#xywh=`, Media Fragments 4.2.2) for their time.
 *
 * @param times of the tiles in order, in seconds.
 */
export function renderStoryboard(times: readonly number[], durationSec: number, tile: TileSize): string {
  const cues = times.map((time, index) => {
    // The first tile also covers the time before it.
    const start = index === 0 ? 0 : time;
    const end = times[index + 1] ?? Math.max(durationSec, time + 0.001);
    return `${timestamp(start)} --> ${timestamp(end)}\n${place(index, tile)}`;
  });
  return ['WEBVTT', ...cues, ''].join('\n\n').trimEnd().concat('\n');
}

function place(index: number, { width, height }: TileSize): string {
  const { columns, rows } = SHEET_TILES;
  const sheet = Math.floor(index / (columns * rows)) + 1;
  const at = index % (columns * rows);
  const xywh = [(at % columns) * width, Math.floor(at / columns) * height, width, height];
  return `${sheetName(String(sheet).padStart(3, '0'))}#xywh=${xywh.join(',')}`;
}

function timestamp(sec: number): string {
  const ms = Math.round(sec * 1000);
  const part = (value: number, digits: number) => String(Math.floor(value)).padStart(digits, '0');
  const hours = part(ms / 3_600_000, 2);
  const minutes = part((ms / 60_000) % 60, 2);
  return `${hours}:${minutes}:${part((ms / 1000) % 60, 2)}.${part(ms % 1000, 3)}`;
}
