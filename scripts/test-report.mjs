/**
 * A reporter of node:test that writes one line of JSON for every file: its seconds, and the tests that failed.
 * `run-tests.ts` reads them for the slowest files and for what is tried again.
 */
import { relative } from 'node:path';

export default async function* report(source) {
  /** @type {Map<string, string[]>} */
  const failures = new Map();
  const nameOf = (file) => relative(process.cwd(), file ?? '');
  for await (const { type, data } of source) {
    // Parents of a failed test fail as well; the innermost says what happened.
    if (type === 'test:fail' && data.details?.error?.failureType !== 'subtestsFailed') {
      const file = nameOf(data.file ?? data.name);
      failures.set(file, [...(failures.get(file) ?? []), `${file}:${data.line ?? 0}  ${data.name}`]);
    }
    if (type === 'test:summary' && data.file !== undefined) {
      const file = nameOf(data.file);
      yield `${JSON.stringify({ file, ms: data.duration_ms, failed: failures.get(file) ?? [], ok: data.success })}\n`;
      failures.delete(file);
    }
  }
  // Files that ended without a summary: killed, or broken before their first test.
  for (const [file, failed] of failures) yield `${JSON.stringify({ file, ms: 0, failed, ok: false })}\n`;
}
