import { badRequest } from './errors.ts';

/**
 * IANA names only: an offset would not follow the change to summer time. One of several names of a zone stays (CLDR's
 * canonical ones are old: Asia/Calcutta, Europe/Kiev).
 *
 * @param field where it was given.
 * @returns it in the letters of IANA. @throws {AppError} BAD_REQUEST naming the field.
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
