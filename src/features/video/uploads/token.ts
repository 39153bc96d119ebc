import { hash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;

/** Generates the unguessable part of an `uploadUrl`. */
export function mintToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

export function hashToken(token: string): Buffer {
  return Buffer.from(hash('sha256', token, 'hex'), 'hex');
}
