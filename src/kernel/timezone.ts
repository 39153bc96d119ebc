import { badRequest } from './errors.ts';

/**
 * Validates and normalizes an IANA name: an offset would not follow daylight saving time. Aliases are
 * preserved (CLDR's canonical names are outdated: Asia/Calcutta, Europe/Kiev).
 *
 * @param field name of the request field.
 * @returns the name in IANA's spelling. @throws {AppError} BAD_REQUEST naming the field.
 */
export function normalizeTimezone(timezone: string, field = 'timezone'): string {
  try {
    const { timeZoneId: id } = Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(timezone);
    // It also reads times that name a zone.
    if (/^[A-Z]/.test(id) && id.toLowerCase() === timezone.toLowerCase()) return id;
  } catch {
    // The error is thrown below.
  }
  throw badRequest(field, `${field} must be an IANA time zone, such as Europe/Berlin.`);
}
