import { badRequest } from '../../../../kernel/errors.ts';

/** Range of a clip in seconds from the beginning of its source. */
export interface ClipRange {
  startSec: number;
  endSec: number;
}

/** Available range of the source. */
export interface Available {
  fromSec: number;
  untilSec: number;
}

const MIN_CLIP_SEC = 1;
/** Maximum length of a clip, which is also the longest DVR window of a broadcast. */
const MAX_CLIP_SEC = 14_400;
/** Tolerance for rounded durations, and values that people copy from them. */
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

/** Returns the expected size of a range, assuming a constant bitrate; 1 when size or duration is unknown. */
export function expectedBytes(
  { startSec, endSec }: ClipRange,
  whole: { bytes: number | null; durationSec: number | null },
): number {
  if (whole.bytes === null || !whole.durationSec) return 1;
  return Math.max(1, Math.round((whole.bytes * (endSec - startSec)) / whole.durationSec));
}

/** Recording of a broadcast, as needed by clips. */
export interface Recorded {
  /** From 1 on. */
  number: number;
  /** Null where nothing was recorded. */
  videoId: string | null;
  isComing: boolean;
  /** Null where it is permanently unknown. */
  durationSec: number | null;
}

/** Range of a video. */
export interface SourceRange extends ClipRange {
  videoId: string;
}

/**
 * Returns the parts of consecutive recordings that cover a range of a broadcast.
 *
 * @param recordings in their order.
 * @returns 'COMING' while a required recording is being created; null when it is gone.
 */
export function sourceRanges(
  recordings: readonly Recorded[],
  { startSec, endSec }: ClipRange,
): SourceRange[] | 'COMING' | null {
  const places: SourceRange[] = [];
  let beginsSec = 0;
  for (const [index, { number, videoId, isComing, durationSec }] of recordings.entries()) {
    // Recordings after the range may be pending or gone.
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
