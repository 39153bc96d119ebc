import { join } from 'node:path';
import { suite } from 'node:test';
import { pathToFileURL } from 'node:url';
import { markChildren } from './orphan-processes.ts';

const ROOT = join(import.meta.dirname, '..');

let fileCount = 0;

/** Counts the test files that this process runs; 0 when it was started without the runner. */
export function filesInProcess(): number {
  return fileCount;
}

/**
 * Declares a suite for each file, so that the hooks of a file apply to its own tests.
 *
 * @param group path of the generated file that calls this function.
 */
export function runTogether(files: readonly string[], group: string): void {
  fileCount = files.length;
  markChildren(group);
  for (const file of files) {
    suite(file, async () => {
      await import(pathToFileURL(join(ROOT, file)).href);
    });
  }
}
