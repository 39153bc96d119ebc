import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import Stripe from 'stripe';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import { type HttpsSink, type SinkRequest, startHttpsSink } from '../../../../test/harness/https-sink.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { trust } from '../../../../test/webhooks/fixture.ts';
import { newId, newUuid } from '../../../kernel/ids.ts';
import { INITIAL_CONCURRENCY } from './delivery/concurrency-window.ts';
import { createDeliveryWorker, type DeliveryWorker } from './delivery/worker.ts';

let app: TestApp;
let sink: HttpsSink;
let worker: DeliveryWorker;
let key: string;
let account: TestAccount;
const { webhooks: verifier } = new Stripe('sk_test_unused');
/** Long enough that a retry never comes by itself. */
const RETRY_SECONDS = [600, 600, 600, 600, 600, 600];

before(async () => {
  sink = await startHttpsSink();
  trust(sink);
  app = await startTestApp({ env: { WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8', WEBHOOK_TIMEOUT_MS: '800' } });
  worker = startDeliveries();
});
after(async () => {
  await worker.stop();
  await app.close();
  await sink.close();
});
beforeEach(async () => {
  ({ key, account } = await app.createKey());
  sink.requests.length = 0;
  sink.reply = () => ({});
});

function startDeliveries(): DeliveryWorker {
  const { db, facts, outbound, secrets, clock, bus, log } = app.container;
  const config = { retrySeconds: RETRY_SECONDS, timeoutMs: 800 };
  const started = createDeliveryWorker({ db, facts, outbound, secrets, clock, bus, log, config });
  started.start();
  return started;
}

const call = (method: string, path: string, body?: unknown, as = key) =>
  app.request(method, path, { key: as, ...(body === undefined ? {} : { body }) });

async function addWebhook(input: object = {}) {
  const made = (await call('POST', '/me/webhooks', { url: `${sink.url}/hook`, ...input })).assertOk(201);
  return { id: made.string('data.id'), secret: made.string('data.signingSecret') };
}
const makeStream = async () =>
  (await call('POST', '/streams', { title: 'x' })).assertOk(201).string('data.id');
const rows = async (id: string, query = '') =>
  (await call('GET', `/me/webhooks/${id}/deliveries${query}`))
    .assertOk(200)
    .list('data')
    .map((row) => Object(row));
const untilRows = (id: string, count: number, query = '') =>
  waitFor(async () => {
    const found = await rows(id, query);
    return found.length >= count && found;
  });
const verified = (request: SinkRequest | undefined, secret: string) => {
  assert.ok(request !== undefined);
  return verifier.constructEvent(request.rawBody, String(request.headers['svc-signature']), secret);
};
const pending = async (id: string) =>
  (await call('GET', `/me/webhooks/${id}`)).assertOk(200).at('data.stats.pendingCount');

describe('PATCH /me/webhooks/{id}', () => {
  test('PATCH changes only the given fields, never the secret', async () => {
    const { id, secret } = await addWebhook({ events: ['stream.live'], description: 'a' });
    const before = Object((await call('GET', `/me/webhooks/${id}`)).at('data'));
    const changed = (
      await call('PATCH', `/me/webhooks/${id}`, { description: 'b', signingSecret: 'whsec_x', id: 'wh_x' })
    ).assertOk(200);
    const { updatedAt, ...after } = Object(changed.at('data'));
    const { updatedAt: earlier, ...same } = before;
    assert.deepEqual(after, { ...same, description: 'b' });
    assert.ok(updatedAt >= earlier);
    assert.ok(!changed.text.includes('whsec_'));
    const events = await call('PATCH', `/me/webhooks/${id}`, { events: ['stream.*', 'stream.*'] });
    assert.deepEqual(events.at('data.events'), ['stream.*']);
    assert.deepEqual((await call('PATCH', `/me/webhooks/${id}`, { events: ['*'] })).at('data.events'), []);
    (await call('PATCH', `/me/webhooks/${id}`, {})).assertOk(200);
    const moved = await call('PATCH', `/me/webhooks/${id}`, { url: `${sink.url}/moved` });
    assert.equal(moved.at('data.url'), `${sink.url}/moved`);
    await makeStream();
    const [request] = await sink.waitFor(1);
    assert.equal(request?.path, '/moved');
    verified(request, secret);
  });

  test('refuses what POST refuses', async () => {
    const { id } = await addWebhook();
    const patch = (body: object) => call('PATCH', `/me/webhooks/${id}`, body);
    for (const url of [
      'http://a.example.com/',
      'https://10.0.0.1/',
      'https://localhost.internal/',
      null,
      5,
    ]) {
      (await patch({ url })).assertError('BAD_REQUEST', 'url');
    }
    (await patch({ events: ['stream.live', 'purchase.completed'] })).assertError('BAD_REQUEST', 'events.1');
    (await patch({ isActive: null })).assertError('BAD_REQUEST', 'isActive');
    (await patch({ description: 'x'.repeat(501) })).assertError('BAD_REQUEST', 'description');
    (await call('PATCH', `/me/webhooks/${newId('wh')}`, {})).assertError('NOT_FOUND');
  });

  test('switched off: what waits is CANCELED, nothing new is planned; switched on, it is delivered to', async () => {
    const { id } = await addWebhook();
    sink.reply = () => ({ status: 500 });
    const missed = await makeStream();
    await untilRows(id, 1, '?status=FAILED');
    assert.equal(await pending(id), 1);
    const waiting = (await call('GET', `/me/webhooks/${id}/pending`)).assertOk(200).list('data');
    const [job] = waiting.map((row) => Object(row));
    assert.deepEqual([waiting.length, job.eventType, job.attempt], [1, 'stream.created', 2]);
    assert.equal(job.eventId, (await rows(id))[0].eventId);
    assert.ok(Date.parse(job.nextAttemptAt) > 0);
    (await call('GET', `/me/webhooks/${newId('wh')}/pending`)).assertError('NOT_FOUND');
    const off = (await call('PATCH', `/me/webhooks/${id}`, { isActive: false })).assertOk(200);
    assert.equal(off.at('data.stats.pendingCount'), 0);
    const [canceled, failed] = await rows(id);
    assert.equal(canceled.status, 'CANCELED');
    assert.deepEqual([canceled.attempt, canceled.eventId], [2, failed.eventId]);
    assert.equal(canceled.responseStatus, null);
    await makeStream();
    assert.equal(await pending(id), 0);
    assert.equal(sink.requests.length, 1);

    sink.reply = () => ({});
    const on = (await call('PATCH', `/me/webhooks/${id}`, { isActive: true })).assertOk(200);
    assert.equal(on.at('data.stats.consecutiveFailures'), 0);
    const third = await makeStream();
    await untilRows(id, 3);
    assert.ok(sink.requests.at(-1)?.rawBody.includes(third));
    assert.equal(sink.requests.length, 2);
    assert.notEqual(third, missed);
  });
});

describe('POST /me/webhooks/{id}/rotate-secret', () => {
  test('deliveries are signed with the new secret, and other webhooks get the event, but not this one', async () => {
    const { id, secret } = await addWebhook({ url: `${sink.url}/one` });
    const other = await addWebhook({ url: `${sink.url}/other` });
    const rotated = (await call('POST', `/me/webhooks/${id}/rotate-secret`)).assertOk(200);
    const fresh = rotated.string('data.signingSecret');
    assert.match(fresh, /^whsec_[A-Za-z0-9_-]{43}$/);
    assert.notEqual(fresh, secret);
    assert.match(rotated.string('data.secretRotatedAt'), /Z$/);
    assert.ok(!(await call('GET', `/me/webhooks/${id}`)).text.includes('whsec_'));
    const [notice] = await sink.waitFor(1);
    assert.equal(notice?.path, '/other');
    const event = JSON.parse(String(notice?.rawBody));
    assert.deepEqual(
      [event.type, event.data.webhookId, event.data.sequence],
      ['webhook.secret_rotated', id, 1],
    );
    verified(notice, other.secret);
    await makeStream();
    await sink.waitFor(3);
    const request = sink.requests.find(({ path }) => path === '/one');
    verified(request, fresh);
    assert.throws(() => verified(request, secret), /signature/i);
  });

  test('a delivery that was claimed before, and not sent yet, has the new secret', async () => {
    const { id } = await addWebhook();
    const answered = Promise.withResolvers<object>();
    sink.reply = (_request, n) => (n < INITIAL_CONCURRENCY ? answered.promise : {});
    for (let n = 0; n < INITIAL_CONCURRENCY; n++) await makeStream();
    await sink.waitFor(INITIAL_CONCURRENCY);
    // The next one is claimed and waits its turn behind those.
    await makeStream();
    const fresh = (await call('POST', `/me/webhooks/${id}/rotate-secret`)).string('data.signingSecret');
    answered.resolve({});
    const requests = await sink.waitFor(INITIAL_CONCURRENCY + 1);
    verified(requests[INITIAL_CONCURRENCY], fresh);
  });
});

describe('POST /me/webhooks/{id}/test', () => {
  test('a test sends webhook.test only to this webhook, regardless of its subscriptions and even if inactive', async () => {
    const { id, secret } = await addWebhook({ events: ['stream.live'], isActive: false });
    await addWebhook({ url: `${sink.url}/other` });
    sink.reply = () => ({ status: 202, body: 'thanks' });
    const answer = (await call('POST', `/me/webhooks/${id}/test`)).assertOk(200);
    const outcome = Object(answer.at('data'));
    assert.equal(sink.requests.length, 1);
    const [request] = sink.requests;
    const event = verified(request, secret);
    assert.equal(request?.headers['svc-event-type'], 'webhook.test');
    assert.equal(request?.headers['svc-event-id'], event.id);
    const { data } = JSON.parse(String(request?.rawBody));
    assert.deepEqual(Object.keys(data).sort(), ['message', 'sequence', 'testedAt', 'webhookId']);
    assert.equal(data.webhookId, id);
    assert.deepEqual(outcome, {
      deliveryId: outcome.deliveryId,
      eventId: event.id,
      status: 'SUCCESS',
      responseStatus: 202,
      latencyMs: outcome.latencyMs,
      errorMessage: null,
    });
    const [row] = await rows(id);
    assert.equal(row.id, outcome.deliveryId);
    assert.deepEqual(
      [row.trigger, row.status, row.attempt, row.responseBody],
      ['TEST', 'SUCCESS', 1, 'thanks'],
    );
    assert.equal((await call('GET', `/me/webhooks/${id}`)).at('data.stats.successCount'), 1);
  });

  test('a failed test makes one attempt and returns immediately', async () => {
    const { id } = await addWebhook();
    sink.reply = () => ({ status: 500 });
    const failed = (await call('POST', `/me/webhooks/${id}/test`)).assertOk(200);
    assert.equal(failed.at('data.status'), 'FAILED');
    assert.equal(failed.at('data.responseStatus'), 500);
    sink.reply = () => ({ fault: 'hang' });
    const hung = (await call('POST', `/me/webhooks/${id}/test`)).assertOk(200);
    assert.equal(hung.at('data.responseStatus'), null);
    assert.equal(hung.at('data.errorMessage'), 'timeout: 800 ms');
    for (const row of await rows(id)) assert.equal(row.nextAttemptAt, null);
    assert.equal(await pending(id), 0);
  });
});

describe('POST /me/webhooks/{id}/deliveries/{deliveryId}/replay', () => {
  test('a replay sends an identical event with the current url and secret; a pending retry is unchanged', async () => {
    const { id } = await addWebhook();
    sink.reply = () => ({ status: 500 });
    await makeStream();
    const [failed] = await untilRows(id, 1);
    const fresh = (await call('POST', `/me/webhooks/${id}/rotate-secret`)).string('data.signingSecret');
    await call('PATCH', `/me/webhooks/${id}`, { url: `${sink.url}/new`, events: ['stream.live'] });
    sink.reply = () => ({ body: 'ok' });
    const path = `/me/webhooks/${id}/deliveries/${failed.id}/replay`;
    const outcome = Object((await call('POST', path)).assertOk(200).at('data'));
    const [first, second] = sink.requests;
    assert.equal(second?.path, '/new');
    assert.deepEqual(second?.rawBody, first?.rawBody);
    assert.equal(verified(second, fresh).id, failed.eventId);
    assert.deepEqual(
      [outcome.eventId, outcome.status, outcome.responseStatus],
      [failed.eventId, 'SUCCESS', 200],
    );
    const [row] = await rows(id, '?trigger=REPLAY');
    assert.deepEqual([row.id, row.replayOf, row.attempt], [outcome.deliveryId, failed.id, 1]);
    assert.equal(await pending(id), 1);
    const again = (await call('POST', `/me/webhooks/${id}/deliveries/${row.id}/replay`)).assertOk(200);
    assert.equal(again.at('data.eventId'), failed.eventId);
  });

  test('replaying an expired event is 404 with an explanation; so is a delivery of another webhook', async () => {
    const { id } = await addWebhook();
    const other = await addWebhook();
    const deliveryId = newId('dlv');
    await app.container.sql`
      insert into delivery_log (id, workspace_id, webhook_id, event_id, event_type, trigger, attempt, status,
        created_at)
      values (${deliveryId}, ${account.live}, ${id}, ${newUuid()}, 'stream.live', 'EVENT', 1, 'SUCCESS', now())`;
    const expired = await call('POST', `/me/webhooks/${id}/deliveries/${deliveryId}/replay`);
    expired.assertError('NOT_FOUND');
    assert.match(expired.string('error.message'), /expired/);
    for (const path of [
      `${other.id}/deliveries/${deliveryId}`,
      `${id}/deliveries/${newId('dlv')}`,
      `${id}/deliveries/x`,
    ]) {
      (await call('POST', `/me/webhooks/${path}/replay`)).assertError('NOT_FOUND');
    }
  });
});

describe('POST /me/webhooks/{id}/recover', () => {
  const since = '2020-01-01T00:00:00Z';

  test('recovery sends missed events: from before creation, from inactive times, and pending retries', async () => {
    await makeStream();
    const { id } = await addWebhook({ events: ['stream.created'] });
    sink.reply = () => ({ status: 500 });
    const waiting = await makeStream();
    await untilRows(id, 1);
    sink.reply = () => ({});
    const received = await makeStream();
    await untilRows(id, 2);
    await call('PATCH', `/me/webhooks/${id}`, { isActive: false });
    await makeStream();
    await call('PATCH', `/me/webhooks/${id}`, { isActive: true });
    sink.requests.length = 0;
    const answer = (await call('POST', `/me/webhooks/${id}/recover`, { since })).assertOk(202);
    assert.deepEqual(answer.at('data'), { queued: 3 });
    const requests = await sink.waitFor(3);
    const told = requests.map((request) => JSON.parse(String(request.rawBody)).data.streamId);
    assert.equal(new Set(told).size, 3);
    assert.ok(told.includes(waiting) && !told.includes(received));
    const recovered = await untilRows(id, 3, '?trigger=RECOVER');
    for (const row of recovered) assert.deepEqual([row.status, row.attempt], ['SUCCESS', 1]);
    assert.equal(await pending(id), 0);
    const nothing = await call('POST', `/me/webhooks/${id}/recover`, { since });
    assert.deepEqual(nothing.at('data'), { queued: 0 });
  });

  test('a pending retry is brought forward, not doubled, even by concurrent recoveries', async () => {
    const { id } = await addWebhook({ events: ['stream.*'] });
    sink.reply = () => ({ status: 500 });
    await makeStream();
    await untilRows(id, 1);
    await waitFor(async () => (await pending(id)) === 1);
    await worker.stop();
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => call('POST', `/me/webhooks/${id}/recover`, { since })),
    );
    const queued = answers.map((answer) => Number(answer.assertOk(202).at('data.queued')));
    assert.deepEqual(queued.sort(), [0, 0, 0, 1]);
    assert.equal(await pending(id), 1);
    worker = startDeliveries();
    await untilRows(id, 1, '?trigger=RECOVER');
  });

  test('recovery uses only its time range and types, and skips events meant for one webhook', async () => {
    await makeStream();
    const { id } = await addWebhook({ events: ['stream.*', 'webhook.*'] });
    const recover = async (body: object) =>
      (await call('POST', `/me/webhooks/${id}/recover`, body)).assertOk(202).at('data.queued');
    await call('POST', `/me/webhooks/${id}/test`);
    await call('POST', `/me/webhooks/${id}/rotate-secret`);
    assert.equal(await recover({ since, until: '2020-02-01T00:00:00Z' }), 0);
    assert.equal(await recover({ since, events: ['stream.live'] }), 0);
    assert.equal(await recover({ since, events: ['webhook.*'] }), 0);
    assert.equal(await recover({ since: '2020-01-01T00:00:00+05:30', events: ['stream.*'] }), 1);
  });

  test('refuses bad times and types, and a webhook that is off', async () => {
    const { id } = await addWebhook();
    const recover = (body: unknown) => call('POST', `/me/webhooks/${id}/recover`, body);
    (await recover({})).assertError('BAD_REQUEST', 'since');
    (await recover({ since: 'yesterday' })).assertError('BAD_REQUEST', 'since');
    (await recover({ since, until: '2019-01-01T00:00:00Z' })).assertError('BAD_REQUEST', 'until');
    (await recover({ since, events: ['nothing.*'] })).assertError('BAD_REQUEST', 'events.0');
    await call('PATCH', `/me/webhooks/${id}`, { isActive: false });
    (await recover({ since })).assertError('CONFLICT', 'isActive');
  });
});

test('another workspace’s webhook is as missing for every act, and READ_ONLY may do none', async () => {
  const { id } = await addWebhook();
  const foreign = await app.createKey();
  const readOnly = await app.createKey({ account, scope: 'READ_ONLY' });
  const acts: [string, string, object?][] = [
    ['PATCH', '', {}],
    ['POST', '/rotate-secret'],
    ['POST', '/test'],
    ['POST', '/simulate', { event: 'stream.live' }],
    ['POST', '/deliveries/dlv_x/replay'],
    ['POST', '/recover', { since: '2020-01-01T00:00:00Z' }],
  ];
  for (const [method, path, body] of acts) {
    (await call(method, `/me/webhooks/${id}${path}`, body, foreign.key)).assertError('NOT_FOUND');
    (await call(method, `/me/webhooks/${id}${path}`, body, readOnly.key)).assertError('INSUFFICIENT_SCOPE');
  }
});
