import { randomInt } from 'node:crypto';

/** Alphabet without letters that are mistaken for digits. */
const RECOVERY_ALPHABET = 'abcdefghjkmnpqrstvwxyz23456789';
const RECOVERY_LENGTH = 10;
const RECOVERY_CODES = 10;

/** Returns ten different codes such as `k3v9x-2m7qa`, 49 bits each. */
export function newRecoveryCodes(): string[] {
  const codes = new Set<string>();
  while (codes.size < RECOVERY_CODES) {
    const letters = Array.from({ length: RECOVERY_LENGTH }, () =>
      RECOVERY_ALPHABET.charAt(randomInt(RECOVERY_ALPHABET.length)),
    ).join('');
    codes.add(`${letters.slice(0, 5)}-${letters.slice(5)}`);
  }
  return [...codes];
}

/** Normalizes a typed code: without spaces and dashes, in lower case. */
export function normaliseCode(code: string): string {
  return code.slice(0, 64).replace(/[\s-]/g, '').toLowerCase();
}
