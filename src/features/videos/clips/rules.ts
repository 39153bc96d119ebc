import { badRequest } from '../../../kernel/errors.ts';

/** In seconds from the beginning of what it is cut out of. */
export interface Piece {
  startSec: number;
  endSec: number;
}

/** What there is of it. */
export interface Available {
  fromSec: number;
  untilSec: number;
}

const LEAST_SEC = 1;
/** As far back as viewers of a broadcast can go. */
const MOST_SEC = 14_400;
/** Durations are rounded, and so is what people copy of them. */
const TOLERANCE_SEC = 0.1;

/** @throws {AppError} BAD_REQUEST, field `endSec`. */
export function assertLength({ startSec, endSec }: Piece): void {
  if (endSec - startSec < LEAST_SEC) {
    throw badRequest('endSec', `endSec must be at least ${LEAST_SEC} second after startSec.`);
  }
  if (endSec - startSec > MOST_SEC) {
    throw badRequest('endSec', `A clip lasts at most ${MOST_SEC} seconds.`);
  }
}

/**
 * @param what as in "The broadcast".
 * @returns the piece, which ends where what there is ends.
 * @throws {AppError} BAD_REQUEST, field `startSec` or `endSec`.
 */
export function within({ startSec, endSec }: Piece, { fromSec, untilSec }: Available, what: string): Piece {
  if (startSec < fromSec - TOLERANCE_SEC) {
    throw badRequest('startSec', `${what} is kept from second ${shown(fromSec)} on.`);
  }
  if (endSec > untilSec + TOLERANCE_SEC) {
    throw badRequest('endSec', `${what} ends at second ${shown(untilSec)}.`);
  }
  return { startSec: Math.max(startSec, fromSec), endSec: Math.min(endSec, untilSec) };
}

/** What a piece takes of a file that is coded evenly; 1 where nothing is known of the file. */
export function expectedBytes(
  { startSec, endSec }: Piece,
  whole: { bytes: number | null; durationSec: number | null },
): number {
  if (whole.bytes === null || !whole.durationSec) return 1;
  return Math.max(1, Math.round((whole.bytes * (endSec - startSec)) / whole.durationSec));
}

function shown(sec: number): string {
  return String(Math.floor(sec * 10) / 10);
}
