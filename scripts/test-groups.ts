import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './program.ts';

/** They load the whole program for a few seconds of tests; the others are about processes, pictures and browsers. */
const SHARING = /^(?:src\/(?!media\/)|scripts\/|web\/)/;
/** What takes the machine, or minutes. */
const ALONE = /[.](?:alone|full)[.]test[.]ts$/;
/** What a test changes or measures of its whole process. */
const PROCESS_WIDE = /memoryUsage|cpuUsage|mock\.timers|process\.env\.\w+ = |process\.chdir|globalThis/;
const MOST = 16;
/** Groups for each process that runs at a time, at least: the last ones end at about the same time. */
const ROUNDS = 4;

/**
 * Which files share a process: to load the program takes a second of processor time, more than most of them need
 * for their tests. Each has hooks and a database for itself. Those that do not share are longer, and begin first.
 */
export function groupsOf(files: readonly string[], concurrency: number): string[][] {
  const shares = (file: string) =>
    SHARING.test(file) && !ALONE.test(file) && !PROCESS_WIDE.test(readFileSync(join(ROOT, file), 'utf8'));
  const sharing = files.filter(shares);
  const size = Math.max(1, Math.min(MOST, Math.ceil(sharing.length / (concurrency * ROUNDS))));
  const groups = Array.from({ length: Math.ceil(sharing.length / size) }, (_, index) =>
    sharing.slice(index * size, (index + 1) * size),
  );
  return [...files.filter((file) => !sharing.includes(file)).map((file) => [file]), ...groups];
}

/** Makes a test file that runs these in its process, as number `index` of the run (it sorts them by name). */
export function writeGroup(folder: string, index: number, files: readonly string[]): string {
  const path = join(folder, `${String(index).padStart(3, '0')}.mjs`);
  const runner = pathToFileURL(join(import.meta.dirname, 'test-process.ts')).href;
  writeFileSync(
    path,
    `import { runTogether } from '${runner}';\nrunTogether(${JSON.stringify(files)}, import.meta.filename);\n`,
  );
  return path;
}
