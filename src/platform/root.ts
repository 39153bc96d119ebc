import { findPackageJSON } from 'node:module';
import { basename, dirname, join } from 'node:path';

/** The checkout, whether this file runs as it is or in the bundle of `scripts/bootstrap/server.mjs`. */
export const ROOT = dirname(findPackageJSON(import.meta.url) ?? import.meta.dirname);

/**
 * The file of a program that runs in a process or a thread of its own.
 *
 * @param path of its source below the checkout, without `.ts`; the bundle has all programs in one folder.
 */
export function programFile(path: string): string {
  const isBundle = import.meta.filename.endsWith('.mjs');
  return isBundle ? join(import.meta.dirname, `${basename(path)}.mjs`) : join(ROOT, `${path}.ts`);
}
