import { badRequest } from './errors.ts';

/**
 * IANA names only: an offset would not follow the change to summer time.
 *
 * @returns its canonical form. @throws {AppError} BAD_REQUEST, field `timezone`.
 */
export function normaliseTimezone(timezone: string): string {
  try {
    if (/^[A-Za-z]/.test(timezone)) {
      return new Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions().timeZone;
    }
  } catch {
    // Said below.
  }
  throw badRequest('timezone', 'timezone is an IANA name such as Europe/Berlin.');
}
