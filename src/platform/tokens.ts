import { hash, randomBytes } from 'node:crypto';

/** The secret part of a link in a mail or of a cookie: 256 random bits, 43 characters. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the stored hash of a token. */
export function hashSecret(token: string): Buffer {
  return Buffer.from(hash('sha256', token, 'hex'), 'hex');
}
