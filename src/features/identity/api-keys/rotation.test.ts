import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import { withLockContention } from '../../../../test/harness/with-lock-contention.ts';

const NOW = '2026-11-20T09:00:00.000Z';
const clock = new TestClock(NOW);
let app: TestApp;
let account: TestAccount;
let owner: { id: string; key: string };
let standard: { id: string; key: string };

before(async () => {
  app = await startTestApp({ clock, env: { TRUST_PROXY: 'true' } });
  account = await app.createAccount();
  owner = await app.createKey({ account, name: 'Owner' });
  standard = await app.createKey({ account, scope: 'STANDARD' });
});
after(() => app.close());

const mint = (body: unknown, key = owner.key) => app.request('POST', '/me/api-keys', { key, body });
const revoke = (id: string, key = owner.key) => app.request('DELETE', `/me/api-keys/${id}`, { key });
const works = async (key: string, headers = {}) =>
  (await app.request('GET', '/streams', { key, headers })).status;

/** Returns a user token of the account's owner, as from a sign-in. */
const userToken = async () =>
  (await app.container.auth.tokens.issue({ id: account.id, token_epoch: 0 })).accessToken;

describe('rotation', () => {
  const rotate = (id: string, body?: unknown, key = owner.key) =>
    app.request('POST', `/me/api-keys/${id}/rotate`, { key, ...(body === undefined ? {} : { body }) });

  test('a rotation gives the key another secret and ends the old one immediately', async () => {
    const made = await mint({ name: 'x', dailyQuota: 9 });
    const id = made.string('data.id');
    const old = made.string('data.key');
    assert.equal(await works(old), 200);
    const rotated = (await rotate(id)).assertOk(200);
    const fresh = rotated.string('data.key');
    assert.notEqual(fresh, old);
    assert.equal(rotated.at('data.id'), id);
    assert.equal(rotated.at('data.dailyQuota'), 9);
    assert.equal(rotated.at('data.last4'), fresh.slice(-4));
    assert.equal(await works(fresh), 200);
    (await app.request('GET', '/streams', { key: old })).assertError('KEY_DISABLED');
  });

  test('an overlap keeps both secrets valid, to the second, and each further rotation only shortens it', async () => {
    const made = await mint({ name: 'x' });
    const id = made.string('data.id');
    const first = made.string('data.key');
    const second = (await rotate(id, { overlapSec: 60 })).string('data.key');
    assert.deepEqual([await works(first), await works(second)], [200, 200]);
    clock.advance(59_999);
    assert.equal(await works(first), 200);
    clock.advance(1);
    (await app.request('GET', '/streams', { key: first })).assertError('KEY_DISABLED');
    const third = (await rotate(id, { overlapSec: 3600 })).string('data.key');
    const fourth = (await rotate(id, { overlapSec: 10 })).string('data.key');
    assert.deepEqual([await works(second), await works(third), await works(fourth)], [200, 200, 200]);
    clock.advance(10_000);
    assert.deepEqual([await works(second), await works(third), await works(fourth)], [401, 401, 200]);
    await revoke(id);
    clock.set(NOW);
  });

  test('revoking a key also ends the overlap', async () => {
    const made = await mint({ name: 'x' });
    const id = made.string('data.id');
    await rotate(id, { overlapSec: 86_400 });
    await revoke(id);
    assert.equal(await works(made.string('data.key')), 401);
    (await rotate(id)).assertError('CONFLICT');
  });

  test("a rotation rejects an invalid overlap, another account's key, and callers who may not mint", async () => {
    const { id } = await app.createKey({ account, scope: 'STANDARD' });
    (await rotate(id, { overlapSec: 86_401 })).assertError('BAD_REQUEST', 'overlapSec');
    (await rotate(id, { overlapSec: -1 })).assertError('BAD_REQUEST', 'overlapSec');
    (await rotate(id, { overlapSec: '60' })).assertError('BAD_REQUEST', 'overlapSec');
    (await rotate('key_none')).assertError('NOT_FOUND');
    (await rotate((await app.createKey()).id)).assertError('NOT_FOUND');
    (await rotate(id, {}, standard.key)).assertError('OWNER_SCOPE_REQUIRED');
    (await rotate(standard.id, {}, standard.key)).assertError('OWNER_SCOPE_REQUIRED');
  });

  test('two keys that rotate each other concurrently are both rotated', async () => {
    const { sql } = app.container;
    const [one, two] = [await app.createKey({ account }), await app.createKey({ account })];
    const answers = await withLockContention(
      sql,
      (tx) => tx`select from api_key where id in (${one.id}, ${two.id}) for update`,
      [() => rotate(two.id, {}, one.key), () => rotate(one.id, {}, two.key)],
    );
    for (const answer of answers) {
      assert.equal(await works(answer.assertOk(200).string('data.key')), 200);
    }
  });

  test('a rotation cannot obtain a key with more access', async () => {
    const headers = { 'x-user-token': await userToken() };
    const as = (id: string) =>
      app.request('POST', `/me/api-keys/${id}/rotate`, { key: standard.key, headers, body: {} });
    (await as(owner.id)).assertError('MINT_CEILING_EXCEEDED', 'scope');
    const equal = await app.createKey({ account, scope: 'STANDARD' });
    (await as(equal.id)).assertOk(200);
    assert.equal(await works(owner.key), 200);
  });
});
