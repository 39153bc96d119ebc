import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.close());

const SUPPORTER = { name: 'Supporter', priceCents: 500, interval: 'MONTH' };

async function make(key: string, body: object = SUPPORTER) {
  return (await app.request('POST', '/tiers', { key, body })).assertOk(201);
}

async function eventsOf(key: string) {
  const rows = (await app.request('GET', '/me/events?order=asc', { key })).assertOk(200).list('data');
  return rows.map((row) => Object(row)).filter(({ type }) => String(type).startsWith('tier.'));
}

test('a tier is created with its defaults, read and changed, and emits its events', async () => {
  const { key, account } = await app.createKey();
  const made = await make(key);
  const id = made.string('data.id');
  const { createdAt, ...data } = Object(made.at('data'));
  assert.deepEqual(data, {
    id,
    ...SUPPORTER,
    description: null,
    trialDays: 0,
    benefits: [],
    position: 0,
    isActive: true,
    maxMembers: null,
    currency: 'USD',
    memberCount: 0,
    creator: { username: account.id, displayName: account.id },
    updatedAt: createdAt,
    archivedAt: null,
    mode: 'live',
  });
  const body = { name: 'Friend', priceCents: 700, benefits: ['Early films'], maxMembers: 3 };
  const changed = (await app.request('PATCH', `/tiers/${id}`, { key, body })).assertOk(200);
  assert.deepEqual(
    Object.fromEntries(Object.keys(body).map((name) => [name, changed.at(`data.${name}`)])),
    body,
  );
  const read = (await app.request('GET', `/tiers/${id}`, { key })).assertOk(200);
  assert.equal(read.text, changed.text);
  const same = await app.request('PATCH', `/tiers/${id}`, { key, body });
  assert.equal(same.assertOk(200).string('data.updatedAt'), changed.string('data.updatedAt'));
  const events = await eventsOf(key);
  assert.deepEqual(
    events.map(({ type, data: { sequence } }) => [type, sequence]),
    [
      ['tier.created', 1],
      ['tier.updated', 2],
    ],
  );
  assert.deepEqual(events[1]?.data.changes.priceCents, { from: 500, to: 700 });
  assert.equal(events[1]?.data.migrateExisting, false);
});

test('each rejected input is named', async () => {
  const { key } = await app.createKey();
  const refused: [string, object][] = [
    ['name', { priceCents: 500, interval: 'MONTH' }],
    ['name', { ...SUPPORTER, name: '' }],
    ['name', { ...SUPPORTER, name: '  ' }],
    ['name', { ...SUPPORTER, name: 'x'.repeat(81) }],
    ['priceCents', { ...SUPPORTER, priceCents: -1 }],
    ['priceCents', { ...SUPPORTER, priceCents: 1.5 }],
    ['priceCents', { ...SUPPORTER, priceCents: 100_000_000 }],
    ['priceCents', { ...SUPPORTER, priceCents: '500' }],
    ['interval', { ...SUPPORTER, interval: 'WEEK' }],
    ['currency', { ...SUPPORTER, currency: 'EUR' }],
    ['trialDays', { ...SUPPORTER, trialDays: 91 }],
    ['trialDays', { ...SUPPORTER, trialDays: -1 }],
    ['benefits', { ...SUPPORTER, benefits: Array.from({ length: 21 }, () => 'x') }],
    ['maxMembers', { ...SUPPORTER, maxMembers: 0 }],
    ['description', { ...SUPPORTER, description: 'x'.repeat(2001) }],
  ];
  for (const [field, body] of refused) {
    (await app.request('POST', '/tiers', { key, body })).assertError('BAD_REQUEST', field);
  }
  const benefits = Array.from({ length: 20 }, () => 'x');
  await make(key, { name: 'x'.repeat(80), priceCents: 0, interval: 'YEAR', trialDays: 90, benefits });
  await make(key, { name: 'x', priceCents: 99_999_999, interval: 'YEAR', currency: 'USD', maxMembers: 1 });
  const id = (await make(key)).string('data.id');
  const patch = (body: object) => app.request('PATCH', `/tiers/${id}`, { key, body });
  (await patch({ interval: 'YEAR' })).assertError('CONFLICT', 'interval');
  (await patch({ interval: 'MONTH', name: 'Same interval' })).assertOk(200);
  (await patch({ priceCents: -1 })).assertError('BAD_REQUEST', 'priceCents');
  (await patch({ currency: 'EUR' })).assertError('BAD_REQUEST', 'currency');
});

test('the gate is checked before the scope; reading is open to every key', async () => {
  const account = await app.createAccount();
  const keyOf = async (scope: 'READ_ONLY' | 'STANDARD', permissions: string[]) =>
    (await app.createKey({ account, scope, permissions })).key;
  const owner = (await app.createKey({ account })).key;
  const id = (await make(owner)).string('data.id');
  const calls: [string, string, object?][] = [
    ['POST', '/tiers', SUPPORTER],
    ['PATCH', `/tiers/${id}`, { name: 'Other' }],
    ['DELETE', `/tiers/${id}`],
  ];
  const refusals: [string, string][] = [
    [await keyOf('READ_ONLY', []), 'FINANCIAL_SCOPE_REQUIRED'],
    [await keyOf('READ_ONLY', ['finance:read']), 'FINANCIAL_SCOPE_REQUIRED'],
    [await keyOf('STANDARD', []), 'FINANCIAL_SCOPE_REQUIRED'],
    [await keyOf('STANDARD', ['finance:read']), 'FINANCIAL_SCOPE_REQUIRED'],
  ];
  for (const [key, code] of refusals) {
    for (const [method, path, body] of calls) {
      const answer = await app.request(method, path, { key, ...(body === undefined ? {} : { body }) });
      assert.equal(answer.at('error.code'), code, `${method} ${path}`);
    }
    const seen = (await app.request('GET', `/tiers/${id}`, { key })).assertOk(200);
    const listed = (await app.request('GET', '/tiers', { key })).assertOk(200);
    assert.equal(listed.at('data.0.memberCount'), seen.at('data.memberCount'));
  }
  const counts = refusals.map(async ([key]) =>
    (await app.request('GET', `/tiers/${id}`, { key })).at('data.memberCount'),
  );
  assert.deepEqual(await Promise.all(counts), [null, 0, null, 0]);
  const writer = await keyOf('STANDARD', ['finance:write']);
  (await app.request('PATCH', `/tiers/${id}`, { key: writer, body: { name: 'Other' } })).assertOk(200);
});

test("another creator's tiers are listed by username, as far as others may join", async () => {
  const owner = await app.createKey();
  const open = (await make(owner.key)).string('data.id');
  const closed = (await make(owner.key, { ...SUPPORTER, isActive: false })).string('data.id');
  const sandbox = (await app.createKey({ account: owner.account, mode: 'test' })).key;
  await make(sandbox);
  const path = `/tiers?username=${owner.account.id}`;
  const ids = async (key: string) =>
    (await app.request('GET', path, { key }))
      .assertOk(200)
      .list('data')
      .map((row) => Object(row).id);
  const stranger = await app.createKey();
  assert.deepEqual(await ids(stranger.key), [open]);
  assert.deepEqual(await ids(owner.key), [closed, open]);
  const strangerInTest = (await app.createKey({ account: stranger.account, mode: 'test' })).key;
  assert.deepEqual(await ids(strangerInTest), []);
  const answer = await app.request('GET', path, { key: stranger.key });
  assert.equal(answer.at('data.0.memberCount'), null);
  assert.equal(answer.at('data.0.creator.username'), owner.account.id);
  (await app.request('GET', '/tiers?username=nobody', { key: stranger.key })).assertError('NOT_FOUND');
});

test('deleting a tier removes it when unused, and archives it when it was bought or offered', async () => {
  const { key } = await app.createKey({ mode: 'test' });
  const unused = (await make(key)).string('data.id');
  const gone = (await app.request('DELETE', `/tiers/${unused}`, { key })).assertOk(200);
  assert.deepEqual(gone.at('data'), { id: unused, deleted: true });
  (await app.request('GET', `/tiers/${unused}`, { key })).assertError('NOT_FOUND');
  assert.deepEqual(
    (await eventsOf(key)).map(({ type }) => type),
    ['tier.created', 'tier.archived'],
  );
});

test('a workspace has at most 100 tiers', async () => {
  const { key, account } = await app.createKey();
  const last = (await make(key)).string('data.id');
  await app.container.sql`
    insert into tier (id, workspace_id, name, price_cents, interval, created_at, updated_at)
    select 'tier_0' || number, ${account.live}, 'One of many', 100, 'MONTH', now(), now()
    from generate_series(2, 100) number`;
  const { pagination } = Object((await app.request('GET', '/tiers', { key })).assertOk(200).json);
  assert.deepEqual(pagination, { nextCursor: null, hasMore: false, limit: 100 }, 'all of them in one page');
  (await app.request('POST', '/tiers', { key, body: SUPPORTER })).assertError('CONFLICT');
  (await app.request('DELETE', `/tiers/${last}`, { key })).assertOk(200);
  await make(key);
});
