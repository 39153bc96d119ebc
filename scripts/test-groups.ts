import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './program.ts';

/** Files that start whole programs, or take the machine or minutes: they have little to load. */
const OWN_PROCESS = /^e2e\/|[.](?:alone|full)[.]test[.]ts$/;
/** The statement of `test/harness/needs.ts`. */
const DECLARES_OWN_PROCESS = /^needsOwnProcess\(\);$/m;
/** Files that share a browser with the others of their process. */
const IN_BROWSER = /^test\/(?:browser|dashboard)\//;
const MAX_FILES = 20;
/** Fewer, because these files take long. */
const MAX_BROWSER_FILES = 5;
/** Minimum of groups for each process that runs at a time, so that the last ones end at about the same time. */
const MIN_ROUNDS = 4;

/**
 * Groups files that share a process: loading the program takes a second of processor time, more than most
 * files need for their tests. Files with a separate process and those in a browser take longest and mostly
 * wait, so they are mixed with the other groups, which are mostly CPU-bound.
 */
export function groupsOf(files: readonly string[], concurrency: number): string[][] {
  const isOwn = (file: string) =>
    OWN_PROCESS.test(file) || DECLARES_OWN_PROCESS.test(readFileSync(join(ROOT, file), 'utf8'));
  const own = files.filter(isOwn);
  const shared = files.filter((file) => !own.includes(file));
  const inBrowser = shared.filter((file) => IN_BROWSER.test(file));
  const others = shared.filter((file) => !IN_BROWSER.test(file));
  const browserGroups = split(inBrowser, Math.min(MAX_BROWSER_FILES, inBrowser.length / concurrency));
  const long = [...browserGroups, ...own.map((file) => [file])];
  const short = split(others, Math.min(MAX_FILES, others.length / (concurrency * MIN_ROUNDS)));
  return [...spread(long), ...spread(short)]
    .toSorted((a, b) => a.position - b.position)
    .map(({ group }) => group);
}

/** Splits the files so that neighbors are in different groups: files of one folder are often equally slow. */
function split(files: readonly string[], size: number): string[][] {
  const count = Math.ceil(files.length / Math.max(1, Math.ceil(size)));
  return Array.from({ length: count }, (_, index) =>
    files.filter((_file, position) => position % count === index),
  );
}

/** Gives the groups positions from 0 to 1, to mix them with others. */
function spread(groups: readonly string[][]) {
  return groups.map((group, index) => ({ group, position: index / groups.length }));
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
