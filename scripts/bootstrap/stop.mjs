import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The checkout. */
export const ROOT = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../..');

/** Ends the bootstrap with one line that states the remedy. */
export class Stop extends Error {}

/** The text of a file, or an empty one when there is none. */
export function readOr(path, fallback = '') {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return fallback;
  }
}

/** Reports whether the stamp shows that a step ran for exactly this state of its inputs. */
export function stamped(path, state) {
  return readOr(path) === state;
}

/** A stamp that cannot be written (read-only checkout) only costs time at the next start. */
export function stamp(path, state) {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, state);
  } catch {}
}
