import type { JobWorker } from '../../src/jobs/job.ts';
import type { Container } from '../../src/main/container.ts';

/** Who does the job of this name in the worker role. */
export function jobWorker({ parts }: Container, name: string): JobWorker {
  const found = parts.flatMap((part) => part.jobs?.() ?? []).find(({ job }) => job.name === name);
  if (found === undefined) throw new Error(`nobody does the job ${name}`);
  return found;
}

/** Runs what the worker role repeats under this name, once. */
export async function runTask({ parts }: Container, name: string): Promise<void> {
  const found = parts.flatMap((part) => part.tasks?.() ?? []).find((task) => task.name === name);
  if (found === undefined) throw new Error(`there is no task "${name}"`);
  await found.run();
}
