import { sql } from 'kysely';
import Type from 'typebox';
import { defineJob, type JobDefinition, type JobRun, type JobWorker } from '../../src/jobs/job.ts';
import { createJobQueue } from '../../src/jobs/queue.ts';
import type { JobWorkersOptions } from '../../src/jobs/worker.ts';
import { type Bus, createBus } from '../../src/platform/bus.ts';
import { type Db, openDatabase } from '../../src/platform/db/index.ts';
import { createLogger } from '../../src/platform/logger.ts';

export const Label = Type.Object({ label: Type.String() });
export type LabelRun = JobRun<{ label: string }>;

/** A job of the tests: its payload is a label. */
export function labelJob(name: string, retrySec: number[] = []) {
  return defineJob({ name, payload: Label, retrySec });
}

/** The parts around a queue on a database of the test's. */
export async function openQueue(url: string, definitions: readonly JobDefinition[]) {
  const { db, sql: driver, close } = openDatabase({ url, pool: 4, name: 'jobs test' });
  const log = createLogger('silent', { process: 'test' });
  const bus: Bus = await createBus(driver, log);
  const jobs = createJobQueue({ bus, definitions });
  return {
    db,
    sql: driver,
    bus,
    jobs,
    /** What `startJobWorkers` takes. */
    workersOf: (workers: readonly JobWorker[]): JobWorkersOptions => ({
      db,
      jobs,
      bus,
      log,
      workers,
      metrics: { job: () => {}, jobDepths: () => {} },
    }),
    async close() {
      await bus.close();
      await close();
    },
  };
}

export interface JobRow {
  name: string;
  label: string;
  state: string;
  output: { failed: number; lost: number; error?: string } | null;
}

export async function jobRows(db: Db): Promise<JobRow[]> {
  const { rows } = await sql<JobRow>`select name, data ->> 'label' as label, state::text, output
    from pgboss.job order by created_on`.execute(db);
  return rows;
}
