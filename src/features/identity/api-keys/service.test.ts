import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import type { ApiKeys } from './index.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
const from = { ip: '127.0.0.1', origin: undefined };
let app: TestApp;
let keys: ApiKeys;
let account: TestAccount;

before(async () => {
  app = await startTestApp({ clock });
  keys = app.container.apiKeys;
  account = await app.createAccount();
});
after(() => app.close());

const verify = async (key: string) => keys.verify(key, from);
const refuses = (work: Promise<unknown>, code: string, field?: string) =>
  assert.rejects(work, (error) => {
    assert.equal(Object(error).code, code);
    assert.equal(Object(error).field, field);
    return true;
  });

describe('create', () => {
  test('create issues a live key with the dashboard’s limit by default', async () => {
    const { id, key } = await keys.create({ email: ` ${account.email.toUpperCase()} `, scope: 'STANDARD' });
    assert.match(id, /^key_/);
    assert.match(key, /^pk_[0-9a-f]{40}$/);
    assert.deepEqual(await verify(key), {
      workspaceId: account.live,
      accountId: account.id,
      actor: { kind: 'key', id, userId: account.id },
      scope: 'STANDARD',
      permissions: [],
      mode: 'live',
      plan: 'VIP',
      rateLimitPerMinute: 10_000,
      dailyQuota: null,
    });
  });

  test('create applies every option', async () => {
    const { key } = await keys.create({
      email: account.email,
      scope: 'READ_ONLY',
      mode: 'test',
      permissions: ['videos:read', 'finance:read'],
      rateLimitPerMinute: 7,
      dailyQuota: 100,
    });
    const caller = await verify(key);
    assert.equal(caller.workspaceId, account.test);
    assert.deepEqual(
      [caller.scope, caller.permissions, caller.rateLimitPerMinute, caller.dailyQuota],
      ['READ_ONLY', ['videos:read', 'finance:read'], 7, 100],
    );
  });

  test('create stores no part of the key itself', async () => {
    const { id, key } = await keys.create({ email: account.email, scope: 'STANDARD' });
    const [row] = await app.container.sql`select t::text as text from api_key t where id = ${id}`;
    assert.equal(String(row?.text).includes(key.slice(7, -4)), false);
    const listed = (await keys.list(account.email)).find((one) => one.id === id);
    assert.deepEqual([listed?.prefix, listed?.last4], [key.slice(0, 7), key.slice(-4)]);
    assert.equal(JSON.stringify(listed).includes(key.slice(7, -4)), false);
  });

  test('create rejects an unknown account and malformed restrictions', async () => {
    const count = (await keys.list()).length;
    await refuses(keys.create({ email: 'nobody@example.com', scope: 'STANDARD' }), 'NOT_FOUND');
    const scope = 'STANDARD';
    const { email } = account;
    await refuses(
      keys.create({ email, scope, ipAllowlist: ['10.0.0.0/99'] }),
      'BAD_REQUEST',
      'ipAllowlist.0',
    );
    await refuses(
      keys.create({ email, scope, domainAllowlist: ['a/b'] }),
      'BAD_REQUEST',
      'domainAllowlist.0',
    );
    assert.equal((await keys.list()).length, count);
  });
});

describe('verify', () => {
  test('verify is synchronous for a recently seen key and reads again after five seconds', async () => {
    const { id, key } = await keys.create({ email: account.email, scope: 'STANDARD' });
    assert.ok(keys.verify(key, from) instanceof Promise);
    await verify(key);
    assert.ok(!(keys.verify(key, from) instanceof Promise));
    await app.container.sql`update api_key set rate_limit_per_minute = 5 where id = ${id}`;
    clock.advance(4999);
    assert.equal((await verify(key)).rateLimitPerMinute, 10_000);
    clock.advance(1);
    assert.equal((await verify(key)).rateLimitPerMinute, 5);
  });

  test('an unknown key is not cached: it may be created in the meantime', async () => {
    const key = `pk_${'a'.repeat(40)}`;
    await refuses(verify(key), 'INVALID_KEY');
    await keys.create({ email: account.email, scope: 'STANDARD', key });
    assert.equal((await verify(key)).accountId, account.id);
  });
});

describe('revoke', () => {
  test('a revocation takes effect immediately, although the key was just used', async () => {
    const { id, key } = await keys.create({ email: account.email, scope: 'STANDARD' });
    await verify(key);
    await keys.revoke(id);
    await refuses(verify(key), 'KEY_DISABLED');
  });

  test('a second revocation keeps the first time; an unknown ID is NOT_FOUND', async () => {
    const { id } = await keys.create({ email: account.email, scope: 'STANDARD' });
    await keys.revoke(id);
    const first = (await keys.list()).find((one) => one.id === id)?.revoked_at;
    clock.advance(1000);
    await keys.revoke(id);
    assert.deepEqual((await keys.list()).find((one) => one.id === id)?.revoked_at, first);
    await refuses(keys.revoke('key_none'), 'NOT_FOUND');
  });
});
