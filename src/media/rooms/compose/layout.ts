import type { ScannedTrack } from './scan.ts';

/** Visible participants, with the tracks of their video. */
export interface VisibleParticipants<C = ScannedTrack> {
  /** Ordered by the time of joining. */
  people: readonly Person<C>[];
  /** Participant who shares a screen, shown large; null when there is none. */
  screen: (Person<C> & { camera: C }) | null;
  /** Participant shown large: an index in `people`; null for equal tiles. */
  speaker: number | null;
}

interface Person<C> {
  name: string;
  /** null while the camera is off. */
  camera: C | null;
}

export interface FrameSize {
  width: number;
  height: number;
}

/** Rectangle of the video; all numbers are even, as chroma subsampling requires. */
export interface Box extends FrameSize {
  x: number;
  y: number;
}

/** Position of one participant in the video. */
export interface Tile<C = ScannedTrack> extends Box {
  name: string;
  camera: C | null;
  /** A screen is scaled to fit; a camera is cropped. */
  isWhole: boolean;
  /** Box below it for the name. */
  caption: Box;
}

/** Share of the width for a large tile. */
const LARGE = 0.8;
/** Maximum number of small tiles in the column. */
const MAX_SIDE_TILES = 5;

export function tilesOf<C>(scene: VisibleParticipants<C>, picture: FrameSize): Tile<C>[] {
  const whole = { x: 0, y: 0, ...picture };
  const { people, screen, speaker } = scene;
  const large = screen ?? (speaker === null ? undefined : people[speaker]);
  if (large === undefined) return grid(people, whole, picture);
  const rest = people.filter((_, index) => screen !== null || index !== speaker);
  const beside = rest.slice(0, MAX_SIDE_TILES);
  // The active speaker is visible next to a screen, too; the others do not move.
  const speaking = screen === null || speaker === null ? undefined : people[speaker];
  if (speaking !== undefined && !beside.includes(speaking)) beside.splice(-1, 1, speaking);
  const name = screen === null ? large.name : `${large.name} (screen)`;
  const width = beside.length === 0 ? picture.width : even(picture.width * LARGE);
  const main = tile({ ...large, name }, { ...whole, width }, picture, screen !== null);
  const side = { ...whole, x: width, width: picture.width - width };
  return [main, ...column(beside, side, picture)];
}

function grid<C>(people: readonly Person<C>[], area: Box, picture: FrameSize): Tile<C>[] {
  const columns = Math.ceil(Math.sqrt(people.length));
  const rows = Math.ceil(people.length / Math.max(1, columns));
  const [width, height] = [area.width / columns, area.height / rows];
  return people.map((person, index) => {
    const row = Math.floor(index / columns);
    // The last row is centered.
    const inRow = row === rows - 1 ? people.length - row * columns : columns;
    const left = area.x + (area.width - inRow * width) / 2;
    const box = { x: left + (index % columns) * width, y: area.y + row * height, width, height };
    return tile(person, box, picture, false);
  });
}

function column<C>(people: readonly Person<C>[], area: Box, picture: FrameSize): Tile<C>[] {
  const height = area.height / MAX_SIDE_TILES;
  return people.map((person, index) =>
    tile(person, { ...area, y: area.y + index * height, height }, picture, false),
  );
}

function tile<C>({ name, camera }: Person<C>, cell: Box, picture: FrameSize, isWhole: boolean): Tile<C> {
  const margin = picture.height / 180;
  const captionHeight = even(captionSize(picture) * 1.6);
  const [x, y] = [even(cell.x + margin), even(cell.y + margin)];
  const width = even(cell.width - 2 * margin);
  const height = even(cell.height - 2 * margin - captionHeight);
  const caption = { x, y: y + height, width, height: captionHeight };
  return { ...{ x, y, width, height, name, camera, isWhole, caption } };
}

/** Returns the font size of captions. */
export function captionSize({ height }: FrameSize): number {
  return Math.round(height / 45);
}

function even(value: number): number {
  return 2 * Math.floor(value / 2);
}
