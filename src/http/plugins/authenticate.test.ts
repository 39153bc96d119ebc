import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { TestClock } from '../../../test/harness/clock.ts';
import type { TestResponse } from '../../../test/harness/response.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
let key: string;

before(async () => {
  app = await startTestApp({ clock, env: { TRUST_PROXY: 'true' } });
  ({ key } = await app.createKey());
});
after(() => app.close());

const get = (headers: Record<string, string | string[]> = {}, path = '/streams'): Promise<TestResponse> =>
  app.request('GET', path, { headers });
const bearer = (value: string) => get({ authorization: `Bearer ${value}` });
const UNKNOWN = `pk_${'0'.repeat(40)}`;

describe('where the key is read', () => {
  test('Authorization: Bearer, in any case of the scheme', async () => {
    (await bearer(key)).assertOk(200).assertRateLimited(true);
    (await get({ authorization: `bearer   ${key} ` })).assertOk(200);
  });

  test('X-API-Key', async () => {
    (await get({ 'x-api-key': key })).assertOk(200).assertRateLimited(true);
  });

  test('Bearer takes precedence over X-API-Key, even when only the other is valid', async () => {
    (await get({ authorization: `Bearer ${key}`, 'x-api-key': UNKNOWN })).assertOk(200);
    (await get({ authorization: `Bearer ${UNKNOWN}`, 'x-api-key': key })).assertError('INVALID_KEY');
  });

  for (const value of [
    '',
    'Bearer',
    'Bearer ',
    'Basic cGs6',
    `Token ${UNKNOWN}`,
    UNKNOWN,
    `Bearer ${UNKNOWN} x`,
  ]) {
    test(`"Authorization: ${value.slice(0, 12)}" is no key`, async () => {
      (await get({ authorization: value })).assertError('UNAUTHORIZED');
      (await get({ authorization: value, 'x-api-key': key })).assertOk(200);
    });
  }

  test('an empty X-API-Key is no key', async () => {
    (await get({ 'x-api-key': '' })).assertError('UNAUTHORIZED');
  });

  test('a key in the query is never read', async () => {
    for (const name of ['key', 'api_key', 'apiKey', 'access_token', 'X-API-Key', 'authorization']) {
      const answer = await get({}, `/streams?${name}=${key}`);
      answer.assertError('UNAUTHORIZED').assertRateLimited(false);
    }
  });

  test('two X-API-Key headers are no key of ours', async () => {
    (await get({ 'x-api-key': [key, key] })).assertError('INVALID_KEY');
  });
});

describe('the five key failures', () => {
  test('UNAUTHORIZED: no key', async () => {
    (await get()).assertError('UNAUTHORIZED').assertRateLimited(false);
  });

  test('INVALID_KEY_FORMAT: it does not start with pk_', async () => {
    for (const wrong of ['sk_123', 'PK_123', 'x', 'pk', 'eyJhbGciOi.x.y']) {
      (await bearer(wrong)).assertError('INVALID_KEY_FORMAT').assertRateLimited(false);
    }
  });

  test('INVALID_KEY: unknown, or not of a key’s form behind pk_', async () => {
    for (const wrong of [UNKNOWN, 'pk_', 'pk_x', key.toUpperCase().replace('PK_', 'pk_'), `${key}0`]) {
      (await bearer(wrong)).assertError('INVALID_KEY').assertRateLimited(false);
    }
  });

  test('KEY_DISABLED: a revoked key is rejected immediately although it was just used', async () => {
    const made = await app.createKey();
    (await bearer(made.key)).assertOk(200);
    await app.container.apiKeys.revoke(made.id);
    (await bearer(made.key)).assertError('KEY_DISABLED').assertRateLimited(false);
  });

  test('KEY_DISABLED: the account is suspended', async () => {
    const made = await app.createKey();
    await app.container.accounts.suspend(made.account.email);
    (await bearer(made.key)).assertError('KEY_DISABLED');
  });

  test('KEY_EXPIRED: from the very millisecond, although it was just used', async () => {
    const expiresAt = new TestClock(clock.ms() + 60_000).now();
    const made = await app.createKey({ expiresAt });
    clock.advance(59_999);
    (await bearer(made.key)).assertOk(200);
    clock.advance(1);
    (await bearer(made.key)).assertError('KEY_EXPIRED').assertRateLimited(false);
  });

  test('a revoked key that has also expired is KEY_DISABLED', async () => {
    const made = await app.createKey({ expiresAt: clock.now() });
    await app.container.apiKeys.revoke(made.id);
    (await bearer(made.key)).assertError('KEY_DISABLED');
  });
});

describe('the restrictions of a key: 403 without rate-limit headers', () => {
  test('EMAIL_NOT_VERIFIED until the account is', async () => {
    const account = await app.createAccount({ verified: false });
    const made = await app.createKey({ account });
    (await bearer(made.key)).assertError('EMAIL_NOT_VERIFIED').assertRateLimited(false);
    await app.container.accounts.verify(account.email);
    app.container.apiKeys.forget();
    (await bearer(made.key)).assertOk(200);
  });

  const addresses: [rules: string[], from: string, allowed: boolean][] = [
    [['203.0.113.7'], '203.0.113.7', true],
    [['203.0.113.7'], '203.0.113.8', false],
    [['203.0.113.0/24'], '203.0.113.255', true],
    [['203.0.113.0/24'], '203.0.114.0', false],
    [['10.0.0.1', '203.0.113.0/30'], '203.0.113.3', true],
    [['203.0.113.7'], '::ffff:203.0.113.7', true],
    [['203.0.113.0/24'], '::ffff:cb00:7107', true],
    [['2001:db8::/32'], '2001:db8:1::1', true],
    [['2001:db8::/32'], '2001:db9::1', false],
    [['2001:db8::1'], '2001:0DB8:0::0001', true],
    [['0.0.0.0/0'], '198.51.100.1', true],
    [['0.0.0.0/0'], '2001:db8::1', false],
    [['::/0'], '2001:db8::1', true],
    [['203.0.113.7'], 'unknown', false],
  ];
  for (const [ipAllowlist, from, allowed] of addresses) {
    test(`${ipAllowlist.join(' and ')} ${allowed ? 'allows' : 'refuses'} ${from}`, async () => {
      const made = await app.createKey({ ipAllowlist });
      const answer = await get({ 'x-api-key': made.key, 'x-forwarded-for': from });
      if (allowed) answer.assertOk(200);
      else answer.assertError('IP_NOT_ALLOWED').assertRateLimited(false);
    });
  }

  const domains: [rules: string[], headers: Record<string, string>, allowed: boolean][] = [
    [['app.example.com'], { origin: 'https://app.example.com' }, true],
    [['app.example.com'], { origin: 'https://APP.Example.com:8443' }, true],
    [['APP.example.com'], { origin: 'https://app.example.com' }, true],
    [['app.example.com'], { origin: 'https://example.com' }, false],
    [['app.example.com'], { origin: 'https://app.example.com.evil.test' }, false],
    [['app.example.com'], { referer: 'https://app.example.com/page?x=1' }, true],
    [['app.example.com'], { origin: 'https://evil.test', referer: 'https://app.example.com/' }, false],
    [['app.example.com'], { origin: 'null' }, false],
    [['app.example.com'], {}, false],
    [['*.Example.com'], { origin: 'https://a.b.example.com' }, true],
    [['*.example.com'], { origin: 'https://example.com' }, false],
    [['*.example.com'], { origin: 'https://badexample.com' }, false],
    [['bücher.example'], { origin: 'https://xn--bcher-kva.example' }, true],
    [['localhost'], { origin: 'http://localhost:3000' }, true],
  ];
  for (const [domainAllowlist, headers, allowed] of domains) {
    test(`${domainAllowlist} ${allowed ? 'allows' : 'refuses'} ${JSON.stringify(headers)}`, async () => {
      const made = await app.createKey({ domainAllowlist });
      const answer = await get({ 'x-api-key': made.key, ...headers });
      if (allowed) answer.assertOk(200);
      else answer.assertError('DOMAIN_NOT_ALLOWED').assertRateLimited(false);
    });
  }
});

describe('X-User-Token', () => {
  test('an absent or empty user token leaves the request to the key', async () => {
    (await get({ 'x-api-key': key, 'x-user-token': '' })).assertOk(200);
  });

  test('anything that does not verify is 401, with the rate-limit headers of the key', async () => {
    for (const token of ['x', 'a.b.c', key, `Bearer ${key}`]) {
      const answer = await get({ 'x-api-key': key, 'x-user-token': token });
      answer.assertError('INVALID_USER_TOKEN').assertRateLimited(true);
    }
  });

  test('the key is checked first', async () => {
    (await get({ 'x-api-key': UNKNOWN, 'x-user-token': 'x' })).assertError('INVALID_KEY');
  });
});

test('an account’s new plan applies immediately after the operator changed it', async () => {
  const account = await app.createAccount({ plan: 'FREE' });
  const made = await app.createKey({ account });
  const start = async () => {
    const created = await app.request('POST', '/streams', { key: made.key, body: { title: 'x' } });
    return app.request('POST', `/streams/${created.string('data.id')}/start`, { key: made.key });
  };
  (await start()).assertOk(200);
  (await start()).assertError('QUOTA_EXCEEDED');
  await app.container.accounts.setPlan(account.email, 'STAR');
  (await start()).assertOk(200);
});
