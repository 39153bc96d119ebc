import assert from 'node:assert/strict';
import { test } from 'node:test';
import Stripe from 'stripe';
import { systemClock } from '../../../kernel/clock.ts';
import { Endpoints } from './endpoints.ts';
import { afterAttempt } from './schedule.ts';
import { renderDelivery, signatureHeader } from './signature.ts';

const DELAYS = [60, 300, 1800, 7200, 21_600, 43_200];

test('seven attempts with the documented delays, then no more', () => {
  const failures = [1, 2, 3, 4, 5, 6, 7].map((attempt) => afterAttempt(false, attempt, 'EVENT', DELAYS));
  assert.deepEqual(
    failures.map(({ retrySec }) => retrySec),
    [...DELAYS, null],
  );
  assert.deepEqual(
    failures.map(({ status }) => status),
    [...DELAYS.map(() => 'FAILED'), 'EXHAUSTED'],
  );
  assert.deepEqual(afterAttempt(true, 3, 'RECOVER', DELAYS), { status: 'SUCCESS', retrySec: null });
  assert.deepEqual(afterAttempt(false, 1, 'EVENT', []), { status: 'EXHAUSTED', retrySec: null });
  for (const trigger of ['TEST', 'REPLAY'] as const) {
    assert.deepEqual(afterAttempt(false, 1, trigger, DELAYS), { status: 'FAILED', retrySec: null });
    assert.deepEqual(afterAttempt(true, 1, trigger, DELAYS), { status: 'SUCCESS', retrySec: null });
  }
});

test('the request is exactly the documented one, and an independent verifier accepts it', () => {
  const body = '{"id":"x","data":{"text":"é\\u0000"}}';
  const content = { url: 'https://a.example/h', secret: 'whsec_x', eventId: 'e', eventType: 'a.b', body };
  const now = Math.floor(systemClock.ms() / 1000);
  const request = renderDelivery(content, now);
  assert.deepEqual(request, {
    url: 'https://a.example/h',
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'svc-webhook/1.0',
      'SVC-Event-Id': 'e',
      'SVC-Event-Type': 'a.b',
      'SVC-Signature': signatureHeader('whsec_x', now, body),
    },
    body,
  });
  const { webhooks } = new Stripe('sk_test_unused');
  const signature = request.headers['SVC-Signature'] ?? '';
  assert.equal(webhooks.constructEvent(body, signature, 'whsec_x').id, 'x');
  assert.throws(() => webhooks.constructEvent(`${body} `, signature, 'whsec_x'));
  assert.throws(() => webhooks.constructEvent(body, signature, 'whsec_y'));
  const old = signatureHeader('whsec_x', now - 301, body);
  assert.throws(() => webhooks.constructEvent(body, old, 'whsec_x'), /tolerance/);
});

test('a known signature', () => {
  // printf '1700000000.{}' | openssl dgst -sha256 -hmac whsec_test
  assert.equal(
    signatureHeader('whsec_test', 1_700_000_000, '{}'),
    't=1700000000,v1=35495024f4ef3f94e5a93e22221544c4b75e9a42300cd965ab81cb85cd994e91',
  );
});

const jobsOf = (id: string, count: number) => Array.from({ length: count }, () => ({ webhookId: id }));

test('an endpoint gets at most its cap, and the free room is shared in turns', () => {
  const endpoints = new Endpoints(4);
  endpoints.addDue(['a', 'b', 'c']);
  const slots = endpoints.slots(6);
  assert.deepEqual(slots, [
    { webhookId: 'a', cap: 4 },
    { webhookId: 'b', cap: 2 },
  ]);
  endpoints.claimed(slots, [...jobsOf('a', 4), ...jobsOf('b', 2)]);
  for (let i = 0; i < 4; i++) endpoints.started('a');
  for (let i = 0; i < 2; i++) endpoints.started('b');
  assert.deepEqual(endpoints.slots(10), [
    { webhookId: 'c', cap: 4 },
    { webhookId: 'b', cap: 2 },
  ]);
  endpoints.ended('a', false);
  assert.deepEqual(endpoints.slots(1), [{ webhookId: 'c', cap: 1 }]);
});

test('who got less than asked for is left alone until it is found due again', () => {
  const endpoints = new Endpoints(4);
  endpoints.addDue(['a']);
  endpoints.claimed(endpoints.slots(10), jobsOf('a', 3));
  assert.deepEqual(endpoints.slots(10), []);
  endpoints.addDue(['a']);
  assert.deepEqual(endpoints.slots(10), [{ webhookId: 'a', cap: 4 }]);
});

test('five timeouts in a row leave one attempt at a time, any answer lifts it', () => {
  const endpoints = new Endpoints(4);
  const timeout = (timedOut: boolean) => {
    endpoints.started('a');
    endpoints.ended('a', timedOut);
    endpoints.addDue(['a']);
    return endpoints.slots(10)[0]?.cap;
  };
  assert.deepEqual([true, true, true, true, false, true].map(timeout), [4, 4, 4, 4, 4, 4]);
  assert.deepEqual([true, true, true, true, true].map(timeout), [4, 4, 4, 1, 1]);
  assert.equal(timeout(false), 4);
});
