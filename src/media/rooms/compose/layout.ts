import type { ScannedTrack } from './scan.ts';

/** Who is in the picture, with what sends their pictures. */
export interface VisibleParticipants<C = ScannedTrack> {
  /** Ordered by the time of joining. */
  people: readonly Person<C>[];
  /** A screen that is shared, large; null without. */
  screen: (Person<C> & { camera: C }) | null;
  /** Whose picture is large: an index in `people`; null where all are alike. */
  speaker: number | null;
}

interface Person<C> {
  name: string;
  /** null while the camera is off. */
  camera: C | null;
}

export interface Picture {
  width: number;
  height: number;
}

/** A rectangle of the picture; every number is even, as the colours of video want it. */
export interface Box extends Picture {
  x: number;
  y: number;
}

/** Where one of those in the picture is. */
export interface Tile<C = ScannedTrack> extends Box {
  name: string;
  camera: C | null;
  /** A screen is shown whole; of a camera, what does not fit is cut off. */
  isWhole: boolean;
  /** Below it, for the name. */
  caption: Box;
}

/** The share of the width that a large picture takes. */
const LARGE = 0.8;
/** In a column of small ones. */
const MOST_BESIDE = 5;

export function tilesOf<C>(scene: VisibleParticipants<C>, picture: Picture): Tile<C>[] {
  const whole = { x: 0, y: 0, ...picture };
  const { people, screen, speaker } = scene;
  const large = screen ?? (speaker === null ? undefined : people[speaker]);
  if (large === undefined) return grid(people, whole, picture);
  const rest = people.filter((_, index) => screen !== null || index !== speaker);
  const beside = rest.slice(0, MOST_BESIDE);
  // Whoever speaks is seen beside a screen, too; the others keep their places.
  const speaking = screen === null || speaker === null ? undefined : people[speaker];
  if (speaking !== undefined && !beside.includes(speaking)) beside.splice(-1, 1, speaking);
  const name = screen === null ? large.name : `${large.name} (screen)`;
  const width = beside.length === 0 ? picture.width : even(picture.width * LARGE);
  const main = tile({ ...large, name }, { ...whole, width }, picture, screen !== null);
  const side = { ...whole, x: width, width: picture.width - width };
  return [main, ...column(beside, side, picture)];
}

function grid<C>(people: readonly Person<C>[], area: Box, picture: Picture): Tile<C>[] {
  const columns = Math.ceil(Math.sqrt(people.length));
  const rows = Math.ceil(people.length / Math.max(1, columns));
  const [width, height] = [area.width / columns, area.height / rows];
  return people.map((person, index) => {
    const row = Math.floor(index / columns);
    // The last row stands in the middle.
    const inRow = row === rows - 1 ? people.length - row * columns : columns;
    const left = area.x + (area.width - inRow * width) / 2;
    const box = { x: left + (index % columns) * width, y: area.y + row * height, width, height };
    return tile(person, box, picture, false);
  });
}

function column<C>(people: readonly Person<C>[], area: Box, picture: Picture): Tile<C>[] {
  const height = area.height / MOST_BESIDE;
  return people.map((person, index) =>
    tile(person, { ...area, y: area.y + index * height, height }, picture, false),
  );
}

function tile<C>({ name, camera }: Person<C>, cell: Box, picture: Picture, isWhole: boolean): Tile<C> {
  const margin = picture.height / 180;
  const captionHeight = even(captionSize(picture) * 1.6);
  const [x, y] = [even(cell.x + margin), even(cell.y + margin)];
  const width = even(cell.width - 2 * margin);
  const height = even(cell.height - 2 * margin - captionHeight);
  const caption = { x, y: y + height, width, height: captionHeight };
  return { ...{ x, y, width, height, name, camera, isWhole, caption } };
}

/** Of the letters. */
export function captionSize({ height }: Picture): number {
  return Math.round(height / 45);
}

function even(value: number): number {
  return 2 * Math.floor(value / 2);
}
