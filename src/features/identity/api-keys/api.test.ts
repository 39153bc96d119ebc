import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import type { TestResponse } from '../../../../test/harness/response.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';

const NOW = '2026-11-20T09:00:00.000Z';
const clock = new TestClock(NOW);
let app: TestApp;
let account: TestAccount;
let owner: { id: string; key: string };
let reader: { id: string; key: string };
let standard: { id: string; key: string };

before(async () => {
  app = await startTestApp({ clock, env: { TRUST_PROXY: 'true' } });
  account = await app.createAccount();
  owner = await app.createKey({ account, name: 'Owner' });
  reader = await app.createKey({ account, scope: 'READ_ONLY' });
  standard = await app.createKey({ account, scope: 'STANDARD' });
});
after(() => app.close());

const mint = (body: unknown, key = owner.key) => app.request('POST', '/me/api-keys', { key, body });
const get = (id: string, key = owner.key) => app.request('GET', `/me/api-keys/${id}`, { key });
const revoke = (id: string, key = owner.key) => app.request('DELETE', `/me/api-keys/${id}`, { key });
const works = async (key: string, headers = {}) =>
  (await app.request('GET', '/streams', { key, headers })).status;
const codeOf = (answer: TestResponse) => answer.at('error.code');

/** Returns a user token of the account's owner, as from a sign-in. */
const userToken = async () =>
  (await app.container.auth.tokens.issue({ id: account.id, token_epoch: 0 })).accessToken;

interface Event {
  type: string;
  data: Record<string, unknown>;
}
const eventsAbout = async (keyId: string, workspace = account.live): Promise<Event[]> => {
  const rows = await app.container.sql<{ body: Event }[]>`
    select body::json as body from event
    where workspace_id = ${workspace} and body::json->'data'->>'keyId' = ${keyId}
    order by (body::json->'data'->>'sequence')::int`;
  return rows.map((row) => row.body);
};

describe('minting', () => {
  test('a name suffices to mint: 201 with the key, once, and its grant', async () => {
    const made = (await mint({ name: 'Back office' })).assertOk(201);
    const key = made.string('data.key');
    assert.match(key, /^pk_[0-9a-f]{40}$/);
    const id = made.string('data.id');
    const expected = {
      id,
      name: 'Back office',
      prefix: key.slice(0, 7),
      last4: key.slice(-4),
      scope: 'STANDARD',
      permissions: [],
      mode: 'live',
      ipAllowlist: [],
      domainAllowlist: [],
      rateLimitPerMinute: 1000,
      dailyQuota: null,
      expiresAt: null,
      lastUsedAt: null,
      lastUsedIp: null,
      createdAt: NOW,
      revokedAt: null,
      createdByKeyId: owner.id,
      isCurrent: false,
    };
    assert.deepEqual(made.at('data'), { ...expected, key });
    const read = (await get(id)).assertOk(200);
    assert.deepEqual(read.at('data'), expected);
    assert.ok(
      !(await app.request('GET', '/me/api-keys', { key: owner.key })).text.includes(key.slice(7, -4)),
    );
    const used = await app.request('GET', '/streams', { key });
    assert.equal(used.headers['x-ratelimit-limit'], '1000');
  });

  test('every option can be set', async () => {
    const asked = {
      name: 'Narrow',
      scope: 'READ_ONLY',
      permissions: ['videos:read', 'finance:*'],
      mode: 'test',
      ipAllowlist: ['203.0.113.0/24', '2001:db8::/32'],
      domainAllowlist: ['*.example.com'],
      expiresAt: '2027-01-01T00:00:00.000Z',
      dailyQuota: 500,
    };
    const made = (await mint(asked)).assertOk(201);
    for (const [name, value] of Object.entries(asked)) assert.deepEqual(made.at(`data.${name}`), value, name);
  });

  const wrong: [body: object, field: string][] = [
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ name: 5 }, 'name'],
    [{ name: 'x', scope: 'OWNER' }, 'scope'],
    [{ name: 'x', permissions: ['videos:fly'] }, 'permissions.0'],
    [{ name: 'x', permissions: ['*', 7] }, 'permissions.1'],
    [{ name: 'x', scope: 'FULL_ACCESS', permissions: ['videos:read'] }, 'permissions'],
    [{ name: 'x', scope: 'READ_ONLY', permissions: ['videos:read', 'streams:write'] }, 'permissions'],
    [{ name: 'x', mode: 'sandbox' }, 'mode'],
    [{ name: 'x', ipAllowlist: ['10.0.0.1', '10.0.0.0/40'] }, 'ipAllowlist.1'],
    [{ name: 'x', domainAllowlist: ['https://a.com'] }, 'domainAllowlist.0'],
    [{ name: 'x', expiresAt: 'tomorrow' }, 'expiresAt'],
    [{ name: 'x', expiresAt: NOW }, 'expiresAt'],
    [{ name: 'x', dailyQuota: 0 }, 'dailyQuota'],
    [{ name: 'x', dailyQuota: '5' }, 'dailyQuota'],
  ];
  for (const [body, field] of wrong) {
    test(`${JSON.stringify(body).slice(0, 60)} is 400 for ${field}`, async () => {
      (await mint(body)).assertError('BAD_REQUEST', field);
    });
  }

  test('only an owner credential mints, and the gate precedes the scope', async () => {
    (await mint({ name: 'x' }, reader.key)).assertError('OWNER_SCOPE_REQUIRED').assertRateLimited(true);
    (await mint({ name: 'x' }, standard.key)).assertError('OWNER_SCOPE_REQUIRED');
    (await mint({}, standard.key)).assertError('OWNER_SCOPE_REQUIRED');
  });

  test('a user token is an owner credential, and the ceiling is still that of the key', async () => {
    const headers = { 'x-user-token': await userToken() };
    const as = (key: string, body: unknown) => app.request('POST', '/me/api-keys', { key, headers, body });
    (await as(standard.key, { name: 'x' })).assertOk(201);
    (await as(standard.key, { name: 'x', scope: 'FULL_ACCESS' })).assertError(
      'MINT_CEILING_EXCEEDED',
      'scope',
    );
    const finance = await as(standard.key, { name: 'x', permissions: ['finance:read'] });
    finance.assertError('MINT_CEILING_EXCEEDED', 'permissions');
    const reading = (await as(reader.key, { name: 'x', scope: 'READ_ONLY' })).assertOk(201);
    assert.equal(reading.at('data.scope'), 'READ_ONLY');
    (await as(reader.key, { name: 'x' })).assertError('MINT_CEILING_EXCEEDED', 'scope');
    const id = reading.string('data.id');
    (await app.request('DELETE', `/me/api-keys/${id}`, { key: reader.key, headers })).assertOk(200);
  });

  test('restricted, expiring and test keys grant no more than their own access', async () => {
    const expiresAt = new Date(Date.parse(NOW) + 3_600_000);
    const { key } = await app.createKey({ account, mode: 'test', expiresAt, ipAllowlist: ['127.0.0.0/8'] });
    const within = { name: 'x', expiresAt: expiresAt.toISOString(), ipAllowlist: ['127.0.0.1'] };
    const made = (await mint(within, key)).assertOk(201);
    assert.equal(made.at('data.mode'), 'test');
    (await mint({ ...within, mode: 'live' }, key)).assertError('MINT_CEILING_EXCEEDED', 'mode');
    (await mint({ ...within, expiresAt: null }, key)).assertError('MINT_CEILING_EXCEEDED', 'expiresAt');
    (await mint({ ...within, ipAllowlist: [] }, key)).assertError('MINT_CEILING_EXCEEDED', 'ipAllowlist');
  });

  test('revoked keys and keys of the other mode do not count against the plan', async () => {
    const small = await app.createAccount({ plan: 'FREE' });
    const first = (await app.createKey({ account: small })).key;
    const answers = await Promise.all([1, 2, 3, 4].map((n) => mint({ name: `${n}` }, first)));
    (await mint({ name: 'of the other mode', mode: 'test' }, first)).assertOk(201);
    const made = answers.find(({ status }) => status === 201);
    (await revoke(made?.string('data.id') ?? '', first)).assertOk(200);
    (await mint({ name: 'again' }, first)).assertOk(201);
    (await mint({ name: 'too many' }, first)).assertError('QUOTA_EXCEEDED');
  });
});

describe('listing', () => {
  test('a live key lists the keys of both modes, a test key those of test mode', async () => {
    const mine = await app.createAccount();
    const live = await app.createKey({ account: mine });
    const sandbox = await app.createKey({ account: mine, mode: 'test', scope: 'READ_ONLY' });
    const ids = async (key: string, query = '') =>
      (await app.request('GET', `/me/api-keys${query}`, { key }))
        .assertOk(200)
        .list('data')
        .map((row) => Object(row).id);
    assert.deepEqual(await ids(live.key), [sandbox.id, live.id]);
    assert.deepEqual(await ids(sandbox.key), [sandbox.id]);
    assert.deepEqual(await ids(live.key, '?mode=live'), [live.id]);
    assert.deepEqual(await ids(sandbox.key, '?mode=live'), []);
    (await get(live.id, sandbox.key)).assertError('NOT_FOUND');
    assert.equal((await get(sandbox.id, sandbox.key)).at('data.isCurrent'), true);
    assert.equal((await get(sandbox.id, live.key)).at('data.isCurrent'), false);
  });

  test('the list is paginated and includes revoked keys with the time', async () => {
    const mine = await app.createAccount();
    const { key } = await app.createKey({ account: mine });
    const id = (await mint({ name: 'gone' }, key)).string('data.id');
    await revoke(id, key);
    const page = (await app.request('GET', '/me/api-keys?limit=1', { key })).assertOk(200);
    assert.equal(page.at('data.0.revokedAt'), NOW);
    const next = await app.request('GET', `/me/api-keys?limit=1&cursor=${page.at('pagination.nextCursor')}`, {
      key,
    });
    assert.equal(next.assertOk(200).at('data.0.isCurrent'), true);
    assert.equal(next.at('pagination.hasMore'), false);
    const expired = await app.createKey({ account: mine, expiresAt: new Date(clock.ms() - 1) });
    const ids = async (isUsable: boolean) =>
      (await app.request('GET', `/me/api-keys?isUsable=${isUsable}`, { key }))
        .assertOk(200)
        .list('data')
        .map((row) => Object(row).id);
    assert.deepEqual(await ids(false), [expired.id, id]);
    assert.equal((await ids(true)).length, 1);
  });

  test("another account's key and an unknown one get the same 404", async () => {
    const foreign = await app.createKey();
    assert.equal((await get(foreign.id)).text, (await get('key_none')).text);
    (await revoke(foreign.id)).assertError('NOT_FOUND');
    assert.equal(await works(foreign.key), 200);
  });
});

describe('revoking', () => {
  test('the ID is accepted in the path, the body or the query', async () => {
    const ways: ((id: string) => Promise<TestResponse>)[] = [
      (id) => revoke(id),
      (id) => app.request('DELETE', '/me/api-keys', { key: owner.key, body: { id } }),
      (id) => app.request('DELETE', `/me/api-keys?id=${id}`, { key: owner.key }),
    ];
    for (const way of ways) {
      const made = await mint({ name: 'x' });
      const id = made.string('data.id');
      assert.equal(await works(made.string('data.key')), 200);
      assert.deepEqual((await way(id)).assertOk(200).at('data'), { id, deleted: true });
      assert.equal(await works(made.string('data.key')), 401);
      (await way(id)).assertOk(200);
      assert.equal((await get(id)).at('data.revokedAt'), NOW);
    }
  });

  test('a request without an ID revokes nothing, including its own key', async () => {
    for (const { key } of [owner, reader]) {
      (await app.request('DELETE', '/me/api-keys', { key })).assertError('BAD_REQUEST', 'id');
      (await app.request('DELETE', '/me/api-keys', { key, body: {} })).assertError('BAD_REQUEST', 'id');
      (await app.request('DELETE', '/me/api-keys', { key, body: { id: 5 } })).assertError(
        'BAD_REQUEST',
        'id',
      );
      (await app.request('DELETE', '/me/api-keys?id=a&id=b', { key })).assertError('BAD_REQUEST', 'id');
      (await app.request('DELETE', '/me/api-keys', { key, body: '{' })).assertError('BAD_REQUEST', 'body');
      assert.equal(await works(key), 200);
    }
  });

  test('any key revokes itself, with any scope and permission, in each way', async () => {
    for (const scope of ['READ_ONLY', 'STANDARD'] as const) {
      for (const way of ['path', 'body', 'query']) {
        const own = await app.createKey({ account, scope, permissions: ['videos:read'] });
        const answer =
          way === 'path'
            ? await revoke(own.id, own.key)
            : await app.request('DELETE', way === 'query' ? `/me/api-keys?id=${own.id}` : '/me/api-keys', {
                key: own.key,
                ...(way === 'body' ? { body: { id: own.id } } : {}),
              });
        assert.deepEqual(answer.assertOk(200).at('data'), { id: own.id, deleted: true });
        (await app.request('GET', '/streams', { key: own.key })).assertError('KEY_DISABLED');
      }
    }
  });

  test('another key needs an owner credential; an unknown ID gets the same response', async () => {
    for (const { key } of [reader, standard]) {
      for (const id of [owner.id, 'key_none']) {
        (await revoke(id, key)).assertError('OWNER_SCOPE_REQUIRED');
        const named = await app.request('DELETE', '/me/api-keys', { key, body: { id } });
        named.assertError('OWNER_SCOPE_REQUIRED');
      }
    }
    const headers = { 'x-user-token': await userToken() };
    for (const { key } of [reader, standard]) {
      const target = await app.createKey({ account });
      (await app.request('DELETE', `/me/api-keys/${target.id}`, { key, headers })).assertOk(200);
      assert.equal(await works(target.key), 401);
    }
  });

  test('naming itself in one place and another key in the other does not bypass the check', async () => {
    const own = await app.createKey({ account, scope: 'STANDARD' });
    const mixed = await app.request('DELETE', `/me/api-keys?id=${own.id}`, {
      key: own.key,
      body: { id: owner.id },
    });
    mixed.assertError('OWNER_SCOPE_REQUIRED');
    assert.equal(await works(owner.key), 200);
  });

  test('a live key revokes a test key, and a test key does not see a live one', async () => {
    const sandbox = await app.createKey({ account, mode: 'test' });
    (await revoke(owner.id, sandbox.key)).assertError('NOT_FOUND');
    (await revoke(sandbox.id)).assertOk(200);
    assert.equal(await works(sandbox.key), 401);
  });
});

describe('last use', () => {
  const used = (id: string) =>
    waitFor(async () => {
      const answer = await get(id);
      return answer.at('data.lastUsedAt') === null ? null : answer;
    });

  test('the last use is stored with the IP address, at most once a minute', async () => {
    const { id, key } = await app.createKey({ account });
    assert.equal(await works(key, { 'x-forwarded-for': '203.0.113.9' }), 200);
    const first = await used(id);
    assert.deepEqual([first.at('data.lastUsedAt'), first.at('data.lastUsedIp')], [NOW, '203.0.113.9']);
    clock.advance(59_000);
    assert.equal(await works(key, { 'x-forwarded-for': '203.0.113.10' }), 200);
    await app.container.apiKeys.close();
    assert.equal((await get(id)).at('data.lastUsedIp'), '203.0.113.9');
    clock.advance(1000);
    assert.equal(await works(key, { 'x-forwarded-for': '2001:db8::7' }), 200);
    await app.container.apiKeys.close();
    const later = await get(id);
    assert.equal(later.at('data.lastUsedIp'), '2001:db8::7');
    assert.equal(later.at('data.lastUsedAt'), new Date(Date.parse(NOW) + 60_000).toISOString());
    clock.set(NOW);
  });

  test('a rejected key does not count as used', async () => {
    const { id, key } = await app.createKey({ account, ipAllowlist: ['203.0.113.0/24'] });
    const refused = await app.request('GET', '/streams', { key });
    assert.equal(codeOf(refused), 'IP_NOT_ALLOWED');
    await app.container.apiKeys.close();
    assert.equal((await get(id)).at('data.lastUsedAt'), null);
  });
});

describe('events', () => {
  test('created and revoked are emitted once each, in the key’s own workspace', async () => {
    const made = await mint({ name: 'Told', mode: 'test' });
    const id = made.string('data.id');
    await revoke(id);
    await revoke(id);
    assert.deepEqual(await eventsAbout(id), []);
    const data = { keyId: id, name: 'Told', scope: 'STANDARD', mode: 'test', expiresAt: null };
    const events = await eventsAbout(id, account.test);
    assert.deepEqual(
      events.map(({ type, data: told }) => [type, told]),
      [
        ['api_key.created', { ...data, sequence: 1 }],
        ['api_key.revoked', { ...data, sequence: 2 }],
      ],
    );
  });

  test('expiring is emitted once, a week before, for keys with a longer life', async () => {
    const day = 86_400_000;
    const at = (days: number) => new Date(Date.parse(NOW) + days * day);
    const long = await app.createKey({ account, expiresAt: at(30) });
    const short = await app.createKey({ account, expiresAt: at(6) });
    const gone = await app.createKey({ account, expiresAt: at(30) });
    await revoke(gone.id);
    const types = async (id: string) => (await eventsAbout(id)).map(({ type }) => type);
    await app.container.apiKeys.announceExpiring();
    assert.deepEqual(await types(long.id), ['api_key.created']);
    clock.advance(23 * day);
    await Promise.all([app.container.apiKeys.announceExpiring(), app.container.apiKeys.announceExpiring()]);
    await app.container.apiKeys.announceExpiring();
    assert.deepEqual(await types(long.id), ['api_key.created', 'api_key.expiring']);
    assert.deepEqual(await types(short.id), ['api_key.created']);
    assert.deepEqual(await types(gone.id), ['api_key.created', 'api_key.revoked']);
    clock.set(NOW);
  });
});
