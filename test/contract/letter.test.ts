import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newKey } from '../../src/features/identity/api-keys/rules.ts';
import { Browser } from '../auth/browser.ts';
import { type AuthFixture, newAddress, type Person, startAuthFixture } from '../auth/fixture.ts';
import type { TestApp } from '../harness/app.ts';
import type { TestAccount } from '../harness/factories.ts';
import type { TestResponse } from '../harness/response.ts';

let fixture: AuthFixture;
let app: TestApp;
let account: TestAccount;

before(async () => {
  fixture = await startAuthFixture();
  app = fixture.app;
  account = await app.createAccount();
});
after(() => fixture.close());

const keyWith = async (...permissions: string[]) =>
  (await app.createKey({ account, scope: 'STANDARD', permissions })).key;

describe('C23.1: reading own content', () => {
  const LISTS = ['/videos', '/streams', '/restreams', '/rooms'];
  const refused = async (key: string, paths: readonly string[]) => {
    const answers = await Promise.all(paths.map((path) => app.request('GET', path, { key })));
    for (const answer of answers) {
      if (answer.status !== 200) answer.assertError('PERMISSION_DENIED');
    }
    return paths.filter((_path, index) => answers[index]?.status !== 200);
  };

  test('C23.1: a list without a read permission of content leaves every read of content open', async () => {
    for (const permissions of [
      ['videos:write'],
      ['finance:read'],
      ['rooms:*'],
      ['webhooks:read', 'chat:write'],
    ]) {
      assert.deepEqual(await refused(await keyWith(...permissions), LISTS), [], String(permissions));
    }
  });

  test('C23.1: a list that names a read of content reads only the nouns that it names', async () => {
    for (const noun of ['videos', 'streams', 'restreams', 'rooms']) {
      const others = LISTS.filter((path) => path !== `/${noun}`);
      assert.deepEqual(await refused(await keyWith(`${noun}:read`), LISTS), others, noun);
    }
    const key = await keyWith('videos:read', 'streams:write', 'rooms:*', 'finance:read');
    assert.deepEqual(await refused(key, LISTS), ['/restreams']);
  });

  test('C23.1: profile, tiers and own purchases are readable by any key; everything else requires its permission', async () => {
    const key = await keyWith('finance:read');
    assert.deepEqual(await refused(key, ['/me', '/me/avatar', '/tiers', '/me/purchases']), []);
    const kept = ['/me/webhooks', '/me/events', '/subscribers', '/booking/bookings', '/team', '/playlists'];
    assert.deepEqual(await refused(key, kept), kept);
  });

  test('C23.1: an implied read permission allows no writes', async () => {
    const answer = await app.request('POST', '/streams', { key: await keyWith('videos:write'), body: {} });
    answer.assertError('PERMISSION_DENIED');
  });

  test('C23.1: a key that reads some content mints none that reads all of it', async () => {
    const owner = await fixture.person();
    const token = await fixture.token(owner);
    const narrow = await app.container.apiKeys.create({
      email: owner.email,
      scope: 'STANDARD',
      permissions: ['videos:read', 'webhooks:read'],
    });
    const mint = (...permissions: string[]) =>
      app.request('POST', '/me/api-keys', {
        key: narrow.key,
        headers: { 'x-user-token': token },
        body: { name: 'x', permissions },
      });
    (await mint('webhooks:read')).assertError('MINT_CEILING_EXCEEDED', 'permissions');
    (await mint('webhooks:read', 'videos:read')).assertOk(201);
  });
});

describe('C23.3: public endpoints with a key', () => {
  const PATHS = ['/health', '/health/ready', '/changelog', '/changelog/latest', '/changelog/1.0.0'];
  /** The mode of the key, and how many of its requests are left. */
  const counted = ({ headers }: TestResponse) => [headers['svc-key-mode'], headers['x-ratelimit-remaining']];

  test('C23.3: endpoints without a key respond, and count nothing', async () => {
    for (const path of PATHS) (await app.request('GET', path)).assertOk(200).assertRateLimited(false);
  });

  test('C23.3: with a key the response has its mode and rate limit headers, and counts', async () => {
    const { key } = await app.createKey({ account, mode: 'test', rateLimitPerMinute: PATHS.length });
    for (const [index, path] of PATHS.entries()) {
      const answer = (await app.request('GET', path, { key })).assertOk(200).assertRateLimited(true);
      assert.deepEqual(counted(answer), ['test', String(PATHS.length - 1 - index)]);
    }
    for (const path of PATHS) (await app.request('GET', path, { key })).assertError('RATE_LIMITED');
  });

  test('C23.3: a key that is sent must be valid', async () => {
    for (const path of PATHS) {
      (await app.request('GET', path, { key: 'nonsense' })).assertError('INVALID_KEY_FORMAT');
      (await app.request('GET', path, { key: newKey() })).assertError('INVALID_KEY').assertRateLimited(false);
    }
  });

  test('C23.3: missing ffmpeg capabilities of the node are shown only to keys', async () => {
    assert.equal((await app.request('GET', '/health/ready')).at('data.ffmpeg'), null);
    const { key } = await app.createKey({ account });
    const { ffmpeg } = Object((await app.request('GET', '/health/ready', { key })).at('data'));
    assert.ok(ffmpeg === null || typeof ffmpeg.version === 'string');
  });
});

describe('C23.5: sign-ins and credential changes are limited per address', () => {
  const isText = (answer: TestResponse) => answer.at('error') === 'Too many requests';
  /**
   * Sends until the limit is reached. @returns the number of accepted requests, and the rejected response.
   */
  async function exhaust(send: () => Promise<TestResponse>): Promise<[number, TestResponse]> {
    for (let count = 0; ; count++) {
      const answer = await send();
      if (answer.status === 429) return [count, answer];
      assert.ok(count < 20, 'no limit');
    }
  }

  test('C23.5: each endpoint has its own bucket; only login and register return a string', async () => {
    const from = newAddress();
    const owner: Person = await fixture.person();
    const browser = new Browser(app, { ip: from });
    await browser.signIn(owner);
    const byKey = async (path: string, body: object) =>
      fixture.post(path, (await app.createKey()).key, body, from);
    // Uses another email each time, because failures per email are counted separately.
    let typed = 0;
    const wrong = () => ({ email: `typed${++typed}@example.com`, password: 'not the password' });
    const code = { challengeId: 'x', code: '000000' };
    const password = 'not the password';
    const limited: [name: string, max: number, isText: boolean, send: () => Promise<TestResponse>][] = [
      ['login', 10, true, () => byKey('/auth/login', wrong())],
      ['register', 5, true, () => byKey('/auth/register', { email: 'x', password: 'y' })],
      ['login 2fa', 10, false, () => byKey('/auth/login/2fa', code)],
      // One of them has been used to sign in.
      ['session', 9, false, () => browser.send('POST', '/auth/session', { body: wrong() })],
      ['session 2fa', 10, false, () => browser.send('POST', '/auth/session/2fa', { body: code })],
      ['session register', 5, false, () => browser.send('POST', '/auth/session/register', { body: wrong() })],
      ['email', 10, false, () => browser.send('PATCH', '/me/email', { body: {} })],
      [
        'password',
        10,
        false,
        () => browser.send('POST', '/me/password', { body: { newPassword: password } }),
      ],
      ['deletion', 10, false, () => browser.send('DELETE', '/me', { body: {} })],
    ];
    for (const [name, max, isString, send] of limited) {
      const [count, refused] = await exhaust(send);
      assert.deepEqual([count, isText(refused)], [max, isString], name);
      if (!isString) refused.assertError('RATE_LIMITED');
    }
  });
});

describe('C23.9: a tier by its id', () => {
  const TIER = { name: 'Supporter', priceCents: 500, interval: 'MONTH' };
  const make = async (key: string, more: object = {}) =>
    (await app.request('POST', '/tiers', { key, body: { ...TIER, ...more } }))
      .assertOk(201)
      .string('data.id');

  test('C23.9: any live key gets an active tier of any creator, as their list shows it', async () => {
    const owner = await app.createKey();
    const stranger = await app.createKey({ scope: 'READ_ONLY' });
    const id = await make(owner.key);
    const read = (await app.request('GET', `/tiers/${id}`, { key: stranger.key })).assertOk(200);
    const listed = await app.request('GET', `/tiers?username=${owner.account.id}`, { key: stranger.key });
    assert.deepEqual(read.at('data'), listed.at('data.0'));
    assert.equal(read.at('data.memberCount'), null);
    assert.equal(read.at('data.creator.username'), owner.account.id);
  });

  test('C23.9: closed, archived and test tiers, and those of suspended creators, are not found', async () => {
    const owner = await app.createKey();
    const stranger = (await app.createKey()).key;
    const inTest = (await app.createKey({ mode: 'test' })).key;
    const hidden = async (id: string, key = stranger) =>
      void (await app.request('GET', `/tiers/${id}`, { key })).assertError('NOT_FOUND');
    await hidden(await make(owner.key, { isActive: false }));
    const sandbox = (await app.createKey({ account: owner.account, mode: 'test' })).key;
    await hidden(await make(sandbox), inTest);
    const id = await make(owner.key);
    await hidden(id, inTest);
    await app.container.accounts.suspend(owner.account.email);
    await hidden(id);
  });
});

describe('C23.11: READ_ONLY keys with permissions of finance', () => {
  test('C23.11: keys can be minted that read money and write nothing', async () => {
    const { key } = await app.createKey({ account });
    for (const permission of ['finance:read', 'finance:write', 'finance:*']) {
      const body = { name: 'Books', scope: 'READ_ONLY', permissions: [permission] };
      const minted = (await app.request('POST', '/me/api-keys', { key, body }))
        .assertOk(201)
        .string('data.key');
      for (const path of ['/monetization/revenue', '/monetization/payments', '/me/payouts', '/purchases']) {
        (await app.request('GET', path, { key: minted })).assertOk(200);
      }
      const write = await app.request('POST', '/tiers', { key: minted, body: {} });
      write.assertError(permission === 'finance:read' ? 'FINANCIAL_SCOPE_REQUIRED' : 'INSUFFICIENT_SCOPE');
    }
    const wrong = { name: 'x', scope: 'READ_ONLY', permissions: ['finance:read', 'videos:write'] };
    (await app.request('POST', '/me/api-keys', { key, body: wrong })).assertError(
      'BAD_REQUEST',
      'permissions',
    );
  });
});
