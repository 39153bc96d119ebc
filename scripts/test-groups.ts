import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './program.ts';

/** Files that start whole programs, or take the machine or minutes: they have little to load. */
const OWN_PROCESS = /^e2e\/|[.](?:alone|full)[.]test[.]ts$/;
/** The statement of `test/harness/needs.ts`. */
const DECLARES_OWN_PROCESS = /^needsOwnProcess\(\);$/m;
const MAX_FILES = 12;
/** Minimum of groups for each process that runs at a time, so that the last ones end at about the same time. */
const MIN_ROUNDS = 4;

/**
 * Groups files that share a process: loading the program takes a second of processor time, more than most
 * files need for their tests. Neighbors go to different groups, because files of one folder are often equally
 * slow. Files with a separate process mostly wait, so they alternate with groups, which are mostly CPU-bound.
 */
export function groupsOf(files: readonly string[], concurrency: number): string[][] {
  const isOwn = (file: string) =>
    OWN_PROCESS.test(file) || DECLARES_OWN_PROCESS.test(readFileSync(join(ROOT, file), 'utf8'));
  const own = files.filter(isOwn);
  const shared = files.filter((file) => !own.includes(file));
  const size = Math.max(1, Math.min(MAX_FILES, Math.ceil(shared.length / (concurrency * MIN_ROUNDS))));
  const count = Math.ceil(shared.length / size);
  const groups = Array.from({ length: count }, (_, index) =>
    shared.filter((_, position) => position % count === index),
  );
  return Array.from({ length: Math.max(own.length, count) }, (_, index) => [
    ...own.slice(index, index + 1).map((file) => [file]),
    ...groups.slice(index, index + 1),
  ]).flat();
}

/** Writes a test file that runs `files` in its process, as number `index` of the run (the runner sorts by name). */
export function writeGroup(folder: string, index: number, files: readonly string[]): string {
  const path = join(folder, `${String(index).padStart(3, '0')}.mjs`);
  const runner = pathToFileURL(join(import.meta.dirname, 'test-process.ts')).href;
  writeFileSync(
    path,
    `import { runTogether } from '${runner}';\nrunTogether(${JSON.stringify(files)}, import.meta.filename);\n`,
  );
  return path;
}
