import { badRequest } from './errors.ts';

/**
 * IANA names only: an offset would not follow the change to summer time.
 *
 * @param field where it was given.
 * @returns its canonical form. @throws {AppError} BAD_REQUEST naming the field.
 */
export function normaliseTimezone(timezone: string, field = 'timezone'): string {
  try {
    if (/^[A-Za-z]/.test(timezone)) {
      return new Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions().timeZone;
    }
  } catch {
    // Said below.
  }
  throw badRequest(field, `${field} is an IANA name such as Europe/Berlin.`);
}
