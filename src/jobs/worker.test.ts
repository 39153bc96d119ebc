import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { sql } from 'kysely';
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { until } from '../../test/harness/wait.ts';
import { jobRows, type LabelRun, labelJob, openQueue } from '../../test/jobs/fixture.ts';
import { type EnqueueOptions, JobAbandoned, JobPostponed, JobStopped } from './job.ts';
import { depths, forgetTurns, isUnattended } from './store.ts';
import { giveBackJobs, type JobWorkers, startJobWorkers } from './worker.ts';

const job = labelJob('test.work', [0, 0]);
let database: TestDatabase;
let open: Awaited<ReturnType<typeof openQueue>>;
let workers: JobWorkers | null = null;

before(async () => {
  database = await createTestDatabase();
  open = await openQueue(database.url, [job]);
});
afterEach(async () => {
  await workers?.stop();
  workers = null;
  await database.sql`delete from pgboss.job`;
  await database.sql`delete from job_turn`;
});
after(async () => {
  await open.close();
  await database.close();
});

async function enqueue(label: string, options: EnqueueOptions = {}): Promise<void> {
  const { tx } = await open.db.transaction().execute(async (tx) => {
    await open.jobs.enqueue(tx, job, { label }, options);
    return { tx };
  });
  open.jobs.committed(tx);
}

/** A run that waits for `end`, or for its signal when `end` is not given. */
interface Held extends LabelRun {
  end(error?: Error): void;
}

/** So far apart that no test lives to see the second: what starts, starts by a hint. */
const NO_POLLS = { pollMs: 600_000 };

/** Starts a worker whose runs the test ends by hand. */
function hold(concurrency = 1, options: { pollMs?: number } = {}): Held[] {
  const held: Held[] = [];
  const run = (given: LabelRun) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    held.push({ ...given, end: (error) => (error === undefined ? resolve() : reject(error)) });
    given.signal.addEventListener('abort', () => reject(given.signal.reason));
    return promise;
  };
  workers = startJobWorkers({ ...open.workersOf([{ job, concurrency, run }]), drainMs: 5000, ...options });
  return held;
}

/** Runs everything that waits, one job at a time. @returns the labels in order. */
async function order(count: number): Promise<string[]> {
  const seen: string[] = [];
  const run = async ({ payload }: LabelRun) => void seen.push(payload.label);
  workers = startJobWorkers(open.workersOf([{ job, concurrency: 1, run }]));
  await until(() => seen.length === count, { message: () => `${count} runs, had ${seen.join(' ')}` });
  return seen;
}

const row = async () => (await jobRows(open.db))[0];
const inState = (state: string) =>
  until(async () => (await row())?.state === state && row(), { message: `a job that is ${state}` });

test('a committed job starts at once and is completed', async () => {
  const held = hold(1, NO_POLLS);
  await enqueue('now');
  const run = await until(() => held[0]);
  assert.deepEqual([run.payload.label, run.attempt, run.isLast, run.lost], ['now', 1, false, 0]);
  run.end();
  assert.deepEqual((await inState('completed'))?.output, { failed: 0, lost: 0 });
});

test('a job that waits for its time is found without a hint', async () => {
  const held = hold();
  await enqueue('later', { delaySec: 0.3 });
  assert.equal((await until(() => held[0])).payload.label, 'later');
});

test('no more run at once than the worker allows, and a place that gets free is filled at once', async () => {
  for (const label of ['a', 'b', 'c']) await enqueue(label);
  const held = hold(2, NO_POLLS);
  await until(() => held.length === 2);
  await enqueue('d');
  assert.equal(held.length, 2);
  held[0]?.end();
  await until(() => held.length === 3);
});

test('a failure is tried again after each pause, then the job has failed with its last error', async () => {
  const held = hold();
  await enqueue('bad');
  for (const attempt of [1, 2, 3]) {
    const run = await until(() => held[attempt - 1]);
    assert.deepEqual([run.attempt, run.isLast], [attempt, attempt === 3]);
    run.end(new Error(`failure ${attempt} with \u0000`));
  }
  const { output } = (await inState('failed')) ?? {};
  assert.equal(output?.failed, 3);
  assert.match(output?.error ?? '', /failure 3 with/);
});

test('an abandoned job fails at once; a postponed one does not count', async () => {
  const held = hold();
  await enqueue('x');
  (await until(() => held[0])).end(new JobPostponed('the disk is full', 0.1));
  const again = await until(() => held[1]);
  assert.equal(again.attempt, 1);
  again.end(new JobAbandoned('no try could succeed'));
  assert.equal((await inState('failed'))?.output?.failed, 1);
  assert.equal(held.length, 2);
});

test('fifty jobs of one group do not keep another group waiting', async () => {
  for (let i = 0; i < 50; i++) await enqueue(`a${i}`, { group: 'A' });
  for (let i = 0; i < 3; i++) await enqueue(`b${i}`, { group: 'B' });
  const seen = await order(53);
  assert.deepEqual(
    [seen.indexOf('b0'), seen.indexOf('b1'), seen.indexOf('b2')].map((at, i) => at <= 2 * i + 1),
    [true, true, true],
    seen.join(' '),
  );
  assert.deepEqual(
    seen.filter((label) => label.startsWith('a')),
    Array.from({ length: 50 }, (_, i) => `a${i}`),
  );
});

test('a group that comes late takes turns at once, and has no turns saved up', async () => {
  for (let i = 0; i < 8; i++) await enqueue(`a${i}`, { group: 'A' });
  const held = hold();
  for (let i = 0; i < 4; i++) (await until(() => held[i])).end();
  await until(() => held[4]);
  for (let i = 0; i < 3; i++) await enqueue(`b${i}`, { group: 'B' });
  for (let i = 4; i < 11; i++) (await until(() => held[i])).end();
  assert.deepEqual(
    held.slice(5).map(({ payload }) => payload.label),
    ['b0', 'a5', 'b1', 'a6', 'b2', 'a7'],
  );
});

test('a higher priority comes first in its group, and gets more turns between groups', async () => {
  for (let i = 0; i < 4; i++) await enqueue(`free${i}`, { group: 'F' });
  await enqueue('low', { group: 'P', priority: 2 });
  for (let i = 0; i < 6; i++) await enqueue(`pro${i}`, { group: 'P', priority: 3 });
  const seen = await order(11);
  assert.equal(seen[0], 'pro0');
  assert.ok(seen.indexOf('low') > seen.indexOf('pro5'), seen.join(' '));
  assert.ok(seen.indexOf('free0') < 3 && seen.indexOf('free1') < 8, seen.join(' '));
  assert.ok(seen.indexOf('free1') > seen.indexOf('pro3'), seen.join(' '));
});

test('a running job that is cancelled is told, and what it does is not recorded', async () => {
  const held = hold();
  await enqueue('x', { key: 'k' });
  const run = await until(() => held[0]);
  const tx = await open.db.transaction().execute(async (inner) => {
    await open.jobs.cancel(inner, job, 'k');
    return inner;
  });
  open.jobs.committed(tx);
  await until(() => run.signal.aborted, { timeoutMs: 1000 });
  assert.equal(run.signal.reason.reason, 'cancelled');
  await assert.rejects(
    open.db.transaction().execute((inner) => run.confirm(inner)),
    JobStopped,
  );
  assert.equal((await row())?.state, 'cancelled');
});

test('a cancellation is heard of without its hint', async () => {
  const held = hold();
  await enqueue('x', { key: 'k' });
  const run = await until(() => held[0]);
  await open.db.transaction().execute((tx) => open.jobs.cancel(tx, job, 'k'));
  await until(() => run.signal.aborted, { timeoutMs: 3000 });
});

test('stop tells the runs, and gives their jobs back without counting', async () => {
  const held = hold();
  await enqueue('x');
  const first = await until(() => held[0]);
  await workers?.stop();
  assert.equal(first.signal.reason.reason, 'shutdown');
  assert.deepEqual((await row())?.output, { failed: 0, lost: 0 });
  const again = hold();
  assert.deepEqual((({ attempt, lost }) => [attempt, lost])(await until(() => again[0])), [1, 0]);
});

test('a run that ignores the stop loses its job, and a run that ends well meanwhile does not', async () => {
  let ends = 0;
  const run = async ({ payload, signal }: LabelRun) => {
    if (payload.label === 'stuck') return new Promise<void>(() => {});
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    ends++;
  };
  workers = startJobWorkers({ ...open.workersOf([{ job, concurrency: 2, run }]), drainMs: 200 });
  await enqueue('stuck');
  await enqueue('done');
  await until(async () => (await jobRows(open.db)).every(({ state }) => state === 'active'));
  await workers.stop();
  assert.equal(ends, 1);
  assert.deepEqual(
    (await jobRows(open.db)).map(({ label, state }) => [label, state]),
    [
      ['stuck', 'retry'],
      ['done', 'completed'],
    ],
  );
});

test('a run whose job was taken over is told, cannot confirm, and changes nothing', async () => {
  const held = hold();
  await enqueue('x');
  const first = await until(() => held[0]);
  await open.db.transaction().execute((tx) => first.confirm(tx));
  // As another node does when it has not heard of this one for the length of a lease.
  await giveBackJobs(open.db);
  await assert.rejects(
    open.db.transaction().execute((tx) => first.confirm(tx)),
    (error: unknown) => error instanceof JobStopped && error.reason === 'lost',
  );
  const second = await until(() => held[1]);
  assert.deepEqual([second.attempt, second.lost], [1, 1]);
  first.end();
  await open.db.transaction().execute((tx) => second.confirm(tx));
  assert.equal((await row())?.state, 'active');
  second.end();
  await inState('completed');
});

test('a payload that its definition no longer accepts fails the job', async () => {
  await enqueue('x');
  await sql`update pgboss.job set data = '{"label": 5}'`.execute(open.db);
  const held = hold();
  assert.match((await inState('failed'))?.output?.error ?? '', /payload\.label must be string/);
  assert.equal(held.length, 0);
});

test('a queue whose due jobs nobody takes is seen, one with a job in hand is not', async () => {
  const wait = (label: string, seconds: number) =>
    sql`update pgboss.job set start_after = now() - make_interval(secs => ${seconds})
      where data ->> 'label' = ${label}`.execute(open.db);
  await enqueue('a');
  await enqueue('b');
  await wait('b', 59);
  assert.equal(await isUnattended(open.db), false);
  await wait('b', 61);
  assert.equal(await isUnattended(open.db), true);
  const held = hold();
  await until(() => held[0]);
  assert.equal(await isUnattended(open.db), false);
  assert.deepEqual([...(await depths(open.db))], [{ name: job.name, waiting: 1, active: 1 }]);
});

test('turns are kept only where they say something', async () => {
  for (let i = 0; i < 3; i++) await enqueue(`a${i}`, { group: 'A' });
  await enqueue('b', { group: 'B' });
  await order(4);
  await forgetTurns(open.db);
  const { rows } = await sql<{ group_id: string }>`select group_id from job_turn`.execute(open.db);
  assert.deepEqual([...rows], [{ group_id: 'A' }]);
});
