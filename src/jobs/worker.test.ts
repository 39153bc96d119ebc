import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { sql } from 'kysely';
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { waitFor } from '../../test/harness/wait-for.ts';
import { jobRows, type LabelRun, labelJob, openQueue } from '../../test/jobs/fixture.ts';
import { type EnqueueOptions, JobDeferredError, JobPermanentError, JobStoppedError } from './job.ts';
import { deleteEnded, depths, hasStalledQueue, pruneGroupTurns } from './repository.ts';
import { type JobWorkers, requeueRunning, startJobWorkers } from './worker.ts';

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
  await database.sql`truncate job, job_turn`;
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
interface HeldRun extends LabelRun {
  end(error?: Error): void;
}

/** No second poll occurs within a test: jobs start by a hint. */
const NO_POLLS = { pollMs: 600_000 };

/** Starts a worker whose runs the test ends by hand. */
function hold(concurrency = 1, options: { pollMs?: number } = {}): HeldRun[] {
  const held: HeldRun[] = [];
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
  await waitFor(() => seen.length === count, { message: () => `${count} runs, had ${seen.join(' ')}` });
  return seen;
}

const row = async () => (await jobRows(open.db))[0];
const inState = (state: string) =>
  waitFor(async () => (await row())?.state === state && row(), { message: `a job that is ${state}` });

test('a committed job starts immediately and completes', async () => {
  const held = hold(1, NO_POLLS);
  await enqueue('now');
  const run = await waitFor(() => held[0]);
  assert.deepEqual([run.payload.label, run.attempt, run.isLast, run.lost], ['now', 1, false, 0]);
  run.end();
  const { failed, lost, error } = (await inState('completed')) ?? {};
  assert.deepEqual([failed, lost, error], [0, 0, null]);
});

test('a delayed job starts when it is due, without a hint', async () => {
  const held = hold();
  await enqueue('later', { delaySec: 0.3 });
  assert.equal((await waitFor(() => held[0])).payload.label, 'later');
});

test('jobs run up to the concurrency, and a freed slot is filled immediately', async () => {
  for (const label of ['a', 'b', 'c']) await enqueue(label);
  const held = hold(2, NO_POLLS);
  await waitFor(() => held.length === 2);
  await enqueue('d');
  assert.equal(held.length, 2);
  held[0]?.end();
  await waitFor(() => held.length === 3);
});

test('a failing job is retried once per pause, then failed with its last error', async () => {
  const held = hold();
  await enqueue('bad');
  for (const attempt of [1, 2, 3]) {
    const run = await waitFor(() => held[attempt - 1]);
    assert.deepEqual([run.attempt, run.isLast], [attempt, attempt === 3]);
    run.end(new Error(`failure ${attempt} with \u0000`));
  }
  const { failed, error } = (await inState('failed')) ?? {};
  assert.equal(failed, 3);
  assert.match(error ?? '', /failure 3 with/);
});

test('a permanent error fails the job without retry, and a deferral does not count as an attempt', async () => {
  const held = hold();
  await enqueue('x');
  (await waitFor(() => held[0])).end(new JobDeferredError('the disk is full', 0.1));
  const again = await waitFor(() => held[1]);
  assert.equal(again.attempt, 1);
  again.end(new JobPermanentError('no try could succeed'));
  assert.equal((await inState('failed'))?.failed, 1);
  assert.equal(held.length, 2);
});

test('fifty jobs of one group do not delay another group', async () => {
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

test('a group that arrives later takes turns immediately, without accumulated turns', async () => {
  for (let i = 0; i < 8; i++) await enqueue(`a${i}`, { group: 'A' });
  const held = hold();
  for (let i = 0; i < 4; i++) (await waitFor(() => held[i])).end();
  await waitFor(() => held[4]);
  for (let i = 0; i < 3; i++) await enqueue(`b${i}`, { group: 'B' });
  for (let i = 4; i < 11; i++) (await waitFor(() => held[i])).end();
  assert.deepEqual(
    held.slice(5).map(({ payload }) => payload.label),
    ['b0', 'a5', 'b1', 'a6', 'b2', 'a7'],
  );
});

test('a higher priority runs first within its group and gets more turns between groups', async () => {
  for (let i = 0; i < 4; i++) await enqueue(`free${i}`, { group: 'F' });
  await enqueue('low', { group: 'P', priority: 2 });
  for (let i = 0; i < 6; i++) await enqueue(`pro${i}`, { group: 'P', priority: 3 });
  const seen = await order(11);
  assert.equal(seen[0], 'pro0');
  assert.ok(seen.indexOf('low') > seen.indexOf('pro5'), seen.join(' '));
  assert.ok(seen.indexOf('free0') < 3 && seen.indexOf('free1') < 8, seen.join(' '));
  assert.ok(seen.indexOf('free1') > seen.indexOf('pro3'), seen.join(' '));
});

test('canceling a running job aborts its signal, and the run can no longer confirm', async () => {
  const held = hold();
  await enqueue('x', { key: 'k' });
  const run = await waitFor(() => held[0]);
  const tx = await open.db.transaction().execute(async (inner) => {
    await open.jobs.cancel(inner, job, 'k');
    return inner;
  });
  open.jobs.committed(tx);
  await waitFor(() => run.signal.aborted, { timeoutMs: 1000 });
  assert.equal(run.signal.reason.reason, 'canceled');
  await assert.rejects(
    open.db.transaction().execute((inner) => run.confirm(inner)),
    JobStoppedError,
  );
  assert.equal((await row())?.state, 'canceled');
});

test('a cancellation reaches the run without its hint', async () => {
  const held = hold();
  await enqueue('x', { key: 'k' });
  const run = await waitFor(() => held[0]);
  await open.db.transaction().execute((tx) => open.jobs.cancel(tx, job, 'k'));
  await waitFor(() => run.signal.aborted, { timeoutMs: 3000 });
});

test('stop aborts the runs and requeues their jobs without counting an attempt', async () => {
  const held = hold();
  await enqueue('x');
  const first = await waitFor(() => held[0]);
  await workers?.stop();
  assert.equal(first.signal.reason.reason, 'shutdown');
  const { state, failed, lost } = (await row()) ?? {};
  assert.deepEqual([state, failed, lost], ['waiting', 0, 0]);
  const again = hold();
  assert.deepEqual((({ attempt, lost }) => [attempt, lost])(await waitFor(() => again[0])), [1, 0]);
});

test('stop requeues the job of a run that ignores its signal, and completes one that succeeds', async () => {
  let ends = 0;
  const run = async ({ payload, signal }: LabelRun) => {
    if (payload.label === 'stuck') return new Promise<void>(() => {});
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    ends++;
  };
  workers = startJobWorkers({ ...open.workersOf([{ job, concurrency: 2, run }]), drainMs: 200 });
  await enqueue('stuck');
  await enqueue('done');
  await waitFor(async () => (await jobRows(open.db)).every(({ state }) => state === 'active'));
  await workers.stop();
  assert.equal(ends, 1);
  assert.deepEqual(
    (await jobRows(open.db)).map(({ label, state }) => [label, state]),
    [
      ['stuck', 'waiting'],
      ['done', 'completed'],
    ],
  );
});

test('a run whose job was taken over is aborted, cannot confirm and changes nothing', async () => {
  const held = hold();
  await enqueue('x');
  const first = await waitFor(() => held[0]);
  await open.db.transaction().execute((tx) => first.confirm(tx));
  // Simulates another node that requeues a job with an expired lease.
  await requeueRunning(open.db);
  await assert.rejects(
    open.db.transaction().execute((tx) => first.confirm(tx)),
    (error: unknown) => error instanceof JobStoppedError && error.reason === 'lost',
  );
  const second = await waitFor(() => held[1]);
  assert.deepEqual([second.attempt, second.lost], [1, 1]);
  first.end();
  await open.db.transaction().execute((tx) => second.confirm(tx));
  assert.equal((await row())?.state, 'active');
  second.end();
  await inState('completed');
});

test('a payload that no longer matches its definition fails the job', async () => {
  await enqueue('x');
  await sql`update job set payload = '{"label": 5}'`.execute(open.db);
  const held = hold();
  assert.match((await inState('failed'))?.error ?? '', /payload\.label must be string/);
  assert.equal(held.length, 0);
});

test('a queue is stalled when jobs are due for a minute and none of them runs', async () => {
  const wait = (label: string, seconds: number) =>
    sql`update job set run_after = now() - make_interval(secs => ${seconds})
      where payload ->> 'label' = ${label}`.execute(open.db);
  await enqueue('a');
  await enqueue('b');
  await wait('b', 59);
  assert.equal(await hasStalledQueue(open.db), false);
  await wait('b', 61);
  assert.equal(await hasStalledQueue(open.db), true);
  const held = hold();
  await waitFor(() => held[0]);
  assert.equal(await hasStalledQueue(open.db), false);
  assert.deepEqual(
    [...(await depths(open.db, open.jobs.names))],
    [{ name: job.name, waiting: 1, active: 1 }],
  );
});

test('pruning deletes the turns of groups that start at the current position anyway', async () => {
  for (let i = 0; i < 3; i++) await enqueue(`a${i}`, { group: 'A' });
  await enqueue('b', { group: 'B' });
  await order(4);
  await pruneGroupTurns(open.db);
  const { rows } = await sql<{ group_id: string }>`select group_id from job_turn`.execute(open.db);
  assert.deepEqual([...rows], [{ group_id: 'A' }]);
});

test('ended jobs are deleted after three days, jobs that wait or run are not', async () => {
  const held = hold();
  await enqueue('running');
  await waitFor(() => held[0]);
  for (const label of ['recent', 'old', 'waiting']) await enqueue(label);
  const end = (label: string, days: number) =>
    sql`update job set state = 'completed', ended_at = now() - make_interval(days => ${days})
      where payload ->> 'label' = ${label}`.execute(open.db);
  await end('recent', 2);
  await end('old', 4);
  await deleteEnded(open.db);
  assert.deepEqual(
    (await jobRows(open.db)).map(({ label }) => label),
    ['running', 'recent', 'waiting'],
  );
});
