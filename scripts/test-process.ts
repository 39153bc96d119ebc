import { join } from 'node:path';
import { suite } from 'node:test';
import { pathToFileURL } from 'node:url';

const ROOT = join(import.meta.dirname, '..');

/** Declares a suite for each file, so that its hooks are for its tests alone. */
export function runTogether(files: readonly string[]): void {
  for (const file of files) {
    suite(file, async () => {
      await import(pathToFileURL(join(ROOT, file)).href);
    });
  }
}
