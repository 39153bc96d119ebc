import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { newKey } from '../../features/identity/api-keys/rules.ts';
import { newUuid } from '../../kernel/ids.ts';
import { resolveVersion } from './version.ts';

let app: TestApp;
let key: string;

before(async () => {
  app = await startTestApp();
  ({ key } = await app.createKey());
});
after(() => app.close());

describe('Svc-API-Version', () => {
  const ask = (value: string, path = '/streams') =>
    app.request('GET', path, { key, headers: { 'svc-api-version': value } });

  for (const value of ['1', '1.0', '1.0.0', '2026-11-01', '2030-01-01', '']) {
    test(`"${value}" is answered by 1.0.0`, async () => {
      const answer = (await ask(value)).assertOk(200);
      assert.equal(answer.headers['svc-api-version'], '1.0.0');
      assert.match(answer.headers.vary ?? '', /\bSvc-API-Version\b/i);
    });
  }

  for (const value of [
    '2',
    '0',
    '1.1',
    '1.0.1',
    '1.0.0.0',
    '01',
    'v1',
    'latest',
    '1.',
    '2026-10-31',
    '2026-13-01',
  ]) {
    test(`"${value}" is 400 and the error lists the supported versions`, async () => {
      const answer = (await ask(value)).assertError('BAD_REQUEST', 'Svc-API-Version');
      assert.match(answer.string('error.message'), /1\.0\.0/);
    });
  }

  test('C23.4: an unknown version is rejected after the key and the rate limit', async () => {
    const headers = { 'svc-api-version': '2' };
    (await app.request('GET', '/streams', { headers })).assertError('UNAUTHORIZED');
    (await app.request('GET', '/streams', { key: newKey(), headers })).assertError('INVALID_KEY');
    (await ask('2')).assertError('BAD_REQUEST', 'Svc-API-Version').assertRateLimited(true);
    const { key: slow } = await app.createKey({ rateLimitPerMinute: 1 });
    (await app.request('GET', '/streams', { key: slow, headers })).assertError(
      'BAD_REQUEST',
      'Svc-API-Version',
    );
    (await app.request('GET', '/streams', { key: slow, headers })).assertError('RATE_LIMITED');
  });

  test('it is checked on public paths', async () => {
    (await ask('2', '/health')).assertError('BAD_REQUEST', 'Svc-API-Version');
    (await ask('1', '/health')).assertOk(200);
  });

  test('30 February is no date, and a date before the first release none of ours', () => {
    assert.throws(() => resolveVersion('2027-02-30'));
    assert.throws(() => resolveVersion('2020-01-01'));
    assert.equal(resolveVersion('2027-02-28'), '1.0.0');
  });
});

describe('X-SVC-Request-Id', () => {
  const ask = async (id: string | string[]) =>
    (await app.request('GET', '/streams', { key, headers: { 'x-svc-request-id': id } })).headers[
      'x-svc-request-id'
    ];

  test('a strict UUIDv4 is echoed, on refusals too', async () => {
    const id = newUuid();
    assert.equal(await ask(id), id);
    for (const [method, path] of [
      ['GET', '/nope'],
      ['PUT', '/streams'],
      ['GET', '/%zz'],
      ['POST', '/streams'],
    ] as const) {
      const refused = await app.request(method, path, { headers: { 'x-svc-request-id': id } });
      assert.equal(refused.headers['x-svc-request-id'], id);
    }
  });

  for (const id of [
    '',
    'abc',
    '9b2f6d3a-1c4e-1f5a-8b6c-7d8e9f0a1b2c',
    newUuid().replaceAll('-', ''),
    `${newUuid()}x`,
  ]) {
    test(`"${id}" is replaced`, async () => {
      const answered = await ask(id);
      assert.notEqual(answered, id);
      assert.match(answered ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    });
  }

  test('two of them are none', async () => {
    const ids = [newUuid(), newUuid()];
    assert.ok(!ids.includes((await ask(ids)) ?? ''));
  });
});
