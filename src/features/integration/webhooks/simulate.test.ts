import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Stripe from 'stripe';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';

let app: TestApp;
let key: string;
const { webhooks: verifier } = new Stripe('sk_test_unused');
const HOOK = 'https://hooks.allowed/in?a=1';

before(async () => {
  // The name does not resolve: an attempt to send would fail.
  app = await startTestApp({ env: { WEBHOOK_ALLOW_PRIVATE: 'hooks.allowed', DNS_SERVERS: '127.0.0.1:9' } });
  ({ key } = await app.createKey());
});
after(() => app.close());

const call = (method: string, path: string, body?: unknown, as = key) =>
  app.request(method, path, { key: as, ...(body === undefined ? {} : { body }) });

async function addWebhook(input: object = {}) {
  const made = (await call('POST', '/me/webhooks', { url: HOOK, ...input })).assertOk(201);
  return { id: made.string('data.id'), secret: made.string('data.signingSecret') };
}

describe('POST /me/webhooks/{id}/simulate', () => {
  test('simulation renders exactly the documented request, signed, and sends nothing', async () => {
    const { id, secret } = await addWebhook({ events: ['stream.*'] });
    const answer = await call('POST', `/me/webhooks/${id}/simulate`, {
      event: 'stream.live',
      payload: { status: 'ACTIVE', extra: { 'é\u2028': [1, null] } },
    });
    const data = Object(answer.assertOk(200).at('data'));
    assert.deepEqual(Object.keys(data), ['deliveryUrl', 'wouldDeliver', 'renderedRequest', 'note']);
    const { method, url, headers, body, bodyString } = data.renderedRequest;
    assert.deepEqual([data.deliveryUrl, data.wouldDeliver, method, url], [HOOK, true, 'POST', HOOK]);
    assert.match(headers['SVC-Event-Id'], /^evt_dry_[0-9a-f]{32}$/);
    assert.deepEqual(headers, {
      'Content-Type': 'application/json',
      'User-Agent': 'svc-webhook/1.0',
      'SVC-Event-Id': body.id,
      'SVC-Event-Type': 'stream.live',
      'SVC-Event-Timestamp': String(body.created),
      'SVC-Signature': headers['SVC-Signature'],
    });
    verifier.constructEvent(bodyString, headers['SVC-Signature'], secret);
    assert.match(headers['SVC-Signature'], new RegExp(`^t=${headers['SVC-Event-Timestamp']},v1=`));
    assert.deepEqual(JSON.parse(bodyString), body);
    assert.deepEqual(Object.keys(body), ['id', 'type', 'created', 'data']);
    const { streamId, wentLiveAt, ...overridden } = body.data;
    assert.ok(streamId.startsWith('str_') && wentLiveAt.endsWith('Z'));
    assert.deepEqual(overridden, { status: 'ACTIVE', extra: { 'é\u2028': [1, null] } });
    assert.equal(typeof data.note, 'string');
    assert.deepEqual((await call('GET', `/me/webhooks/${id}/deliveries`)).list('data'), []);
    assert.equal((await call('GET', `/me/webhooks/${id}`)).at('data.stats.totalDeliveries'), 0);
    assert.deepEqual((await call('GET', '/me/events?type=stream.*')).list('data'), []);
  });

  test('wouldDeliver follows isActive and events; every type of the catalog has a sample', async () => {
    const { id } = await addWebhook({ events: ['stream.broadcast_started'] });
    const simulate = async (event: string) =>
      (await call('POST', `/me/webhooks/${id}/simulate`, { event })).assertOk(200);
    const types = (await call('GET', '/me/webhooks/events')).list('data').map(String);
    assert.ok(types.includes('webhook.failing') && types.includes('stream.created'));
    for (const type of types) {
      assert.equal((await simulate(type)).at('data.wouldDeliver'), type === 'stream.broadcast_started', type);
    }
    await call('PATCH', `/me/webhooks/${id}`, { isActive: false });
    assert.equal((await simulate('stream.broadcast_started')).at('data.wouldDeliver'), false);
  });

  test('refuses an unknown event, and a payload that is no object', async () => {
    const { id } = await addWebhook();
    const simulate = (body: unknown) => call('POST', `/me/webhooks/${id}/simulate`, body);
    for (const event of ['purchase.completed', 'stream.*', '*', '', 'toString', '__proto__']) {
      (await simulate({ event })).assertError('UNKNOWN_EVENT', 'event');
    }
    for (const event of [undefined, null, 5]) (await simulate({ event })).assertError('BAD_REQUEST', 'event');
    for (const payload of [null, [], 'x', 1]) {
      (await simulate({ event: 'stream.live', payload })).assertError('BAD_REQUEST', 'payload');
    }
    const foreign = await app.createKey();
    (await call('POST', `/me/webhooks/${id}/simulate`, { event: 'stream.live' }, foreign.key)).assertError(
      'NOT_FOUND',
    );
  });
});
