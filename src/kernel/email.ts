const SHAPE = /^[^\s@"(),:;<>[\\\]]+@[^\s@.]+(\.[^\s@.]+)+$/;
const MAX_LENGTH = 254;

/** An e-mail address, trimmed and lower-cased; null for what is none (docs/api/authentication.md#registration). */
export function parseEmail(text: string): string | null {
  const email = text.trim().toLowerCase();
  return email.length <= MAX_LENGTH && SHAPE.test(email) ? email : null;
}
