/**
 * Reporter of node:test that writes lines of JSON. One line per ended file has its seconds and failed tests;
 * `run-tests.ts` uses it for the slowest files and for retries. One line with `group` whenever a test begins
 * or ends, for `test-guard.ts`: which file has `ended` with it, and whether its process has exited.
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
    // Parents of a failed test fail as well; the innermost has the error.
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
  // An event without an entry file is about the process itself, named by the path of its group.
  if (entryFile === undefined) return line({ group: name, isOver: isEnd });
  return line({ group: entryFile, ended: isEnd && file === GROUP ? name : undefined });
}

function line(value) {
  return `${JSON.stringify(value)}\n`;
}
