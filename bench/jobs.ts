/**
 * Measures the job queue: jobs enqueued and finished per second against the same number of rows that are
 * inserted and updated twice, jobs finished per second while another group has a long backlog, and the
 * queries of an idle worker.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { startJobWorkers } from '../src/jobs/worker.ts';
import { createTestDatabase } from '../test/harness/database.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { labelJob, openQueue } from '../test/jobs/fixture.ts';
import { isQuick, median, report } from './support/report.ts';

const ROUNDS = isQuick ? 3 : 5;
const JOBS = isQuick ? 1000 : 2000;
const BACKLOG = 10_000;
const BACKLOG_JOBS = 200;
const CONCURRENCY = 8;
const IDLE_SEC = 10;

const job = labelJob('bench.work');
const database = await createTestDatabase();
const open = await openQueue(database.url, [job]);

/** Calls `work` once for each number below `count`, `CONCURRENCY` at a time, and returns the calls per second. */
async function rateOf(count: number, work: (index: number) => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
  return (count * 1000) / (performance.now() - startedAt);
}

const enqueue = (index: number, group: string) =>
  open.db.transaction().execute((tx) => open.jobs.enqueue(tx, job, { label: `${index}` }, { group }));

/** Runs jobs until `count` have finished, and returns the jobs per second. */
async function finishRate(count: number): Promise<number> {
  let finished = 0;
  const run = async () => void finished++;
  const startedAt = performance.now();
  const workers = startJobWorkers(open.workersOf([{ job, concurrency: CONCURRENCY, run }]));
  await waitFor(() => finished >= count, { timeoutMs: 120_000, intervalMs: 2 });
  const seconds = (performance.now() - startedAt) / 1000;
  await workers.stop();
  return finished / seconds;
}

async function rowRate(count: number): Promise<number> {
  const update = (index: number, state: string) =>
    sql`update bench_row set state = ${state} where id = ${index}`.execute(open.db);
  const rate = await rateOf(count, async (index) => {
    await sql`insert into bench_row (id, state) values (${index}, 'waiting')`.execute(open.db);
    await update(index, 'active');
    await update(index, 'completed');
  });
  await sql`truncate bench_row`.execute(open.db);
  return rate;
}

async function throughput(): Promise<void> {
  await sql`create table bench_row (id integer primary key, state text not null)`.execute(open.db);
  const rates: { enqueue: number; finish: number; ratio: number }[] = [];
  for (let round = -1; round < ROUNDS; round++) {
    const raw = await rowRate(JOBS);
    const enqueued = await rateOf(JOBS, (index) => enqueue(index, `group ${index % 10}`));
    const finished = await finishRate(JOBS);
    // The first round warms up.
    if (round < 0) continue;
    rates.push({ enqueue: enqueued, finish: finished, ratio: 1 / (1 / enqueued + 1 / finished) / raw });
  }
  const of = (name: 'enqueue' | 'finish' | 'ratio') => median(rates.map((rate) => rate[name]));
  report({ name: 'jobs enqueued', value: of('enqueue'), unit: 'jobs/s', target: '>= 500' });
  report({ name: 'jobs finished', value: of('finish'), unit: 'jobs/s', target: '>= 200' });
  report({ name: 'jobs against bare rows', value: of('ratio'), unit: 'ratio', target: '>= 0.06' });
}

async function backlog(): Promise<void> {
  await rateOf(BACKLOG, (index) => enqueue(index, 'large'));
  await rateOf(BACKLOG_JOBS, (index) => enqueue(index, 'small'));
  const rate = await finishRate(BACKLOG_JOBS);
  report({ name: 'jobs finished with a backlog of 10,000', value: rate, unit: 'jobs/s', target: '>= 100' });
}

/** Counts the statements of a worker whose queue is empty. */
async function idle(): Promise<void> {
  let count = 0;
  const counting = open.db.withPlugin({
    transformQuery({ node }) {
      count++;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const run = async () => {};
  const options = open.workersOf([{ job, concurrency: CONCURRENCY, run }]);
  const workers = startJobWorkers({ ...options, db: counting });
  await sleep(1000);
  count = 0;
  await sleep(IDLE_SEC * 1000);
  const rate = count / IDLE_SEC;
  await workers.stop();
  report({ name: 'statements of an idle worker', value: rate, unit: '1/s', target: '<= 3' });
}

await throughput();
await backlog();
await database.sql`truncate job, job_turn`;
await idle();
await open.close();
await database.close();
