import { join } from 'node:path';
import { suite } from 'node:test';
import { pathToFileURL } from 'node:url';
import { markChildren } from './test-leftovers.ts';

const ROOT = join(import.meta.dirname, '..');

/** Declares a suite for each file, so that its hooks are for its tests alone. @param group the file that runs them. */
export function runTogether(files: readonly string[], group: string): void {
  markChildren(group);
  for (const file of files) {
    suite(file, async () => {
      await import(pathToFileURL(join(ROOT, file)).href);
    });
  }
}
