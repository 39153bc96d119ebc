import { parseEmail } from '../../../kernel/email.ts';
import { AppError, badRequest } from '../../../kernel/errors.ts';
import { toHostPattern } from '../../../kernel/hostname.ts';
import { isReserved } from '../../../kernel/reserved-names.ts';
import { toSingleLine } from '../../../kernel/single-line.ts';
import { normalizeTimezone } from '../../../kernel/timezone.ts';

/**
 * Returns the normalized form of an email address (docs/concepts/authentication.md#email-addresses).
 *
 * @throws {AppError} INVALID_EMAIL.
 */
export function normalizeEmail(email: string): string {
  const normal = parseEmail(email);
  if (normal === null) throw new AppError('INVALID_EMAIL', { field: 'email' });
  return normal;
}

/** Minimum password length in characters. */
export const PASSWORD_MIN = 12;

/** Length is the only rule (docs/concepts/authentication.md#registration). @throws {AppError} WEAK_PASSWORD. */
export function assertPassword(password: string, field = 'password'): void {
  if ([...password].length < PASSWORD_MIN) throw new AppError('WEAK_PASSWORD', { field });
}

/** Trimmed, on one line, at most 120 characters (docs/concepts/authentication.md#registration); blank is none. */
export function normalizeName(name: string | null): string | null {
  const normal = [...toSingleLine(name ?? '')].slice(0, 120).join('').trim();
  return normal === '' ? null : normal;
}

const USERNAME = /^[a-z0-9][a-z0-9_-]{1,38}$/;

/** @throws {AppError} BAD_REQUEST, field `username`. */
export function normalizeUsername(username: string): string {
  const normal = username.trim().toLowerCase();
  if (!USERNAME.test(normal)) {
    throw badRequest('username', 'username must be 2 to 39 characters: a-z, 0-9, "_" and "-".');
  }
  return normal;
}

/** @throws {AppError} BAD_REQUEST, field `username`, for a reserved name or a lookalike. */
export function assertNotReserved(username: string): void {
  if (isReserved(username)) throw badRequest('username', 'This username is reserved.');
}

/** Suggests an available username from the email address: `ada`, `ada-2`, … */
export function suggestUsername(email: string, taken: ReadonlySet<string>): string {
  const local = email.split('@')[0] ?? '';
  const stem = usernameStem(local);
  if (!taken.has(stem) && !isReserved(stem)) return stem;
  let number = 2;
  while (taken.has(`${stem}-${number}`)) number += 1;
  return `${stem}-${number}`;
}

/** Returns the stem of suggested usernames from the email address. */
export function usernameStem(local: string): string {
  const stem = local
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 30);
  return stem.length >= 2 ? stem : 'creator';
}

/**
 * Validates a profile patch; absent fields are unchanged.
 *
 * @throws {AppError} BAD_REQUEST naming the input.
 */
export function parseProfile<
  I extends {
    name?: string | null;
    username?: string;
    bio?: string | null;
    locale?: string;
    timezone?: string;
  },
>({ name, username, bio, locale, timezone }: I) {
  return {
    ...(name === undefined ? {} : { name: normalizeName(name) }),
    ...(username === undefined ? {} : { username: normalizeUsername(username) }),
    ...(bio === undefined ? {} : { bio: bio?.trim() === '' ? null : bio }),
    ...(locale === undefined ? {} : { locale: normaliseLocale(locale) }),
    ...(timezone === undefined ? {} : { timezone: normalizeTimezone(timezone) }),
  };
}

function normaliseLocale(locale: string): string {
  try {
    const [canonical] = Intl.getCanonicalLocales(locale);
    if (canonical !== undefined) return canonical;
  } catch {
    // The error is thrown below.
  }
  throw badRequest('locale', 'locale must be a BCP 47 language tag, such as en-GB.');
}

/**
 * Normalizes host names and `*.example.com` patterns, without duplicates.
 *
 * @throws {AppError} BAD_REQUEST, field `domains.<n>`.
 */
export function parseEmbedDomains(domains: readonly string[]): string[] {
  const patterns = domains.map((domain, index) => {
    const pattern = toHostPattern(domain);
    if (pattern === null) throw badRequest(`domains.${index}`, `${domain} is not a valid hostname.`);
    return pattern;
  });
  return [...new Set(patterns)];
}
