import type { EventCatalogue } from '../../../events/catalogue.ts';
import { badRequest } from '../../../kernel/errors.ts';

/**
 * Patterns as they are stored: each once, and nothing at all for `*`, which is every type.
 *
 * @throws {AppError} BAD_REQUEST, field `events.<n>`, for what matches no type of the catalogue.
 */
export function parsePatterns(catalogue: EventCatalogue, patterns: readonly string[]): string[] {
  const unknown = patterns.findIndex((pattern) => pattern !== '*' && !catalogue.isPattern(pattern));
  if (unknown !== -1) {
    throw badRequest(`events.${unknown}`, 'Unknown event type; see GET /me/webhooks/events.');
  }
  return patterns.includes('*') ? [] : [...new Set(patterns)];
}
