import { Secret, TOTP } from 'otpauth';

const ISSUER = 'Marquee';
const PERIOD_SEC = 30;
/** Time steps before and after the current one whose codes are accepted, for clock skew. */
const WINDOW = 1;

/**
 * Returns TOTP parameters that every authenticator app supports (RFC 6238): SHA-1, six digits, 30 seconds.
 */
function totp(secret: string, label = ''): TOTP {
  return new TOTP({
    issuer: ISSUER,
    label,
    algorithm: 'SHA1',
    digits: 6,
    period: PERIOD_SEC,
    secret: Secret.fromBase32(secret),
  });
}

/** Returns 160 random bits in base32. */
export function newSecret(): string {
  return new Secret({ size: 20 }).base32;
}

/** Returns the URL for authenticator apps, usually shown as a QR code. */
export function otpauthUrl(secret: string, email: string): string {
  return totp(secret, email).toString();
}

export function isCode(code: string): boolean {
  return /^\d{6}$/.test(code);
}

/** @returns the time step of this code, or null. */
export function matchingTimeStep(secret: string, code: string, nowMs: number): number | null {
  const delta = totp(secret).validate({ token: code, timestamp: nowMs, window: WINDOW });
  return delta === null ? null : Math.floor(nowMs / 1000 / PERIOD_SEC) + delta;
}
