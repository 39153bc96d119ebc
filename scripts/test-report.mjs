/**
 * A reporter of node:test that writes lines of JSON. One for every file that ended: its seconds, and the tests that failed;
 * `run-tests.ts` reads them for the slowest files and for what is tried again. And one with `group` whenever a test begins
 * or ends, as it happens, for `test-guard.ts`: which file has `ended` with it, and whether its process is over.
 */
import { join, relative } from 'node:path';

/** Declares a suite for each file of a process. */
const GROUP = join(import.meta.dirname, 'test-process.ts');

export default async function* report(source) {
  /** @type {Map<string, string[]>} */
  const failures = new Map();
  for await (const { type, data } of source) {
    if (type === 'test:dequeue' || type === 'test:complete') yield sign(type, data);
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const isFile = data.file === GROUP;
    const file = isFile ? data.name : relative(process.cwd(), data.file ?? data.name);
    // Parents of a failed test fail as well; the innermost says what happened.
    if (type === 'test:fail' && data.details?.error?.failureType !== 'subtestsFailed') {
      failures.set(file, [...(failures.get(file) ?? []), `${file}:${data.line ?? 0}  ${data.name}`]);
    }
    if (!isFile) continue;
    const failed = failures.get(file) ?? [];
    yield line({ file, ms: data.details.duration_ms, failed, ok: type === 'test:pass' });
  }
}

function sign(type, { entryFile, file, name }) {
  const isEnd = type === 'test:complete';
  // What is not out of a process is the process itself, by the path of its group.
  if (entryFile === undefined) return line({ group: name, isOver: isEnd });
  return line({ group: entryFile, ended: isEnd && file === GROUP ? name : undefined });
}

function line(value) {
  return `${JSON.stringify(value)}\n`;
}
