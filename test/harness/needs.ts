import { filesInProcess } from '../../scripts/test-process.ts';

/**
 * Declares that a test file needs a process of its own, because it measures or changes what a process has once
 * (memory, processor time, timers, environment). `scripts/test-groups.ts` reads the statement; files without it share
 * a process with other files.
 *
 * @throws {Error} when the file shares its process, because the runner did not recognize the statement.
 */
export function needsOwnProcess(): void {
  const count = filesInProcess();
  if (count > 1) throw new Error(`This file needs its own process but shares it with ${count - 1} others.`);
}
