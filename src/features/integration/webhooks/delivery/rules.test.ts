import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import Stripe from 'stripe';
import { waitFor } from '../../../../../test/harness/wait-for.ts';
import { systemClock } from '../../../../kernel/clock.ts';
import { type AttemptOutcome, ConcurrencyWindow } from './concurrency-window.ts';
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

type Job = { webhookId: string };
const jobsOf = (webhookId: string, count: number): Job[] =>
  Array.from({ length: count }, () => ({ webhookId }));

/** Creates `Endpoints` and records the begun and released jobs. */
function endpointsOf(maxHeld: number, perEndpoint = 32) {
  const begun: Job[] = [];
  const returned: Job[] = [];
  const endpoints = new Endpoints<Job>({
    perEndpoint,
    maxHeld,
    lineMs: 10_000,
    begin: (job) => begun.push(job),
    giveBack: (jobs) => returned.push(...jobs),
  });
  const claimAll = (due: Record<string, number>) => {
    endpoints.addDue(Object.keys(due));
    const slots = endpoints.slots();
    const jobs = slots.flatMap(({ webhookId, cap }) => jobsOf(webhookId, Math.min(cap, due[webhookId] ?? 0)));
    endpoints.claimed(slots, jobs, performance.now());
    return slots;
  };
  return { endpoints, begun, returned, claimAll };
}
const answer = (latencyMs: number) => ({ success: true, latencyMs });

test('an endpoint that nothing is known of gets four, and the free room is shared in turns', () => {
  const { endpoints, claimAll } = endpointsOf(6);
  const plenty = { a: 9, b: 9, c: 9 };
  assert.deepEqual(claimAll(plenty), [
    { webhookId: 'a', cap: 4 },
    { webhookId: 'b', cap: 2 },
  ]);
  endpoints.ended('a', { success: false, latencyMs: 1 });
  assert.deepEqual(claimAll(plenty), [{ webhookId: 'c', cap: 1 }]);
  endpoints.ended('b', { success: false, latencyMs: 1 });
  assert.deepEqual(endpoints.slots(), [{ webhookId: 'b', cap: 1 }]);
});

test('a webhook with fewer jobs than requested is skipped until it is due again', () => {
  const { endpoints, claimAll } = endpointsOf(10);
  claimAll({ a: 1 });
  assert.deepEqual(endpoints.slots(), []);
  endpoints.addDue(['a']);
  assert.deepEqual(endpoints.slots(), [{ webhookId: 'a', cap: 3 }]);
});

test('few jobs are begun one after the other, a backlog side by side', () => {
  const { endpoints, begun, claimAll } = endpointsOf(100);
  claimAll({ a: 3 });
  assert.equal(begun.length, 1);
  endpoints.ended('a', answer(5));
  assert.equal(begun.length, 2);
  claimAll({ a: 9 });
  assert.equal(begun.length - 1, 4);
});

test('a job that waits longer than a healthy receiver takes starts in parallel to the previous one', async () => {
  const { begun, claimAll } = endpointsOf(100);
  claimAll({ a: 2 });
  assert.equal(begun.length, 1);
  await waitFor(() => begun.length === 2);
});

test('attempts that end as they begin leave no count or timer', async () => {
  const begun: string[] = [];
  const endpoints: Endpoints<Job & { name: string }> = new Endpoints({
    perEndpoint: 32,
    maxHeld: 400,
    lineMs: 10_000,
    begin: ({ webhookId, name }) => {
      begun.push(name);
      if (name.startsWith('over')) endpoints.ended(webhookId, null);
    },
    giveBack: () => {},
  });
  const claim = (...names: string[]) =>
    endpoints.claimed(
      [{ webhookId: 'a', cap: 4 }],
      names.map((name) => ({ webhookId: 'a', name })),
      performance.now(),
    );
  claim('first');
  claim('over at once');
  await sleep(50);
  claim('over then');
  await waitFor(() => begun.length === 2);
  endpoints.ended('a', null);
  claim('next');
  claim('last');
  // Waits long enough for a leftover timer to fire.
  await sleep(100);
  endpoints.ended('a', null);
  assert.deepEqual(begun, ['first', 'over at once', 'over then', 'next', 'last']);
  endpoints.ended('a', null);
  endpoints.addDue(['a']);
  assert.deepEqual(endpoints.slots(), [{ webhookId: 'a', cap: 4 }]);
});

test('a receiver that keeps up is sent 32 side by side, and leaves half of the places to others', () => {
  const { endpoints, begun, claimAll } = endpointsOf(100);
  const due = { a: 1000 };
  for (let n = 0; n < 200; n++) {
    claimAll(due);
    endpoints.ended('a', answer(80));
  }
  claimAll(due);
  assert.equal(begun.length - 200, 32);
  const others = claimAll({ a: 1000, b: 9, c: 9, d: 9, e: 9, f: 9, g: 9, h: 9, i: 9, j: 9, k: 9 });
  assert.deepEqual(
    others.filter(({ webhookId }) => webhookId !== 'a').map(({ cap }) => cap),
    Array(10).fill(4),
  );
});

test('a window shrinks by one with slow answers, by half with failures, and grows again', () => {
  const window = new ConcurrencyWindow(32);
  const end = (times: number, ended: AttemptOutcome) => {
    for (let n = 0; n < times; n++) window.ended(ended, true);
    return window.size;
  };
  assert.equal(end(100, answer(80)), 32);
  assert.equal(end(3, answer(5000)), 29);
  assert.equal(end(500, answer(2)), 29, 'what is fast needs no more');
  assert.equal(end(1, { success: false, latencyMs: 3 }), 14);
  assert.equal(end(9, { success: false, latencyMs: null }), 1);
  assert.equal(end(3, answer(2)), 4);
  assert.equal(end(100, answer(2)), 8);
  const idle = new ConcurrencyWindow(32);
  for (let n = 0; n < 100; n++) idle.ended(answer(80), false);
  assert.equal(idle.size, 4, 'what was not asked for proves nothing');
});

test('jobs claimed for a receiver that begins to fail are released', () => {
  const { endpoints, begun, returned, claimAll } = endpointsOf(400);
  for (let n = 0; n < 50; n++) {
    claimAll({ a: 1000 });
    endpoints.ended('a', answer(80));
  }
  for (let n = 50; n < begun.length; n++) endpoints.ended('a', { success: false, latencyMs: null });
  assert.ok(returned.length >= 10, `${returned.length} given back`);
  assert.deepEqual(endpoints.slots(), [{ webhookId: 'a', cap: 1 }]);
});
