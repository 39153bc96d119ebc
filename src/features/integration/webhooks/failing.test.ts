import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { TestClock } from '../../../../test/harness/clock.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { createDeliveryFixture, type DeliveryFixture } from '../../../../test/webhooks/fixture.ts';
import { systemClock } from '../../../kernel/clock.ts';
import { newId } from '../../../kernel/ids.ts';
import { claim, type Finish, finish } from './delivery/repository.ts';
import { createFailureMonitor } from './failing.service.ts';

const HOUR_MS = 3_600_000;
let f: DeliveryFixture;
const clock = new TestClock(systemClock.ms());

before(async () => {
  f = await createDeliveryFixture();
});
after(() => f.close());
beforeEach(async () => {
  await f.database.sql`truncate delivery_job, delivery_log, webhook, event`;
});

const watch = (autoDisableDays = 0) =>
  createFailureMonitor({
    db: f.db,
    events: f.events,
    clock,
    bus: f.bus,
    log: f.log,
    autoDisableDays,
  });

async function addWebhook(events: string[] = []): Promise<string> {
  const { row } = await f.webhooks.create(f.workspace, { url: `${f.sink.url}/x`, events });
  return row.id;
}

/** Attempts of one webhook as a worker finishes them, all in one batch. */
async function attempts(webhookId: string, outcomes: readonly boolean[]): Promise<void> {
  await f.database.sql`
    insert into delivery_job (workspace_id, webhook_id, event_id, event_created_at)
    select ${f.workspace.workspaceId}, ${webhookId}, gen_random_uuid(), now()
    from generate_series(1, ${outcomes.length})`;
  const jobs = await claim(f.db, [{ webhookId, cap: outcomes.length }], 30);
  const batch = jobs.map(({ id, lease }, n): Finish => {
    const isSuccess = outcomes[n] === true;
    return {
      job: id,
      lease,
      retrySec: null,
      log: {
        id: newId('dlv'),
        eventType: 'thing.made',
        status: isSuccess ? 'SUCCESS' : 'EXHAUSTED',
        responseStatus: isSuccess ? 200 : 500,
        responseBody: '',
        latencyMs: 1,
        errorMessage: null,
        at: clock.now().toISOString(),
      },
    };
  });
  await finish(f.db, batch);
}

const failures = (count: number) => Array.from({ length: count }, () => false);
const state = (id: string) => f.webhooks.get(f.workspace.workspaceId, id);

async function listDeliveredEvents(): Promise<
  { type: string; data: Record<string, unknown>; to: string[] }[]
> {
  const rows = await f.database.sql<{ body: string; to: string[] }[]>`
    select e.body, array_remove(array_agg(j.webhook_id), null) as to from event e
    left join delivery_job j on j.event_id = e.id group by e.body, e.seq order by e.seq`;
  return rows.map(({ body, to }) => ({ ...JSON.parse(body), to }));
}

describe('a run of failures', () => {
  test('a run of failures is counted from its first failure and ends with a success', async () => {
    const id = await addWebhook();
    await attempts(id, [true, false, false]);
    const since = (await state(id)).failing_since;
    assert.equal(since?.toISOString(), clock.now().toISOString());
    assert.equal((await state(id)).consecutive_failures, 2);
    clock.advance(HOUR_MS);
    await attempts(id, [false]);
    assert.deepEqual((await state(id)).failing_since, since);
    assert.equal((await state(id)).consecutive_failures, 3);
    clock.advance(HOUR_MS);
    await attempts(id, [false, true, false]);
    const { failing_since: anew, consecutive_failures: count } = await state(id);
    assert.equal(anew?.toISOString(), clock.now().toISOString());
    assert.equal(count, 1);
    await attempts(id, [true]);
    assert.equal((await state(id)).failing_since, null);
  });
});

describe('webhook.failing', () => {
  test('goes once to the others, after 20 failures in a row over 24 hours or more', async () => {
    const id = await addWebhook();
    const other = await addWebhook(['webhook.*']);
    await addWebhook(['thing.*']);
    await attempts(id, failures(19));
    clock.advance(24 * HOUR_MS);
    await watch().run();
    assert.deepEqual(await listDeliveredEvents(), []);
    await attempts(id, failures(1));
    await watch().run();
    const [first, ...more] = await listDeliveredEvents();
    assert.deepEqual(more, []);
    assert.equal(first?.type, 'webhook.failing');
    assert.deepEqual(first.data, {
      webhookId: id,
      url: `${f.sink.url}/x`,
      consecutiveFailures: 20,
      sequence: 1,
    });
    assert.deepEqual(first.to, [other]);
    await Promise.all([watch().run(), watch().run()]);
    assert.equal((await listDeliveredEvents()).length, 1);

    await attempts(id, [true, ...failures(20)]);
    clock.advance(24 * HOUR_MS - 1);
    await watch().run();
    assert.equal((await listDeliveredEvents()).length, 1);
    clock.advance(1);
    await watch().run();
    assert.deepEqual(
      (await listDeliveredEvents()).map(({ data }) => data.sequence),
      [1, 2],
    );
  });

  test('not when 20 failures took less than a day, and never of a webhook that is off', async () => {
    const id = await addWebhook();
    await attempts(id, failures(50));
    clock.advance(24 * HOUR_MS - 1);
    await watch().run();
    assert.deepEqual(await listDeliveredEvents(), []);
    await f.webhooks.update(f.workspace.workspaceId, id, { isActive: false });
    clock.advance(HOUR_MS);
    await watch().run();
    assert.deepEqual(await listDeliveredEvents(), []);
  });
});

describe('switching off by itself', () => {
  test('webhooks are deactivated only if configured, after that number of days with only failures', async () => {
    const id = await addWebhook();
    await attempts(id, failures(20));
    clock.advance(5 * 24 * HOUR_MS);
    await watch(5).run();
    assert.equal((await state(id)).is_active, true, 'it was not tried for five days');
    await attempts(id, failures(1));
    await watch(0).run();
    await watch(6).run();
    assert.equal((await state(id)).is_active, true);
    await f.emit();
    await watch(5).run();
    const off = await state(id);
    assert.equal(off.is_active, false);
    assert.equal(off.pending_count, 0);
    const [row] = await f.webhooks.deliveries(
      f.workspace.workspaceId,
      id,
      { status: ['CANCELED'] },
      { fetchLimit: 5, limit: 5, order: 'desc', after: null, createdAfter: null, createdBefore: null },
    );
    assert.equal(row?.status, 'CANCELED');
    const on = await f.webhooks.update(f.workspace.workspaceId, id, { isActive: true });
    assert.deepEqual([on.is_active, on.consecutive_failures, on.failing_since], [true, 0, null]);
    await watch(5).run();
    assert.equal((await state(id)).is_active, true);
  });
});

test('what an attempt under way left to a webhook that is off is canceled', async () => {
  const id = await addWebhook();
  await f.emit();
  const [job] = await claim(f.db, [{ webhookId: id, cap: 1 }], 30);
  assert.ok(job !== undefined);
  const off = await f.webhooks.update(f.workspace.workspaceId, id, { isActive: false });
  assert.equal(off.pending_count, 1);
  await watch().run();
  assert.equal((await state(id)).pending_count, 1, 'it is under way');
  const log = {
    id: newId('dlv'),
    eventType: 'thing.made',
    status: 'FAILED' as const,
    responseStatus: 500,
    responseBody: '',
    latencyMs: 1,
    errorMessage: null,
    at: clock.now().toISOString(),
  };
  await finish(f.db, [{ job: job.id, lease: job.lease, retrySec: 600, log }]);
  await watch().run();
  await waitFor(async () => (await state(id)).pending_count === 0);
  const rows = await f.logged(id, 2);
  assert.deepEqual(new Set(rows.map(({ status }) => status)), new Set(['FAILED', 'CANCELED']));
});
