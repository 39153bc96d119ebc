import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import Stripe from 'stripe';
import type { SinkReply, SinkRequest } from '../../../../../test/harness/https-sink.ts';
import { hostile } from '../../../../../test/harness/https-sink.ts';
import { waitFor } from '../../../../../test/harness/wait-for.ts';
import {
  createDeliveryFixture,
  type DeliveryFixture,
  thingMade,
} from '../../../../../test/webhooks/fixture.ts';
import type { DeliveryWorker } from './worker.ts';

let f: DeliveryFixture;
let worker: DeliveryWorker;
const { webhooks: verifier } = new Stripe('sk_test_unused');

before(async () => {
  f = await createDeliveryFixture();
  worker = f.worker();
  worker.start();
});
after(() => f.close());
beforeEach(async () => {
  await f.database.sql`delete from delivery_job`;
  await f.database.sql`delete from webhook`;
  f.sink.requests.length = 0;
  f.sink.reply = () => ({});
});

async function addWebhook(path: string, input: { events?: string[]; isActive?: boolean } = {}) {
  const { row, signingSecret } = await f.webhooks.create(f.workspace, {
    url: `${f.sink.url}${path}`,
    ...input,
  });
  return { id: row.id, signingSecret };
}

const stats = async (id: string) => {
  const row = await f.webhooks.get(f.workspace.workspaceId, id);
  return {
    total: row.total_deliveries,
    success: row.success_count,
    failure: row.failure_count,
    consecutive: row.consecutive_failures,
    lastStatus: row.last_status,
    pending: row.pending_count,
  };
};

const requestsTo = (path: string) => f.sink.requests.filter((request) => request.path === path);
const replyTo = (replies: Record<string, (request: SinkRequest, n: number) => SinkReply>) => {
  const counts = new Map<string, number>();
  f.sink.reply = (request) => {
    const n = counts.get(request.path) ?? 0;
    counts.set(request.path, n + 1);
    return replies[request.path]?.(request, n) ?? {};
  };
};

test('the table space of ended deliveries is reclaimed', async () => {
  await addWebhook('/emptied');
  await worker.stop();
  const vacuums = async () => {
    const [row] = await f.database.sql`
      select vacuum_count::int as count from pg_stat_user_tables where relname = 'delivery_job'`;
    return row?.count;
  };
  const before = await vacuums();
  worker = f.worker({ vacuumEvery: 3 });
  worker.start();
  for (let n = 0; n < 3; n++) await f.emit(n);
  await waitFor(async () => (await vacuums()) > before);
});

describe('a delivery', () => {
  test('a delivery sends the signed event, byte for byte as stored', async () => {
    const { id, signingSecret } = await addWebhook('/hook?a=1');
    const eventId = await f.emit(5);
    const [request] = await f.sink.waitFor(1);
    assert.ok(request !== undefined);
    const { connection, host, 'svc-signature': signature, ...headers } = request.headers;
    assert.deepEqual(headers, {
      'content-type': 'application/json',
      'content-length': String(request.rawBody.length),
      'user-agent': 'svc-webhook/1.0',
      'svc-event-id': eventId,
      'svc-event-type': 'thing.made',
    });
    assert.equal(connection, 'keep-alive');
    assert.equal(host, `localhost:${f.sink.port}`);
    assert.match(String(signature), /^t=\d{10},v1=[0-9a-f]{64}$/);
    const event = verifier.constructEvent(request.rawBody, String(signature), signingSecret);
    assert.equal(event.id, eventId);
    const stored = await f.db
      .selectFrom('event')
      .select('body')
      .where('id', '=', eventId)
      .executeTakeFirstOrThrow();
    assert.equal(request.rawBody.toString(), stored.body);
    const [row] = await f.logged(id, 1);
    assert.equal(row?.status, 'SUCCESS');
    assert.equal(row?.attempt, 1);
    assert.equal(row?.event_id, eventId);
    assert.equal(row?.event_type, 'thing.made');
    assert.equal(row?.response_status, 200);
    assert.equal(row?.error_message, null);
    assert.equal(row?.next_attempt_at, null);
    assert.equal(row?.trigger, 'EVENT');
    assert.equal(await f.pendingJobs(), 0);
  });

  test('goes to the active webhooks of the workspace that subscribe, and to no other', async () => {
    const foreign = await f.addWorkspace();
    await f.webhooks.create(foreign, { url: `${f.sink.url}/foreign` });
    const subscribed = ['/all', '/exact', '/family', '/inner'];
    await addWebhook('/all');
    await addWebhook('/exact', { events: ['other.made', 'thing.part.broken'] });
    await addWebhook('/family', { events: ['thing.*'] });
    await addWebhook('/inner', { events: ['thing.part.*'] });
    await addWebhook('/star', { events: ['*'], isActive: false });
    await addWebhook('/not', { events: ['thing.made', 'other.*'] });
    await f.emit(1, 'thing.part.broken');
    await f.sink.waitFor(subscribed.length);
    await waitFor(async () => (await f.pendingJobs()) === 0);
    assert.deepEqual(f.sink.requests.map((request) => request.path).sort(), subscribed);
  });

  test('a delivery is planned with the event or not at all', async () => {
    await addWebhook('/hook');
    const work = f.events.transaction(async (_tx, append) => {
      await append(thingMade, f.workspace.workspaceId, { n: 1 });
      throw new Error('no');
    });
    await assert.rejects(work, /^Error: no$/);
    await f.emit(2);
    const [request] = await f.sink.waitFor(1);
    assert.match(request?.rawBody.toString() ?? '', /"n":2/);
    await waitFor(async () => (await f.pendingJobs()) === 0);
    assert.equal(f.sink.requests.length, 1);
  });

  test('a delivery is sent once although its response is slower than the poll', async () => {
    const { id } = await addWebhook('/slow');
    f.sink.reply = () => ({ delayMs: 900 });
    await f.emit();
    await f.logged(id, 1);
    assert.equal(f.sink.requests.length, 1);
  });
});

describe('a failed delivery', () => {
  test('a failed delivery is retried with identical bytes and a fresh signature until it succeeds', async () => {
    const { id, signingSecret } = await addWebhook('/flaky');
    f.sink.reply = (_request, n) =>
      n < 2 ? { status: n === 0 ? 500 : 302, body: `no ${n}` } : { status: 204 };
    const eventId = await f.emit();
    const rows = await f.logged(id, 3);
    assert.deepEqual(
      rows.map((row) => [row.attempt, row.status, row.response_status, row.response_body, row.error_message]),
      [
        [1, 'FAILED', 500, 'no 0', 'status 500'],
        [2, 'FAILED', 302, 'no 1', 'status 302'],
        [3, 'SUCCESS', 204, '', null],
      ],
    );
    assert.equal(f.sink.requests.length, 3);
    for (const request of f.sink.requests) {
      assert.equal(request.headers['svc-event-id'], eventId);
      assert.deepEqual(request.rawBody, f.sink.requests[0]?.rawBody);
      verifier.constructEvent(request.rawBody, String(request.headers['svc-signature']), signingSecret);
    }
    const [first, second] = f.sink.requests;
    assert.ok(first !== undefined && second !== undefined && second.at - first.at >= 200);
    const [failed] = rows;
    const plannedIn = (failed?.next_attempt_at?.getTime() ?? 0) - (failed?.created_at.getTime() ?? 0);
    assert.ok(plannedIn >= 200 && plannedIn < 1000, `${plannedIn} ms`);
    assert.deepEqual(await stats(id), {
      total: 3,
      success: 1,
      failure: 2,
      consecutive: 0,
      lastStatus: 204,
      pending: 0,
    });
  });

  test('has seven attempts, then it is exhausted', async () => {
    const { id } = await addWebhook('/down');
    f.sink.reply = () => ({ status: 503 });
    await f.emit();
    const rows = await f.logged(id, 7);
    assert.deepEqual(
      rows.map((row) => [row.attempt, row.status, row.next_attempt_at === null]),
      [1, 2, 3, 4, 5, 6].map((n) => [n, 'FAILED', false]).concat([[7, 'EXHAUSTED', true]]),
    );
    await waitFor(async () => (await f.pendingJobs()) === 0);
    assert.equal(f.sink.requests.length, 7);
    const { total, consecutive } = await stats(id);
    assert.deepEqual({ total, consecutive }, { total: 7, consecutive: 7 });
  });

  test('a failed delivery records the cause of the failure', async () => {
    replyTo({
      '/nul': () => hostile.nulBytes(),
      '/endless': () => ({ status: 500, fault: 'endless' }),
      '/bomb': () => ({ ...hostile.gzipBomb(2 ** 22), status: 400 }),
      '/drip': () => ({ fault: 'drip' }),
      '/reset': () => ({ fault: 'reset' }),
      '/hang': () => ({ fault: 'hang' }),
    });
    const outcomes: Record<string, unknown[]> = {};
    const first = async (path: string) => {
      const { id } = await addWebhook(path);
      await f.emit();
      const [row] = await f.logged(id, 1);
      outcomes[path] = [row?.status, row?.response_status, row?.error_message];
      await f.webhooks.remove(f.workspace.workspaceId, id);
      return row;
    };
    assert.equal((await first('/nul'))?.response_body, 'before\uFFFDafter\uFFFD');
    assert.equal((await first('/endless'))?.response_body?.length, 16 * 1024);
    assert.ok(((await first('/bomb'))?.response_body?.length ?? 0) <= 16 * 1024);
    assert.match((await first('/drip'))?.response_body ?? '', /^\.+$/);
    await first('/reset');
    const hung = await first('/hang');
    assert.ok((hung?.latency_ms ?? 0) >= 1000);
    const { '/reset': reset, ...others } = outcomes;
    assert.deepEqual(others, {
      '/nul': ['FAILED', 500, 'status 500'],
      '/endless': ['FAILED', 500, 'status 500'],
      '/bomb': ['FAILED', 400, 'status 400'],
      '/drip': ['SUCCESS', 200, null],
      '/hang': ['FAILED', null, 'timeout: 1000 ms'],
    });
    assert.match(String(reset?.[2]), /^connection: /);
    assert.equal(requestsTo('/reset').length, 1);
  });

  test('by the guard is logged as such and dials nothing', async () => {
    const { id } = await addWebhook('/moved');
    const url = `https://10.0.0.1:${f.sink.port}/`;
    await f.db.updateTable('webhook').set({ url }).where('id', '=', id).execute();
    await f.emit();
    const [row] = await f.logged(id, 1);
    assert.equal(row?.error_message, 'ssrf_guard: private address');
    assert.equal(row?.response_status, null);
    assert.equal(row?.status, 'FAILED');
    assert.equal(f.sink.requests.length, 0);
  });
});

describe('a webhook that goes', () => {
  test('a deleted webhook loses its pending deliveries and its log', async () => {
    const { id } = await addWebhook('/gone');
    f.sink.reply = () => ({ status: 500 });
    await f.emit();
    await f.logged(id, 1);
    await f.webhooks.remove(f.workspace.workspaceId, id);
    assert.equal(await f.pendingJobs(), 0);
    assert.equal((await f.logged(id, 0)).length, 0);
    const sent = f.sink.requests.length;
    const other = await addWebhook('/other');
    await f.emit();
    await f.logged(other.id, 2);
    assert.equal(requestsTo('/gone').length, sent);
  });

  test('deleted in the middle of an attempt: nothing is written for it', async () => {
    const { id } = await addWebhook('/slow');
    const answer = Promise.withResolvers<SinkReply>();
    f.sink.reply = () => answer.promise;
    await f.emit();
    await f.sink.waitFor(1);
    await f.webhooks.remove(f.workspace.workspaceId, id);
    answer.resolve({});
    const other = await addWebhook('/other');
    await f.emit();
    await f.logged(other.id, 1);
    assert.equal((await f.logged(id, 0)).length, 0);
  });

  test('deleted while an event is being appended: its job is dropped', async () => {
    await f.database.sql`
      insert into delivery_job (workspace_id, webhook_id, event_id, event_created_at)
      values (${f.workspace.workspaceId}, 'wh_none', gen_random_uuid(), now())`;
    await waitFor(async () => (await f.pendingJobs()) === 0);
    assert.equal(f.sink.requests.length, 0);
  });

  test('deactivated: its pending deliveries are canceled, not sent', async () => {
    const { id } = await addWebhook('/paused');
    f.sink.reply = () => ({ status: 500 });
    await f.emit();
    await f.logged(id, 1);
    await f.db.updateTable('webhook').set({ is_active: false }).where('id', '=', id).execute();
    const [, canceled] = await f.logged(id, 2);
    assert.equal(canceled?.status, 'CANCELED');
    assert.equal(f.sink.requests.length, 1);
    assert.equal(await f.pendingJobs(), 0);
    assert.equal((await stats(id)).total, 1);
  });
});

test('an endpoint that never responds delays no others and has at most four attempts in flight', async () => {
  const { id: dead } = await addWebhook('/dead', { events: ['thing.made'] });
  await addWebhook('/alive', { events: ['other.made'] });
  let waiting = 0;
  let most = 0;
  replyTo({
    '/dead': () => {
      most = Math.max(most, ++waiting);
      // Long before the attempt times out; its deadline counts from the connection.
      setTimeout(() => waiting--, 500).unref();
      return { fault: 'hang' };
    },
  });
  for (let i = 0; i < 40; i++) await f.emit(i);
  await waitFor(() => requestsTo('/dead').length >= 4);
  const delays: number[] = [];
  for (let i = 0; i < 30; i++) {
    const count = requestsTo('/alive').length;
    const startedAt = performance.timeOrigin + performance.now();
    await f.emit(i, 'other.made');
    await waitFor(() => requestsTo('/alive').length > count, { intervalMs: 1 });
    delays.push((requestsTo('/alive').at(-1)?.at ?? 0) - startedAt);
  }
  delays.sort((a, b) => a - b);
  // A delivery that waited for the dead endpoint would wait for a timeout of a second.
  assert.ok((delays[15] ?? 0) < 500, `median ${delays[15]} ms`);
  assert.ok(most <= 4, `${most} at once`);
  await f.webhooks.remove(f.workspace.workspaceId, dead);
});
