import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { systemClock } from '../../../kernel/clock.ts';

let app: TestApp;
const clock = new TestClock(systemClock.ms());
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

const PATH = '/booking/discount-codes';
const create = (key: string, body: object) => app.request('POST', PATH, { key, body });

async function make(key: string, body: object): Promise<string> {
  return (await create(key, body)).assertOk(201).string('data.id');
}

test('a code is created with its defaults, and listed', async () => {
  const { key } = await app.createKey();
  const made = (await create(key, { code: ' early ', percentOff: 20 })).assertOk(201);
  const { id, createdAt, updatedAt, ...data } = Object(made.at('data'));
  assert.match(id, /^dsc_/);
  assert.equal(createdAt, updatedAt);
  assert.deepEqual(data, {
    code: 'EARLY',
    productId: null,
    percentOff: 20,
    amountCentsOff: null,
    maxUses: null,
    expiresAt: null,
    notes: null,
    usedCount: 0,
    status: 'ACTIVE',
    isActive: true,
    mode: 'live',
  });
  const listed = (await app.request('GET', PATH, { key })).assertOk(200);
  assert.deepEqual(listed.list('data'), [made.at('data')]);
  (await create(key, { code: 'EARLY', percentOff: 5 })).assertError('CONFLICT', 'code');
  (await create(key, { code: 'eArLy', percentOff: 5 })).assertError('CONFLICT', 'code');
  const other = await app.createKey();
  await make(other.key, { code: 'EARLY', percentOff: 5 });
});

test('both edges of every field', async () => {
  const { key } = await app.createKey();
  const good = { code: 'A', percentOff: 10 };
  const refused: [string, object][] = [
    ['code', { percentOff: 10 }],
    ['code', { ...good, code: '' }],
    ['code', { ...good, code: '   ' }],
    ['code', { ...good, code: 'x'.repeat(65) }],
    ['code', { ...good, code: 'ß'.repeat(33) }],
    ['code', { ...good, code: null }],
    ['percentOff', { code: 'A' }],
    ['percentOff', { code: 'A', percentOff: null, amountCentsOff: null }],
    ['percentOff', { code: 'A', percentOff: 10, amountCentsOff: 100 }],
    ['percentOff', { code: 'A', percentOff: 0 }],
    ['percentOff', { code: 'A', percentOff: 101 }],
    ['percentOff', { code: 'A', percentOff: 10.5 }],
    ['percentOff', { code: 'A', percentOff: '10' }],
    ['amountCentsOff', { code: 'A', amountCentsOff: 0 }],
    ['amountCentsOff', { code: 'A', amountCentsOff: -1 }],
    ['amountCentsOff', { code: 'A', amountCentsOff: 2 ** 31 }],
    ['maxUses', { ...good, maxUses: 0 }],
    ['maxUses', { ...good, maxUses: 2 ** 31 }],
    ['expiresAt', { ...good, expiresAt: 'tomorrow' }],
    ['expiresAt', { ...good, expiresAt: '2026-12-24' }],
    ['notes', { ...good, notes: 'x'.repeat(501) }],
    ['productId', { ...good, productId: 7 }],
  ];
  for (const [field, body] of refused) (await create(key, body)).assertError('BAD_REQUEST', field);
  (await create(key, { ...good, productId: 'bkp_01kafe3n4pfx2v9yq6m8d7t5zr' })).assertError(
    'NOT_FOUND',
    'productId',
  );
  await make(key, { code: 'x', percentOff: 1, maxUses: 1, notes: '' });
  await make(key, { code: 'y'.repeat(64), percentOff: 100, maxUses: 2 ** 31 - 1, notes: 'x'.repeat(500) });
  await make(key, { code: 'ß'.repeat(32), percentOff: null, amountCentsOff: 1, productId: null });
  const last = { code: 'z', percentOff: null, amountCentsOff: 2 ** 31 - 1, maxUses: null };
  await make(key, { ...last, expiresAt: '2026-12-24T00:00:00+01:00', notes: null });
});

test('fields promised to buyers are fixed once the code was used', async () => {
  const { key } = await app.createKey();
  const id = await make(key, { code: 'FIRST', percentOff: 20, maxUses: 5 });
  const patch = (body: object) => app.request('PATCH', `${PATH}/${id}`, { key, body });
  const changed = (await patch({ code: 'second', percentOff: null, amountCentsOff: 300 })).assertOk(200);
  assert.equal(changed.at('data.code'), 'SECOND');
  assert.equal(changed.at('data.amountCentsOff'), 300);
  (await patch({ percentOff: 10 })).assertError('BAD_REQUEST', 'percentOff');
  await make(key, { code: 'THIRD', percentOff: 20 });
  (await patch({ code: 'third' })).assertError('CONFLICT', 'code');

  await app.container.sql`update discount_code set used_count = 2, reserved_count = 1 where id = ${id}`;
  (await patch({ code: 'other' })).assertError('CONFLICT', 'code');
  (await patch({ amountCentsOff: 200 })).assertError('CONFLICT', 'amountCentsOff');
  (await patch({ percentOff: 5, amountCentsOff: null })).assertError('CONFLICT', 'percentOff');
  (await patch({ maxUses: 1 })).assertError('BAD_REQUEST', 'maxUses');
  (await patch({ maxUses: 2 })).assertError('CONFLICT', 'maxUses');
  const kept = (await patch({ amountCentsOff: 300, maxUses: 3, notes: 'For friends' })).assertOk(200);
  assert.equal(kept.at('data.status'), 'ACTIVE');
  await app.container.sql`update discount_code set used_count = 3, reserved_count = 0 where id = ${id}`;
  assert.equal((await patch({})).assertOk(200).at('data.status'), 'EXHAUSTED');
  assert.equal((await patch({ isActive: false })).assertOk(200).at('data.status'), 'DISABLED');
  (await app.request('DELETE', `${PATH}/${id}`, { key })).assertOk(200);
  (await patch({})).assertError('NOT_FOUND');
});

test('the expiry of a code emits one event per expiry date', async () => {
  const { key } = await app.createKey();
  const inAnHour = new Date(clock.ms() + 3_600_000).toISOString();
  const id = await make(key, { code: 'SOON', percentOff: 20, expiresAt: inAnHour });
  const events = async () =>
    (await app.request('GET', '/me/events', { key }))
      .assertOk(200)
      .list('data')
      .map((row) => [Object(row).type, Object(row).data.sequence])
      .filter(([type]) => String(type).startsWith('booking.'));
  await runTask(app.container, 'expired discount codes');
  assert.deepEqual(await events(), []);
  clock.advance(3_600_000);
  await runTask(app.container, 'expired discount codes');
  await runTask(app.container, 'expired discount codes');
  assert.deepEqual(await events(), [['booking.discount_code.expired', 1]]);
  const listed = (await app.request('GET', PATH, { key })).assertOk(200);
  assert.equal(listed.at('data.0.status'), 'EXPIRED');
  const later = new Date(clock.ms() + 3_600_000).toISOString();
  (await app.request('PATCH', `${PATH}/${id}`, { key, body: { expiresAt: later } })).assertOk(200);
  clock.advance(3_600_000);
  await runTask(app.container, 'expired discount codes');
  assert.equal((await events()).length, 2);
});

test('lowering the limit of a code to its uses emits the exhausted event', async () => {
  const { key } = await app.createKey();
  const id = await make(key, { code: 'FEW', percentOff: 5, maxUses: 2 });
  const told = async () => {
    const rows = (
      await app.request('GET', '/me/events?type=booking.discount_code.*&order=asc', { key })
    ).list('data');
    const told = rows.map((row) => [Object(row).type, Object(row).data.usedCount, Object(row).data.sequence]);
    return told.toSorted(([, , a], [, , b]) => a - b);
  };
  const patch = async (body: object) =>
    (await app.request('PATCH', `${PATH}/${id}`, { key, body })).assertOk(200).at('data.status');
  await app.container.sql`update discount_code set used_count = 1 where id = ${id}`;
  assert.equal(await patch({ maxUses: 1 }), 'EXHAUSTED');
  const once = ['booking.discount_code.exhausted', 1, 1];
  assert.deepEqual(await told(), [once]);
  await patch({ notes: 'For early birds' });
  assert.equal(await patch({ maxUses: 2 }), 'ACTIVE');
  assert.deepEqual(await told(), [once], 'nothing was used up by these');
  await patch({ maxUses: 1 });
  assert.deepEqual(await told(), [once, ['booking.discount_code.exhausted', 1, 2]]);
});

test('a code for one product requires a product of the workspace', async () => {
  const { key, account } = await app.createKey();
  const product = { title: 'An hour', type: 'ONE_TO_ONE', priceCents: 5000 };
  const post = (path: string, body: object) => app.request('POST', path, { key, body });
  const productId = (await post('/booking/products', product)).assertOk(201).string('data.id');
  const code = { code: 'HOUR', percentOff: 10 };
  const made = (await post('/booking/discount-codes', { ...code, productId })).assertOk(201);
  assert.equal(made.at('data.productId'), productId);
  const path = `/booking/discount-codes/${made.string('data.id')}`;
  const patch = (body: object) => app.request('PATCH', path, { key, body });
  assert.equal((await patch({ productId: null })).assertOk(200).at('data.productId'), null);
  assert.equal((await patch({ productId })).assertOk(200).at('data.productId'), productId);
  const strangers = [(await app.createKey()).key, (await app.createKey({ account, mode: 'test' })).key];
  for (const stranger of strangers) {
    const body = { ...code, productId };
    const refused = await app.request('POST', '/booking/discount-codes', { key: stranger, body });
    refused.assertError('NOT_FOUND', 'productId');
  }
  (await patch({ productId: 'bkp_01kafe3n4pfx2v9yq6m8d7t5zr' })).assertError('NOT_FOUND', 'productId');
});

test('permissions are checked', async () => {
  const account = await app.createAccount();
  const reader = (await app.createKey({ account, scope: 'STANDARD', permissions: ['booking:read'] })).key;
  (await app.request('GET', PATH, { key: reader })).assertOk(200);
  (await create(reader, { code: 'A', percentOff: 1 })).assertError('PERMISSION_DENIED');
  const other = (await app.createKey({ account, scope: 'STANDARD', permissions: ['videos:write'] })).key;
  (await app.request('GET', PATH, { key: other })).assertError('PERMISSION_DENIED');
  const readOnly = (await app.createKey({ account, scope: 'READ_ONLY' })).key;
  (await create(readOnly, { code: 'A', percentOff: 1 })).assertError('INSUFFICIENT_SCOPE');
});
