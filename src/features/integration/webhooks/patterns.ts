import type { EventCatalogue } from '../../../events/catalogue.ts';
import { badRequest } from '../../../kernel/errors.ts';

/**
 * Returns patterns as they are stored: without duplicates, and empty for `*`, which is every type.
 *
 * @throws {AppError} BAD_REQUEST, field `events.<n>`, for a pattern that matches no type of the catalog.
 */
export function parsePatterns(catalogue: EventCatalogue, patterns: readonly string[]): string[] {
  const unknown = patterns.findIndex((pattern) => pattern !== '*' && !catalogue.isPattern(pattern));
  if (unknown !== -1) {
    throw badRequest(`events.${unknown}`, 'Unknown event type; see GET /me/webhooks/events.');
  }
  return patterns.includes('*') ? [] : [...new Set(patterns)];
}
