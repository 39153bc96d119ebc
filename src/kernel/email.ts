import { toHostname } from './hostname.ts';

/** A dot-atom (RFC 5322, section 3.2.3), with the letters and digits of every script (RFC 6532). */
const LOCAL = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const MAX_LENGTH = 254;
const MAX_LOCAL_BYTES = 64;
/** Composed it is shorter: a letter with its marks is one. */
const MAX_UNITS = 4 * MAX_LENGTH;

/**
 * Normalizes an email address: trimmed, lower-cased, composed (NFC), its domain in punycode. Returns null for
 * an invalid address, for a domain without a dot, and for forms that no personal mailbox has: quoted local
 * parts, comments and IP address literals (docs/concepts/authentication.md#email-addresses).
 */
export function parseEmail(text: string): string | null {
  const typed = text.trim();
  // To put marks in order takes the square of their number.
  if (typed.length > MAX_UNITS) return null;
  const normal = typed.normalize('NFC').toLowerCase();
  const at = normal.lastIndexOf('@');
  if (at < 1) return null;
  const local = normal.slice(0, at);
  const domain = toHostname(normal.slice(at + 1));
  if (domain === null || !domain.includes('.') || normal.endsWith('.')) return null;
  if (!LOCAL.test(local) || Buffer.byteLength(local) > MAX_LOCAL_BYTES) return null;
  const email = `${local}@${domain}`;
  return email.length <= MAX_LENGTH ? email : null;
}

/**
 * Normalizes an address for a lookup (docs/concepts/authentication.md#registration): as it was stored.
 * Returns null when it cannot belong to an account.
 */
export function lookupEmail(email: string): string | null {
  const normal = parseEmail(email) ?? email.trim().toLowerCase();
  return normal === '' || normal.length > MAX_LENGTH || normal.includes('\0') ? null : normal;
}
