import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ERRORS } from '../src/kernel/errors.ts';
import { ROOT, type Step } from './program.ts';

/** Returns the documented promises: every error code and every event type. */
function promised(): string[] {
  const document: unknown = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8'));
  return [...Object.keys(ERRORS), ...Object.keys(Object(document).webhooks)];
}

/**
 * Checks after all tests that every error code was returned and every event was emitted. The test processes
 * record both in a folder (`test/harness/contract-coverage.ts`).
 */
export function contractCoverageStep(): Step {
  const folder = mkdtempSync(join(tmpdir(), 'marquee-seen-'));
  process.env.MARQUEE_SEEN = folder;
  return {
    name: 'codes and events',
    async run() {
      const seen = new Set(
        readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n')),
      );
      rmSync(folder, { recursive: true });
      const missing = promised().filter((name) => !seen.has(name));
      return missing.length === 0 ? null : `: no test causes ${missing.join(', ')}`;
    },
  };
}
