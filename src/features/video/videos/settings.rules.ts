import { dateFromMs } from '../../../kernel/clock.ts';
import { badRequest } from '../../../kernel/errors.ts';
import type { Visibility } from '../../../kernel/visibility.ts';

const YEAR_MS = 366 * 86_400_000;

/** @throws {AppError} BAD_REQUEST, field `priceCents`, when a video for sale has no price. */
export function assertPriced(visibility: Visibility, priceCents: number | null): void {
  if (visibility === 'PURCHASE' && priceCents === null) {
    throw badRequest('priceCents', 'priceCents is required for visibility PURCHASE.');
  }
}

/**
 * @returns the chapters by their starts.
 * @throws {AppError} BAD_REQUEST naming a chapter that starts with another one, or behind the end.
 */
export function orderChapters<C extends { startSec: number }>(
  chapters: readonly C[],
  durationSec: number | null,
): C[] {
  const starts = new Set<number>();
  for (const [index, { startSec }] of chapters.entries()) {
    const field = `chapters.${index}.startSec`;
    if (starts.has(startSec)) throw badRequest(field, 'Another chapter already starts at this time.');
    if (durationSec !== null && startSec >= durationSec) {
      throw badRequest(field, `The video ends after ${durationSec} seconds.`);
    }
    starts.add(startSec);
  }
  return chapters.toSorted((a, b) => a.startSec - b.startSec);
}

/**
 * When a video is to be published.
 *
 * @param text an instant; null and undefined plan nothing.
 * @throws {AppError} BAD_REQUEST with the field, when it is not in the coming year.
 */
export function parsePublishAt(field: string, text: string | null | undefined, now: Date): Date | null {
  if (text === null || text === undefined) return null;
  const at = dateFromMs(Temporal.Instant.from(text).epochMilliseconds);
  const ahead = at.getTime() - now.getTime();
  if (ahead <= 0 || ahead > YEAR_MS) throw badRequest(field, `${field} must be within the next year.`);
  return at;
}

/**
 * Returns the visibility of a new video.
 *
 * @throws {AppError} BAD_REQUEST, field `publishAt`: a video that is already visible cannot be published
 *   later.
 */
export function initialVisibility(wanted: Visibility | undefined, publishAt: Date | null): Visibility {
  if (publishAt === null) return wanted ?? 'PUBLIC';
  if (wanted !== undefined && wanted !== 'PRIVATE') {
    throw badRequest('publishAt', `A scheduled video must be PRIVATE, not ${wanted}.`);
  }
  return 'PRIVATE';
}
