import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { waitFor } from '../../../../../test/harness/wait-for.ts';
import { createDeliveryFixture, type DeliveryFixture } from '../../../../../test/webhooks/fixture.ts';
import { newId } from '../../../../kernel/ids.ts';
import { createBus } from '../../../../platform/bus.ts';
import { openDatabase } from '../../../../platform/db/index.ts';
import { claim, type Finish, findDue, finish, release } from './repository.ts';
import { ResultWriter } from './result-writer.ts';
import type { DeliveryWorker } from './worker.ts';

let f: DeliveryFixture;
const started: DeliveryWorker[] = [];

before(async () => {
  f = await createDeliveryFixture();
});
after(() => f.close());
beforeEach(() => {
  f.sink.requests.length = 0;
  f.sink.reply = () => ({});
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((worker) => worker.stop()));
  await f.database.sql`truncate delivery_job, delivery_log, webhook, event`;
});

const start: DeliveryFixture['worker'] = (config, parts) => {
  const worker = f.worker(config, parts);
  worker.start();
  started.push(worker);
  return worker;
};

async function addWebhook(path: string): Promise<string> {
  const { row } = await f.webhooks.create(f.workspace, { url: `${f.sink.url}${path}` });
  return row.id;
}

const finishedJobs = async (...[db, batch]: Parameters<typeof finish>) =>
  (await finish(db, batch)).map(({ job }) => job);

const silentBus = { subscribe: () => () => {} };

describe('waking up', () => {
  test('by the hint of another process', async () => {
    const elsewhere = openDatabase({ url: f.database.url, pool: 2, name: 'elsewhere' });
    const bus = await createBus(elsewhere.sql, f.log);
    await addWebhook('/hook');
    start({}, { bus });
    await f.emit();
    await f.sink.waitFor(1);
    const startedAt = performance.timeOrigin + performance.now();
    await f.emit();
    const [, second] = await f.sink.waitFor(2);
    assert.ok((second?.at ?? 0) - startedAt < 500);
    await waitFor(async () => (await f.pendingJobs()) === 0);
    await started.pop()?.stop();
    await bus.close();
    await elsewhere.close();
  });

  test('a worker wakes by the poll without any hint', async () => {
    await addWebhook('/hook');
    start({}, { bus: silentBus });
    await f.emit();
    await f.sink.waitFor(1, 3000);
    await f.emit();
    await f.sink.waitFor(2, 3000);
  });

  test('on time for a retry that another worker planned', async () => {
    const id = await addWebhook('/hook');
    f.sink.reply = (_request, n) => ({ status: n === 0 ? 500 : 200 });
    const first = start({ retrySeconds: [1.5] });
    await f.emit();
    const [failed] = await f.logged(id, 1);
    await first.stop();
    start({}, { bus: silentBus });
    const [, second] = await f.sink.waitFor(2);
    const lateMs = (second?.at ?? 0) - (failed?.next_attempt_at?.getTime() ?? 0);
    assert.ok(lateMs >= 0 && lateMs < 300, `${lateMs} ms late`);
  });
});

describe('a worker that vanishes', () => {
  test('between claim and finish: the job is taken over when the lease ends, with no attempt eaten', async () => {
    const id = await addWebhook('/hook');
    f.sink.reply = () => ({ status: 500 });
    await f.emit();
    const { due } = await findDue(f.db);
    assert.deepEqual(due, [id]);
    const jobs = await claim(f.db, [{ webhookId: id, cap: 4 }], 1);
    assert.deepEqual(
      jobs.map((job) => job.attempt),
      [0],
    );
    const claimedAt = performance.now();
    start({ retrySeconds: [0.05, 0.05, 0.05, 0.05, 0.05, 0.05] });
    const rows = await f.logged(id, 7);
    assert.ok(performance.now() - claimedAt >= 1000);
    assert.deepEqual(
      rows.map((row) => row.attempt),
      [1, 2, 3, 4, 5, 6, 7],
    );
    assert.equal(rows.at(-1)?.status, 'EXHAUSTED');
  });

  test("jobs that waited for days are sent with their event's original body", async () => {
    const id = await addWebhook('/hook');
    const [old, recent] = [await f.emit(1), await f.emit(2)];
    const { sql } = f.database;
    await sql`update event set created_at = created_at - interval '3 days' where id = ${old}`;
    await sql`update delivery_job set event_created_at = event_created_at - interval '3 days' where event_id = ${old}`;
    start();
    await f.logged(id, 2);
    assert.deepEqual(
      f.sink.requests.map(({ rawBody }) => JSON.parse(rawBody.toString()).id).toSorted(),
      [old, recent].toSorted(),
    );
  });

  test('but only seemed to: its late finish changes nothing', async () => {
    const id = await addWebhook('/hook');
    await f.emit();
    const [old] = await claim(f.db, [{ webhookId: id, cap: 1 }], 0);
    const [current] = await claim(f.db, [{ webhookId: id, cap: 1 }], 30);
    assert.ok(old !== undefined && current !== undefined);
    assert.equal(old.id, current.id);
    assert.deepEqual(await finishedJobs(f.db, [finished(old, 'FAILED', 60)]), []);
    assert.equal((await f.logged(id, 0)).length, 0);
    assert.deepEqual(await finishedJobs(f.db, [finished(current, 'SUCCESS', null)]), [current.id]);
    assert.deepEqual(await finishedJobs(f.db, [finished(current, 'SUCCESS', null)]), []);
    assert.equal((await f.logged(id, 0)).length, 1);
    assert.equal(await f.pendingJobs(), 0);
  });

  test('a finish that is repeated after a reschedule changes nothing either', async () => {
    const id = await addWebhook('/hook');
    await f.emit();
    const [job] = await claim(f.db, [{ webhookId: id, cap: 1 }], 30);
    assert.ok(job !== undefined);
    const outcome = finished(job, 'FAILED', 60);
    assert.deepEqual(await finishedJobs(f.db, [outcome]), [job.id]);
    assert.deepEqual(await finishedJobs(f.db, [outcome]), []);
    const { nextInMs, due } = await findDue(f.db);
    assert.deepEqual(due, []);
    assert.ok(nextInMs !== null && nextInMs > 59_000 && nextInMs <= 60_000);
    const { total_deliveries } = await f.webhooks.get(f.workspace.workspaceId, id);
    assert.equal(total_deliveries, 1);
  });
});

function finished(
  job: { id: number; lease: number },
  status: 'SUCCESS' | 'FAILED',
  retrySec: number | null,
  responseBody = 'ok',
): Finish {
  return {
    job: job.id,
    lease: job.lease,
    retrySec,
    log: {
      id: newId('dlv'),
      eventType: 'thing.made',
      status,
      responseStatus: status === 'SUCCESS' ? 200 : 500,
      responseBody,
      latencyMs: 5,
      errorMessage: null,
      at: '2026-11-20T09:00:00.000Z',
    },
  };
}

describe('two workers', () => {
  test('deliver each event to each webhook once, and lose none', async () => {
    const ids = await Promise.all(['/a', '/b', '/c', '/d', '/e'].map(addWebhook));
    f.sink.reply = (_request, n) => (n % 10 === 0 ? { status: 500 } : {});
    const other = openDatabase({ url: f.database.url, pool: 5, name: 'second worker' });
    start({ timeoutMs: 10_000 });
    start({ timeoutMs: 10_000 }, { db: other.db });
    const events = await Promise.all(Array.from({ length: 100 }, (_, n) => f.emit(n)));
    await waitFor(async () => (await f.pendingJobs()) === 0, { timeoutMs: 20_000 });
    const rows = await f.db.selectFrom('delivery_log').selectAll().execute();
    const successes = rows.filter((row) => row.status === 'SUCCESS');
    const pairs = new Set(successes.map((row) => `${row.webhook_id} ${row.event_id}`));
    assert.equal(successes.length, events.length * ids.length);
    assert.equal(pairs.size, successes.length);
    assert.equal(f.sink.requests.length, rows.length);
    const attempts = new Set(rows.map((row) => `${row.webhook_id} ${row.event_id} ${row.attempt}`));
    assert.equal(attempts.size, rows.length);
    await Promise.all(started.splice(0).map((worker) => worker.stop()));
    await other.close();
  });

  test('never finish a job that the other took over', async () => {
    const id = await addWebhook('/slow');
    f.sink.reply = (_request, n) => ({ delayMs: n === 0 ? 1400 : 600 });
    start({ leaseSec: 1, timeoutMs: 3000 });
    await f.emit();
    await f.sink.waitFor(1);
    start({ leaseSec: 30, timeoutMs: 3000 });
    const rows = await f.logged(id, 1);
    await waitFor(async () => (await f.pendingJobs()) === 0);
    assert.equal(f.sink.requests.length, 2);
    await Promise.all(started.splice(0).map((worker) => worker.stop()));
    assert.deepEqual(
      rows.map((row) => [row.attempt, row.status]),
      [[1, 'SUCCESS']],
    );
    assert.equal((await f.logged(id, 0)).length, 1);
  });
});

describe('stopping', () => {
  test('a stopping worker waits for attempts in flight and claims nothing more', async () => {
    const id = await addWebhook('/slow');
    f.sink.reply = () => ({ delayMs: 400 });
    const worker = start({ perEndpoint: 2 });
    for (let n = 0; n < 6; n++) await f.emit(n);
    await f.sink.waitFor(2);
    await worker.stop();
    const rows = await f.logged(id, 0);
    assert.equal(rows.length, f.sink.requests.length);
    assert.ok(rows.length < 6);
    assert.equal(await f.pendingJobs(), 6 - rows.length);
  });

  test('a stopping worker releases unfinished jobs, and another worker can claim them immediately', async () => {
    const id = await addWebhook('/slow');
    f.sink.reply = (_request, n) => (n === 0 ? { fault: 'hang' } : {});
    const worker = start({ drainMs: 100, timeoutMs: 3000 });
    await f.emit();
    await f.sink.waitFor(1);
    await worker.stop();
    start();
    const rows = await f.logged(id, 1, 2000);
    assert.deepEqual(
      rows.map((row) => [row.attempt, row.status]),
      [[1, 'SUCCESS']],
    );
  });

  test('released jobs keep their number of attempts', async () => {
    const id = await addWebhook('/hook');
    await f.emit();
    const jobs = await claim(f.db, [{ webhookId: id, cap: 1 }], 30);
    assert.equal((await claim(f.db, [{ webhookId: id, cap: 1 }], 30)).length, 0);
    await release(f.db, jobs);
    const again = await claim(f.db, [{ webhookId: id, cap: 1 }], 30);
    assert.deepEqual(
      again.map((job) => [job.id, job.attempt]),
      jobs.map((job) => [job.id, 0]),
    );
  });
});

describe('a database in trouble', () => {
  const cut = () => f.database.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`;
  /** The driver reports the cut of a busy connection a second time, to the first query after it. */
  const settle = () =>
    waitFor(() => Promise.all(Array.from({ length: 10 }, () => f.database.sql`select pg_sleep(0.05)`)));

  test('cut connections lose nothing and send nothing twice', async () => {
    const id = await addWebhook('/slow');
    f.sink.reply = () => ({ delayMs: 300 });
    start();
    for (let n = 0; n < 3; n++) await f.emit(n);
    await f.sink.waitFor(3);
    await cut();
    const rows = await f.logged(id, 3);
    assert.deepEqual(
      rows.map((row) => [row.attempt, row.status]),
      [1, 2, 3].map(() => [1, 'SUCCESS']),
    );
    await waitFor(async () => (await f.pendingJobs()) === 0);
    await settle();
    await f.emit(4);
    await f.sink.waitFor(4);
    assert.equal(f.sink.requests.length, 4);
  });

  test('one row that it refuses does not hold up the others', async () => {
    const id = await addWebhook('/hook');
    for (let n = 0; n < 8; n++) await f.emit(n);
    const jobs = await claim(f.db, [{ webhookId: id, cap: 8 }], 30);
    assert.equal(jobs.length, 8);
    let lost = 0;
    let done = 0;
    const finisher = new ResultWriter({
      db: f.db,
      facts: f.facts,
      log: f.log,
      giveUpAfterMs: 5000,
      onFinished: (batch, lostNow) => {
        done += batch.length;
        lost += lostNow;
      },
    });
    jobs.forEach((job, n) => {
      finisher.add(finished(job, 'SUCCESS', null, n === 5 ? 'NUL \0 here' : 'ok'));
    });
    await finisher.idle();
    assert.deepEqual({ done, lost }, { done: 8, lost: 0 });
    const rows = await f.logged(id, 8);
    assert.deepEqual(rows.map((row) => row.response_body).sort(), [null, ...Array(7).fill('ok')]);
    assert.equal(await f.pendingJobs(), 0);
  });
});

test('deleting webhooks under load never deadlocks', async () => {
  const ids = await Promise.all(['/a', '/b', '/c', '/d'].map(addWebhook));
  f.sink.reply = (_request, n) => (n % 2 === 0 ? { status: 500 } : {});
  start();
  start();
  const load = Promise.all(Array.from({ length: 60 }, (_, n) => f.emit(n)));
  await f.sink.waitFor(20);
  await Promise.all(ids.map((id) => f.webhooks.remove(f.workspace.workspaceId, id)));
  await load;
  await waitFor(async () => (await f.pendingJobs()) === 0);
  const left = await f.db.selectFrom('delivery_log').selectAll().execute();
  assert.deepEqual([...left], []);
});
