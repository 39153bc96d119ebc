import { filesInProcess } from '../../scripts/test-process.ts';

/**
 * Declares that a test file needs a separate process, because it measures or changes process-wide state
 * (memory, processor time, timers, environment). `scripts/test-groups.ts` reads the statement; files without
 * it share a process.
 */
export function needsOwnProcess(): void {
  const count = filesInProcess();
  if (count > 1) throw new Error(`This file needs its own process but shares it with ${count - 1} others.`);
}
