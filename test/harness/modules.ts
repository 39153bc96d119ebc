import type { JobWorker } from '../../src/jobs/job.ts';
import type { Container } from '../../src/main/container.ts';
import type { TestApp } from './app.ts';
import { waitFor } from './wait-for.ts';

/** Returns the worker of the job with this name in the worker role. */
export function jobWorker({ modules }: Container, name: string): JobWorker {
  const found = modules.flatMap((module) => module.jobs?.() ?? []).find(({ job }) => job.name === name);
  if (found === undefined) throw new Error(`nobody does the job ${name}`);
  return found;
}

/** Runs the worker's periodic task of this name once. */
export async function runTask({ modules }: Container, name: string): Promise<void> {
  const found = modules.flatMap((module) => module.tasks?.() ?? []).find((task) => task.name === name);
  if (found === undefined) throw new Error(`there is no task "${name}"`);
  await found.run();
}

/** Waits until the buffered request logs and usage events of all previous calls are in the database. */
export async function requestsWritten(app: TestApp): Promise<void> {
  const { sql } = app.container;
  const { id, key } = await app.createKey();
  // The last of them, and a failure, which is always taken down.
  (await app.request('GET', '/videos/vid_none', { key })).assertError('NOT_FOUND');
  const seen = async () => {
    const rows = await sql`
      select 1 from request_log join usage_event on usage_event.key_id = request_log.key_id and usage_event.kind = 'REQUEST'
      where request_log.key_id = ${id}`;
    return rows.length > 0;
  };
  await waitFor(seen, { message: 'what was gathered of requests' });
}
