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

/** Defines a test job whose payload is a label. */
export function labelJob(name: string, retrySec: number[] = []) {
  return defineJob({ name, payload: Label, retrySec });
}

/** Opens a queue and its dependencies on a test database. */
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
    /** Returns the options of `startJobWorkers`. */
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
  failed: number;
  lost: number;
  error: string | null;
}

export async function jobRows(db: Db): Promise<JobRow[]> {
  const { rows } = await sql<JobRow>`select name, payload ->> 'label' as label, state, failed_count as failed,
      lost_count as lost, error
    from job order by created_at`.execute(db);
  return rows;
}
