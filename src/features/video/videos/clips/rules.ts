import { badRequest } from '../../../../kernel/errors.ts';

/** In seconds from the beginning of what it is cut out of. */
export interface ClipRange {
  startSec: number;
  endSec: number;
}

/** What there is of it. */
export interface Available {
  fromSec: number;
  untilSec: number;
}

const MIN_CLIP_SEC = 1;
/** As far back as viewers of a broadcast can go. */
const MAX_CLIP_SEC = 14_400;
/** Durations are rounded, and so is what people copy of them. */
const TOLERANCE_SEC = 0.1;

/** @throws {AppError} BAD_REQUEST, field `endSec`. */
export function assertLength({ startSec, endSec }: ClipRange): void {
  if (endSec - startSec < MIN_CLIP_SEC) {
    throw badRequest('endSec', `endSec must be at least ${MIN_CLIP_SEC} second after startSec.`);
  }
  if (endSec - startSec > MAX_CLIP_SEC) {
    throw badRequest('endSec', `A clip must not exceed ${MAX_CLIP_SEC} seconds.`);
  }
}

/**
 * @param what as in "The broadcast".
 * @returns the piece, which ends where what there is ends.
 * @throws {AppError} BAD_REQUEST, field `startSec` or `endSec`.
 */
export function clampToAvailable(
  { startSec, endSec }: ClipRange,
  { fromSec, untilSec }: Available,
  what: string,
): ClipRange {
  if (startSec < fromSec - TOLERANCE_SEC) {
    throw badRequest('startSec', `${what} is available from second ${shown(fromSec)}.`);
  }
  if (endSec > untilSec + TOLERANCE_SEC) {
    throw badRequest('endSec', `${what} ends at second ${shown(untilSec)}.`);
  }
  return { startSec: Math.max(startSec, fromSec), endSec: Math.min(endSec, untilSec) };
}

/** What a piece takes of a file that is coded evenly; 1 where nothing is known of the file. */
export function expectedBytes(
  { startSec, endSec }: ClipRange,
  whole: { bytes: number | null; durationSec: number | null },
): number {
  if (whole.bytes === null || !whole.durationSec) return 1;
  return Math.max(1, Math.round((whole.bytes * (endSec - startSec)) / whole.durationSec));
}

/** One of the recordings of a broadcast, as clips see it. */
export interface Recorded {
  /** From 1 on. */
  number: number;
  /** Null where nothing was recorded. */
  videoId: string | null;
  isComing: boolean;
  /** Null where it is not known, and never will be. */
  durationSec: number | null;
}

/** A piece of a video. */
export interface SourceRange extends ClipRange {
  videoId: string;
}

/**
 * Where a piece of a broadcast lies in its recordings, which come one after the other.
 *
 * @param recordings in their order.
 * @returns 'COMING' while one that has to be known is being made; null when that is gone.
 */
export function sourceRanges(
  recordings: readonly Recorded[],
  { startSec, endSec }: ClipRange,
): SourceRange[] | 'COMING' | null {
  const places: SourceRange[] = [];
  let beginsSec = 0;
  for (const [index, { number, videoId, isComing, durationSec }] of recordings.entries()) {
    // What comes after the piece may be coming, or gone.
    if (endSec - beginsSec < TOLERANCE_SEC) break;
    if (number !== index + 1) return null;
    if (isComing) return 'COMING';
    if (videoId === null) continue;
    if (durationSec === null) return null;
    const fromSec = Math.max(0, startSec - beginsSec);
    const untilSec = Math.min(durationSec, endSec - beginsSec);
    if (untilSec - fromSec >= TOLERANCE_SEC) places.push({ videoId, startSec: fromSec, endSec: untilSec });
    beginsSec += durationSec;
  }
  return places.length === 0 ? null : places;
}

function shown(sec: number): string {
  return String(Math.floor(sec * 10) / 10);
}
