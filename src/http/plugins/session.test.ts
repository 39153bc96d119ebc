import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Browser, OWN_ORIGIN } from '../../../test/auth/browser.ts';
import { type AuthFixture, PASSWORD, type Person, startAuthFixture } from '../../../test/auth/fixture.ts';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { TestClock } from '../../../test/harness/clock.ts';
import { apiRoutes } from '../../main/api.ts';
import type { Route } from '../route.ts';

let auth: AuthFixture;
let app: TestApp;
let person: Person;
let browser: Browser;
const clock = new TestClock('2026-11-20T09:00:00Z');
const STREAM = { body: { title: 'A stream' } };

before(async () => {
  auth = await startAuthFixture(clock, { PLATFORM_HOSTS: 'studio.example.com' });
  app = auth.app;
  person = await auth.person();
  browser = new Browser(app);
  await browser.signIn(person);
});
after(() => auth.close());

const post = (headers: Record<string, string>) => browser.send('POST', '/streams', { ...STREAM, headers });

describe('forged requests', () => {
  test('C23.12: forged requests of an origin with another scheme, host or port are rejected, with the right token too', async () => {
    for (const origin of [
      'https://evil.example',
      'null',
      'http://marquee.test.evil.example',
      'http://sub.marquee.test',
      'https://marquee.test',
      'http://marquee.test:8080',
      'http://studio.example.com',
      'https://studio.example.com:8443',
      'https://sub.studio.example.com',
      app.url,
      'file:///etc/passwd',
      'garbage',
      '',
    ]) {
      (await post({ origin })).assertError('CSRF_REJECTED', 'Origin').assertRateLimited(false);
    }
    assert.equal((await browser.get('/streams')).list('data').length, 0);
  });

  test('requests without a token, with a wrong one or with that of another session are rejected', async () => {
    const other = new Browser(app);
    await other.signIn(person);
    for (const token of [
      '',
      'wrong',
      browser.csrfToken.slice(0, -1),
      `${browser.csrfToken}x`,
      other.csrfToken,
    ]) {
      (await post({ 'x-csrf-token': token })).assertError('CSRF_REJECTED', 'X-CSRF-Token');
    }
    assert.equal((await browser.get('/streams')).list('data').length, 0);
  });

  test('every method that is no plain read needs both; a plain read needs neither', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const path = { POST: '/streams', PUT: '/me/avatar', PATCH: '/me', DELETE: '/me/avatar' }[method] ?? '';
      const answer = await browser.send(method, path, { body: {}, headers: { 'x-csrf-token': '' } });
      answer.assertError('CSRF_REJECTED', 'X-CSRF-Token');
    }
    const cookie = browser.cookie ?? '';
    for (const method of ['GET', 'HEAD']) {
      assert.equal((await app.request(method, '/streams', { headers: { cookie } })).status, 200);
    }
  });

  test('cannot sign a browser in, either', async () => {
    const body = { email: person.email, password: PASSWORD };
    for (const headers of [{ origin: 'https://evil.example' }, {}]) {
      for (const path of ['/auth/session', '/auth/session/2fa', '/auth/session/register']) {
        const answer = await app.request('POST', path, { body, headers });
        answer.assertError('CSRF_REJECTED', 'Origin');
        assert.equal(answer.headers['set-cookie'], undefined);
      }
    }
  });

  test('C23.12: pages of PUBLIC_URL and of https with PLATFORM_HOSTS are accepted', async () => {
    for (const origin of [OWN_ORIGIN, 'http://marquee.test:80', 'https://studio.example.com']) {
      (await post({ origin })).assertOk(201);
    }
  });

  test('no page of another origin can read an answer that the cookie gave', async () => {
    const answer = await browser.get('/auth/session', { origin: 'https://evil.example' });
    assert.equal(answer.headers['access-control-allow-origin'], '*');
    assert.equal(answer.headers['access-control-allow-credentials'], undefined);
    const preflight = await app.request('OPTIONS', '/streams', {
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    });
    const allowed = (preflight.headers['access-control-allow-headers'] ?? '').toLowerCase();
    assert.ok(!allowed.includes('x-csrf-token') && !allowed.includes('cookie'), allowed);
  });
});

describe('the cookie', () => {
  test('has its attributes over http and https', async () => {
    assert.match(
      browser.lastSetCookie,
      /^session=[\w-]{43}; Max-Age=7776000; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const secure = await startTestApp({
      beside: app,
      clock,
      env: { PUBLIC_URL: 'https://marquee.test', TRUST_PROXY: 'true' },
    });
    try {
      const there = new Browser(secure, { origin: 'https://marquee.test' });
      await there.signIn(person);
      const attributes = 'Max-Age=7776000; Path=/; HttpOnly; SameSite=Lax; Secure';
      assert.match(there.lastSetCookie, new RegExp(`^__Host-session=[\\w-]{43}; ${attributes}$`));
      (await there.get('/me')).assertOk(200);
      // An origin without TLS can be forged.
      const plain = await there.send('POST', '/streams', { ...STREAM, headers: { origin: OWN_ORIGIN } });
      plain.assertError('CSRF_REJECTED', 'Origin');
      there.cookie = (there.cookie ?? '').replace('__Host-', '');
      (await there.get('/me')).assertError('UNAUTHORIZED');
    } finally {
      await secure.close();
    }
  });

  test('a cookie with another name, another format or an unknown value is ignored', async () => {
    const value = (browser.cookie ?? '').slice('session='.length);
    const lost = `${value.startsWith('A') ? 'B' : 'A'}${value.slice(1)}`;
    const cookies = [
      `Session=${value}`,
      `SESSION=${value}`,
      `xsession=${value}`,
      `session=${value}x`,
      `session=${value.slice(1)}`,
      `session="${value}"`,
      `session=${value.toUpperCase()}${value.toLowerCase()}`,
      `session=${'x'.repeat(10_000)}`,
      `session=${lost}`,
      'session=',
      ';;;=;',
    ];
    for (const cookie of cookies) {
      (await app.request('GET', '/me', { headers: { cookie } })).assertError('UNAUTHORIZED');
    }
    for (const cookie of [`a=b; session=${value}`, `session=${value};a=b`]) {
      (await app.request('GET', '/me', { headers: { cookie } })).assertOk(200);
    }
  });

  test('a key that is sent as well wins', async () => {
    const stranger = (await auth.person()).key;
    const me = (await browser.send('GET', '/me', { key: stranger })).assertOk(200);
    assert.notEqual(me.at('data.id'), person.id);
    assert.notEqual(me.at('data.key'), null);
    // And needs no proof of a page.
    (
      await browser.send('POST', '/streams', {
        ...STREAM,
        key: stranger,
        headers: { origin: 'https://a.example' },
      })
    ).assertOk(201);
    (await browser.send('GET', '/me', { key: 'nonsense' })).assertError('INVALID_KEY_FORMAT');
    (await browser.send('GET', '/me', { key: `pk_${'0'.repeat(40)}` })).assertError('INVALID_KEY');
  });
});

describe('what a session may', () => {
  test('two tabs work in live and test mode concurrently, by their header', async () => {
    const fresh = await auth.person();
    const tabs = new Browser(app);
    await tabs.signIn(fresh);
    const create = async (mode: string) => {
      const headers = { 'x-workspace-mode': mode };
      const answer = await tabs.send('POST', '/streams', { body: { title: mode }, headers });
      assert.equal(answer.headers['svc-key-mode'], mode);
      return answer.assertOk(201).string('data.id');
    };
    const [live, sandbox] = await Promise.all([create('live'), create('test')]);
    const ids = async (headers: Record<string, string>) =>
      (await tabs.get('/streams', headers))
        .assertOk(200)
        .list('data')
        .map((row) => Object(row).id);
    assert.deepEqual(await ids({}), [live]);
    assert.deepEqual(await ids({ 'x-workspace-mode': 'live' }), [live]);
    assert.deepEqual(await ids({ 'x-workspace-mode': 'test' }), [sandbox]);
    (await tabs.get(`/streams/${live}`, { 'x-workspace-mode': 'test' })).assertError('NOT_FOUND');
    const wrong = await tabs.get('/streams', { 'x-workspace-mode': 'Live' });
    wrong.assertError('BAD_REQUEST', 'X-Workspace-Mode');
  });

  test('one Idempotency-Key is another one in each mode', async () => {
    const tabs = new Browser(app);
    await tabs.signIn(await auth.person());
    const create = async (mode: string) => {
      const headers = { 'x-workspace-mode': mode, 'idempotency-key': 'one-for-both' };
      const answer = await tabs.send('POST', '/streams', { body: { title: 'One' }, headers });
      return [answer.assertOk(201).at('data.mode'), answer.headers['x-svc-idempotent-replay']];
    };
    assert.deepEqual(await create('live'), ['live', undefined]);
    assert.deepEqual(await create('test'), ['test', undefined]);
    assert.deepEqual(await create('live'), ['live', 'true']);
  });

  test('only its own account', async () => {
    const other = await auth.person();
    (await browser.get('/me', { 'x-account-id': person.id })).assertOk(200);
    for (const id of [other.id, 'usr_none', '']) {
      (await browser.get('/me', { 'x-account-id': id })).assertError('NOT_FOUND', 'X-Account-Id');
    }
  });

  test('10,000 calls a minute, counted by session', async () => {
    const other = new Browser(app);
    await other.signIn(person);
    const remaining = async (one: Browser) => {
      const answer = (await one.get('/streams')).assertOk(200).assertRateLimited(true);
      assert.equal(answer.headers['x-ratelimit-limit'], '10000');
      assert.equal(answer.headers['x-ratelimit-daily-limit'], undefined);
      return Number(answer.headers['x-ratelimit-remaining']);
    };
    const first = await remaining(other);
    assert.equal(await remaining(other), first - 1);
    await remaining(browser);
    assert.equal(await remaining(other), first - 2);
  });

  test('public calls, and paths that are not there, are counted for it', async () => {
    const missing = await browser.get('/no-such-path');
    missing.assertError('NOT_FOUND').assertRateLimited(true);
    const anonymous = await app.request('GET', '/no-such-path', { headers: { cookie: 'session=x' } });
    anonymous.assertError('NOT_FOUND').assertRateLimited(false);
  });

  test('Idempotency-Key, for itself', async () => {
    const headers = { 'idempotency-key': 'one-of-a-session' };
    const [first, second] = [await post(headers), await post(headers)];
    assert.equal(second.assertOk(201).string('data.id'), first.assertOk(201).string('data.id'));
    assert.equal(second.headers['x-svc-idempotent-replay'], 'true');
    const other = new Browser(app);
    await other.signIn(person);
    const elsewhere = await other.send('POST', '/streams', { ...STREAM, headers });
    assert.notEqual(elsewhere.assertOk(201).string('data.id'), first.string('data.id'));
  });

  test('event streams, until it ends', async () => {
    const watcher = new Browser(app);
    await watcher.signIn(person);
    const response = await fetch(`${app.url}/api/v1/me/events/stream`, {
      headers: { cookie: watcher.cookie ?? '' },
    });
    assert.equal(response.status, 200);
    const text = response.text();
    (await watcher.send('DELETE', '/auth/session')).assertOk(200);
    assert.match(await text, /event: bye\ndata: \{"reason":"SESSION_ENDED","reconnect":false\}/);
  });

  test('the keys of its mode, with the password of the last ten minutes', async () => {
    const fresh = await auth.person();
    const owner = new Browser(app);
    await owner.signIn(fresh);
    const mint = (body: object, headers: Record<string, string> = {}) =>
      owner.send('POST', '/me/api-keys', { body: { name: 'Made here', ...body }, headers });
    const made = (await mint({ scope: 'FULL_ACCESS' })).assertOk(201);
    const test = { 'x-workspace-mode': 'test' };
    assert.equal((await mint({}, test)).assertOk(201).at('data.mode'), 'test');
    (await mint({ mode: 'live' }, test)).assertError('MINT_CEILING_EXCEEDED', 'mode');
    clock.advance(600_000);
    const id = made.string('data.id');
    const acts = [
      () => mint({}),
      () => owner.send('POST', `/me/api-keys/${id}/rotate`),
      () => owner.send('DELETE', `/me/api-keys/${id}`),
      () => owner.send('DELETE', `/me/api-keys?id=${id}`),
    ];
    for (const act of acts) (await act()).assertError('PASSWORD_REQUIRED').assertRateLimited(true);
    (await owner.get('/me/api-keys')).assertOk(200);
    const confirm = (password: string) =>
      owner.send('POST', '/auth/session/password', { body: { password } });
    (await confirm('not my password at all')).assertError('INVALID_CREDENTIALS');
    (await acts[0]?.())?.assertError('PASSWORD_REQUIRED');
    const until = (await confirm(PASSWORD)).assertOk(200).string('data.confirmedUntil');
    assert.equal(Date.parse(until), clock.ms() + 600_000);
    (await mint({})).assertOk(201);
    for (const act of acts.slice(1, 3)) (await act()).assertOk(200);
    // Keys are never asked.
    clock.advance(600_000);
    const body = { name: 'By a key' };
    const byKey = (await app.request('POST', '/me/api-keys', { key: fresh.key, body })).assertOk(201);
    assert.equal(byKey.at('data.rateLimitPerMinute'), 1000);
  });

  test('an ended session cannot create a key, even while this node still caches the session', async () => {
    const fresh = await auth.person();
    const owner = new Browser(app);
    await owner.signIn(fresh);
    (await owner.get('/me')).assertOk(200);
    await app.container.sql`delete from user_session where account_id = ${fresh.id}`;
    (await owner.get('/me')).assertOk(200);
    (await owner.send('POST', '/me/api-keys', { body: { name: 'Too late' } })).assertError('UNAUTHORIZED');
    clock.advance(5000);
    (await owner.get('/me')).assertError('UNAUTHORIZED');
  });

  test('signing out by the path that keys have, too', async () => {
    const owner = new Browser(app);
    await owner.signIn(person);
    const { cookie } = owner;
    (await owner.send('POST', '/auth/logout')).assertOk(200);
    owner.cookie = cookie;
    (await owner.get('/me')).assertError('UNAUTHORIZED');
  });
});

describe('gates', () => {
  test('every endpoint that takes a key takes the session of the owner, but those of administrators', async () => {
    const owner = new Browser(app);
    await owner.signIn(person);
    const routes = apiRoutes(app.container, () => true).filter(({ auth: by }) => by === 'key');
    assert.ok(routes.length > 50);
    const called = new Set<string>();
    for (const route of routes) {
      // Signing out would end the session, and with it the test.
      if (route.operationId === 'auth.logout') continue;
      const mode = route.onlyMode ?? 'live';
      const answer = await owner.send(route.method, addressOf(route), {
        headers: { 'x-workspace-mode': mode },
      });
      called.add(route.operationId);
      const code = answer.status < 400 ? 'ok' : String(answer.at('error.code') ?? answer.at('error'));
      if (route.gate === 'admin') assert.equal(code, 'ADMIN_ONLY', route.operationId);
      else assert.ok(!REJECTION_CODES.includes(code) && answer.status < 500, `${route.operationId}: ${code}`);
    }
    assert.ok(called.has('mails.list'));
  });

  test('every API key is rejected on endpoints for people only', async () => {
    const routes = apiRoutes(app.container, () => true);
    const forPeople = routes.filter(({ gate }) => gate === 'admin' || gate === 'session-owner');
    assert.ok(forPeople.length > 0);
    for (const route of forPeople) {
      (await app.request(route.method, addressOf(route), { key: person.key })).assertError('ADMIN_ONLY');
    }
    for (const route of routes.filter(({ auth: by }) => by === 'session')) {
      (await app.request(route.method, addressOf(route), { key: person.key })).assertError('UNAUTHORIZED');
    }
  });
});

const REJECTION_CODES = [
  'UNAUTHORIZED',
  'ADMIN_ONLY',
  'OWNER_SCOPE_REQUIRED',
  'INVALID_USER_TOKEN',
  'FINANCIAL_SCOPE_REQUIRED',
  'INSUFFICIENT_SCOPE',
  'PERMISSION_DENIED',
  'PASSWORD_REQUIRED',
  'CSRF_REJECTED',
];

/** Returns a URL of nothing that exists. An event stream gets an unknown type, so that it ends. */
function addressOf({ path, reply }: Route): string {
  const query = reply.envelope === 'events' ? '?type=no.such' : '';
  return path.replace(/\{\w+\}/g, 'some-id') + query;
}
