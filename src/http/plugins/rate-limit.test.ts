import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { TestClock } from '../../../test/harness/clock.ts';
import type { TestResponse } from '../../../test/harness/response.ts';

const clock = new TestClock('2026-11-20T23:59:00.000Z');
let app: TestApp;

before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

const header = (answer: TestResponse, name: string) => Number(answer.headers[name]);

describe('the limit of a key', () => {
  test('counts down, then 429 with Retry-After; other keys have their own bucket', async () => {
    const { key, account } = await app.createKey({ rateLimitPerMinute: 3 });
    const { key: other } = await app.createKey({ account, rateLimitPerMinute: 3 });
    const get = (by: string) => app.request('GET', '/streams', { key: by });
    for (const remaining of [2, 1, 0]) {
      const answer = (await get(key)).assertOk(200).assertRateLimited(true);
      assert.equal(header(answer, 'x-ratelimit-limit'), 3);
      assert.equal(header(answer, 'x-ratelimit-remaining'), remaining);
      const untilReset = header(answer, 'x-ratelimit-reset') * 1000 - clock.ms();
      assert.ok(untilReset > 50_000 && untilReset <= 61_000, `${untilReset} ms`);
      assert.equal(answer.headers['retry-after'], undefined);
    }
    const refused = (await get(key)).assertError('RATE_LIMITED').assertRateLimited(true);
    assert.equal(header(refused, 'x-ratelimit-remaining'), 0);
    const retryAfter = header(refused, 'retry-after');
    assert.ok(Number.isInteger(retryAfter) && retryAfter >= 1 && retryAfter <= 60, `${retryAfter}`);
    assert.equal((await get(other)).assertOk(200).headers['x-ratelimit-remaining'], '2');
  });

  test('a key of the dashboard has 10,000', async () => {
    const { key } = await app.createKey();
    const answer = await app.request('GET', '/streams', { key });
    assert.equal(header(answer, 'x-ratelimit-limit'), 10_000);
    assert.equal(header(answer, 'x-ratelimit-remaining'), 9999);
  });

  test('refusals after the key check carry the headers and count', async () => {
    const { key } = await app.createKey({ scope: 'READ_ONLY', rateLimitPerMinute: 100 });
    const answers = [
      (await app.request('POST', '/streams', { key, body: {} })).assertError('INSUFFICIENT_SCOPE'),
      (await app.request('GET', '/streams?limit=0', { key })).assertError('BAD_REQUEST', 'limit'),
      (await app.request('GET', '/streams/str_x', { key })).assertError('NOT_FOUND'),
      (await app.request('PUT', '/streams', { key })).assertError('METHOD_NOT_ALLOWED'),
      (await app.request('GET', '/no/such/path', { key })).assertError('NOT_FOUND'),
      (await app.request('GET', '/streams/%zz', { key })).assertError('BAD_REQUEST', 'path'),
      (await app.request('GET', '/search', { key })).assertError('CATALOG_DISABLED'),
    ];
    for (const [index, answer] of answers.entries()) {
      answer.assertRateLimited(true);
      assert.equal(header(answer, 'x-ratelimit-remaining'), 99 - index);
    }
  });

  test('a refusal by the key check counts nothing', async () => {
    const { key } = await app.createKey({ rateLimitPerMinute: 2, domainAllowlist: ['app.example.com'] });
    for (let i = 0; i < 5; i++) {
      const refused = await app.request('GET', '/streams', { key });
      refused.assertError('DOMAIN_NOT_ALLOWED').assertRateLimited(false);
    }
    const headers = { origin: 'https://app.example.com' };
    const admitted = await app.request('GET', '/streams', { key, headers });
    assert.equal(admitted.headers['x-ratelimit-remaining'], '1');
  });

  test('a refused user token is a later 401: it counts and carries the headers', async () => {
    const { key } = await app.createKey({ rateLimitPerMinute: 2 });
    const get = () => app.request('GET', '/streams', { key, headers: { 'x-user-token': 'x' } });
    for (const remaining of ['1', '0']) {
      const refused = await get();
      refused.assertError('INVALID_USER_TOKEN').assertRateLimited(true);
      assert.equal(refused.headers['x-ratelimit-remaining'], remaining);
    }
    (await get()).assertError('RATE_LIMITED');
  });

  test('Svc-Key-Mode contains the mode of the key', async () => {
    for (const mode of ['live', 'test'] as const) {
      const { key } = await app.createKey({ mode });
      assert.equal((await app.request('GET', '/streams', { key })).headers['svc-key-mode'], mode);
    }
  });

  test('HEAD counts as GET does', async () => {
    const { key } = await app.createKey({ rateLimitPerMinute: 1 });
    assert.equal((await app.request('HEAD', '/streams', { key })).status, 200);
    assert.equal((await app.request('HEAD', '/streams', { key })).status, 429);
  });
});

describe('the daily quota', () => {
  const daily = ['x-ratelimit-daily-limit', 'x-ratelimit-daily-remaining', 'x-ratelimit-daily-reset'];

  test('its headers are on keys that have one, and on no other', async () => {
    const { key: without } = await app.createKey();
    const plain = await app.request('GET', '/streams', { key: without });
    for (const name of daily) assert.equal(plain.headers[name], undefined);
    const { key } = await app.createKey({ dailyQuota: 5 });
    const answer = await app.request('GET', '/streams', { key });
    assert.equal(header(answer, 'x-ratelimit-daily-limit'), 5);
    assert.equal(header(answer, 'x-ratelimit-daily-remaining'), 4);
    assert.equal(header(answer, 'x-ratelimit-daily-reset') * 1000, Date.parse('2026-11-21T00:00:00Z'));
  });

  test('DAILY_QUOTA_EXCEEDED when it is used up, until 00:00 UTC', async () => {
    const { key } = await app.createKey({ dailyQuota: 2 });
    const get = () => app.request('GET', '/streams', { key });
    (await get()).assertOk(200);
    (await get()).assertOk(200);
    const refused = (await get()).assertError('DAILY_QUOTA_EXCEEDED').assertRateLimited(true);
    assert.equal(header(refused, 'x-ratelimit-daily-remaining'), 0);
    assert.equal(header(refused, 'retry-after'), 60);
    clock.advance(60_000);
    const next = (await get()).assertOk(200);
    assert.equal(header(next, 'x-ratelimit-daily-remaining'), 1);
    assert.equal(header(next, 'x-ratelimit-daily-reset') * 1000, Date.parse('2026-11-22T00:00:00Z'));
  });

  test('what the minute refuses costs nothing of the day, and still shows it', async () => {
    const { key } = await app.createKey({ dailyQuota: 10, rateLimitPerMinute: 2 });
    const get = () => app.request('GET', '/streams', { key });
    await get();
    await get();
    for (let i = 0; i < 3; i++) {
      const refused = (await get()).assertError('RATE_LIMITED');
      assert.equal(header(refused, 'x-ratelimit-daily-remaining'), 8);
    }
  });
});
