import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
let mediaRuns = true;
let app: TestApp;

before(async () => {
  app = await startTestApp({ clock, mediaRuns: () => mediaRuns });
});
after(() => app.close());

const page = async (path: string) => {
  const { statusCode, body } = await request(app.url + path);
  return [statusCode, await body.json()];
};

test('GET /health responds without a key', async () => {
  const expected = { status: 'OK', version: '1.0.0', time: '2026-11-20T09:00:00.000Z' };
  const answer = (await app.request('GET', '/health')).assertOk(200).assertRateLimited(false);
  assert.deepEqual(answer.json, { success: true, data: expected });
  assert.equal((await app.request('HEAD', '/health')).status, 200);
});

test('health without the media process is DEGRADED and still responds with 200', async () => {
  mediaRuns = false;
  assert.equal((await app.request('GET', '/health')).assertOk(200).at('data.status'), 'DEGRADED');
  mediaRuns = true;
});

test('other methods are 405', async () => {
  const answer = (await app.request('POST', '/health', { body: {} })).assertError('METHOD_NOT_ALLOWED');
  assert.equal(answer.headers.allow, 'GET');
});

test('without the database /health and /health/ready return 503, /healthz and /readyz 200', async () => {
  assert.deepEqual(await page('/healthz'), [200, { status: 'OK' }]);
  assert.deepEqual(await page('/readyz'), [200, { status: 'OK' }]);
  await app.container.sql.end();
  for (const path of ['/health', '/health/ready']) {
    const answer = (await app.request('GET', path)).assertError('SERVICE_UNAVAILABLE');
    assert.ok(Number(answer.headers['retry-after']) >= 1);
  }
  assert.match((await app.request('GET', '/health/ready')).string('error.message'), /DOWN: database\b/);
  assert.deepEqual(await page('/readyz'), [200, { status: 'OK' }]);
  assert.deepEqual(await page('/healthz'), [200, { status: 'OK' }]);
});
