import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { creator } from '../../../../test/money/subscriber.ts';
import { DAY_MS } from '../../../kernel/durations.ts';

let app: TestApp;
const clock = new TestClock('2026-01-31T10:00:00Z');
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

const DECLINES_LATER = '4000000000000341';

/** Runs the worker's minute tasks at this time. */
async function runAt(time: string | number) {
  clock.set(time);
  await app.container.subscriptions.letters.send();
  await app.container.subscriptions.renewals.renewDue();
}

async function endOf(at: Awaited<ReturnType<typeof creator>>, id: string) {
  return Date.parse((await at.get(id)).assertOk(200).string('data.currentPeriodEnd'));
}

test('a subscription is listed, renewed on its day, and counted once by two nodes', async () => {
  clock.set('2026-01-31T10:00:00Z');
  const at = await creator(app);
  const tier = await at.tier();
  const { id } = await at.subscribe(tier);
  assert.equal(await at.memberCount(tier), 1);
  const listed = (await at.call('GET', '/me/subscriptions?status=ACTIVE')).assertOk(200);
  assert.equal(listed.string('data.0.id'), id);
  assert.equal(listed.string('data.0.currentPeriodEnd'), '2026-02-28T10:00:00.000Z');
  assert.deepEqual((await at.call('GET', '/me/subscriptions?status=EXPIRED')).assertOk(200).list('data'), []);
  (await at.call('GET', '/me/subscriptions?status=NONE')).assertError('BAD_REQUEST', 'status');

  clock.set('2026-02-28T10:00:00Z');
  const { renewals } = app.container.subscriptions;
  await Promise.all([renewals.renewDue(), renewals.renewDue()]);
  const renewed = (await at.get(id)).assertOk(200);
  assert.equal(renewed.string('data.currentPeriodEnd'), '2026-03-31T10:00:00.000Z');
  const charges = await app.container.db
    .selectFrom('purchase')
    .innerJoin('payment', 'payment.purchase_id', 'purchase.id')
    .select('payment.provider_key')
    .where('subscription_id', '=', id)
    .execute();
  assert.equal(charges.length, 2);
  assert.ok(charges.some(({ provider_key: key }) => key === `${id}:2026-02-28T10:00:00.000Z:1`));
  assert.deepEqual(await at.told(id), ['created', 'renewed']);
});

test('a trial, its first charge, and a declined charge that is retried on days 1, 3, 5 and 7', async () => {
  clock.set('2026-03-02T10:00:00Z');
  const at = await creator(app);
  const tier = await at.tier({ trialDays: 7 });
  const bad = await at.subscribe(tier, { trialDays: 7 });
  assert.equal((await at.get(bad.id)).string('data.status'), 'TRIALING');
  assert.equal(await app.container.subscriptions.trialDaysFor(app.container.db, bad.customer.id, 7), 0);
  for (const day of [9, 10, 12, 14]) {
    await runAt(`2026-03-${String(day).padStart(2, '0')}T10:00:00Z`);
    assert.equal((await at.get(bad.id)).string('data.status'), 'PAST_DUE', `day ${day}`);
  }
  await runAt('2026-03-16T10:00:00Z');
  const over = (await at.get(bad.id)).assertOk(200);
  assert.equal(over.string('data.status'), 'EXPIRED');
  assert.equal(over.string('data.cancelReason'), 'PAYMENT_FAILED');
  assert.deepEqual(await at.told(bad.id), ['created', 'payment_failed', 'expired']);
  const failures = await app.container.db
    .selectFrom('event')
    .select('body')
    .where('workspace_id', '=', at.account.test)
    .where('type', '=', 'payment.failed')
    .execute();
  const about = failures.map(({ body }) => JSON.parse(body).data);
  assert.deepEqual(
    about.map(({ resourceId, failureCode }) => [resourceId, failureCode]),
    Array.from({ length: 5 }, () => [bad.id, 'CARD_MISSING']),
    'each try tells of its payment',
  );
  const purchases = await app.container.db
    .selectFrom('purchase')
    .select('status')
    .where('subscription_id', '=', bad.id)
    .execute();
  assert.deepEqual(
    purchases.map(({ status }) => status),
    ['FAILED'],
    'of one purchase',
  );
  assert.deepEqual(await at.mails(bad.customer.email), ['subscription-confirm', 'subscription-expired']);
  assert.equal(await at.memberCount(tier), 0);
});

test('another card pays a declined renewal, in the same period', async () => {
  clock.set('2026-04-30T10:00:00Z');
  const at = await creator(app);
  const member = await at.subscribe(await at.tier(), { card: DECLINES_LATER });
  const { id } = member;
  await runAt('2026-05-30T10:00:00Z');
  assert.equal((await at.get(id)).string('data.status'), 'PAST_DUE');
  await at.giveCard(member, '4242424242424242');
  await runAt('2026-05-30T10:05:00Z');
  const paid = (await at.get(id)).assertOk(200);
  assert.equal(paid.string('data.status'), 'ACTIVE');
  assert.equal(paid.string('data.currentPeriodEnd'), '2026-06-30T10:00:00.000Z');
  assert.deepEqual(await at.told(id), ['created', 'payment_failed', 'recovered']);
});

test('a subscription can be canceled at the end of the period, resumed, canceled again, and canceled immediately', async () => {
  clock.set('2026-06-15T10:00:00Z');
  const at = await creator(app);
  const tier = await at.tier();
  const { id, customer } = await at.subscribe(tier);
  (await at.post(id, 'resume')).assertError('CONFLICT');
  (await at.post(id, 'cancel')).assertError('BAD_REQUEST', 'atPeriodEnd');
  const flagged = (await at.post(id, 'cancel', { atPeriodEnd: true })).assertOk(200);
  assert.equal(flagged.at('data.cancelAtPeriodEnd'), true);
  assert.equal(flagged.at('data.nextChargeAt'), null);
  (await at.post(id, 'cancel', { atPeriodEnd: true })).assertOk(200);
  assert.equal((await at.post(id, 'resume')).assertOk(200).at('data.canceledAt'), null);
  (await at.post(id, 'cancel', { atPeriodEnd: true })).assertOk(200);
  await runAt(await endOf(at, id));
  const ended = (await at.get(id)).assertOk(200);
  assert.equal(ended.string('data.status'), 'CANCELED');
  assert.equal(ended.string('data.cancelReason'), 'CREATOR_CANCELED');
  assert.equal(await at.memberCount(tier), 0);
  (await at.post(id, 'cancel', { atPeriodEnd: false })).assertError('CONFLICT');
  (await at.post(id, 'resume')).assertError('CONFLICT');
  assert.deepEqual(await at.told(id), [
    'created',
    'cancel_scheduled',
    'resumed',
    'cancel_scheduled',
    'canceled',
  ]);
  assert.equal((await at.mails(customer.email)).includes('subscription-canceled'), true);

  const other = await at.subscribe(tier);
  (await at.post(other.id, 'cancel', { atPeriodEnd: false })).assertOk(200);
  assert.deepEqual(await at.told(other.id), ['created', 'canceled']);
});

test('a switch takes effect now for the difference, later, and back', async () => {
  clock.set('2026-07-10T10:00:00Z');
  const at = await creator(app);
  const [small, large, yearly, foreign] = [
    await at.tier(),
    await at.tier({ name: 'Patron', priceCents: 900 }),
    await at.tier({ name: 'Year', priceCents: 5000, interval: 'YEAR' }),
    await (await creator(app)).tier(),
  ];
  const close = await at.tier({ name: 'Close', priceCents: 520 });
  const full = await at.tier({ name: 'Full', priceCents: 950, maxMembers: 1 });
  await at.subscribe(full);
  const { id } = await at.subscribe(small);
  (await at.post(id, 'switch', { tierId: foreign })).assertError('BAD_REQUEST', 'tierId');
  (await at.post(id, 'switch', { tierId: small })).assertError('CONFLICT', 'tierId');
  (await at.post(id, 'switch', { tierId: close })).assertError('CONFLICT', 'tierId');
  (await at.post(id, 'switch', { tierId: full })).assertError('CONFLICT', 'tierId');
  const end = await endOf(at, id);
  const dearer = (await at.post(id, 'switch', { tierId: large })).assertOk(200);
  assert.equal(dearer.string('data.tierId'), large);
  assert.equal(dearer.at('data.priceCents'), 900);
  assert.equal(await endOf(at, id), end, 'the same period');
  assert.deepEqual([await at.memberCount(small), await at.memberCount(large)], [0, 1]);

  const later = (await at.post(id, 'switch', { tierId: yearly })).assertOk(200);
  assert.equal(later.string('data.pendingTierId'), yearly);
  assert.equal((await at.post(id, 'switch', { tierId: large })).assertOk(200).at('data.pendingTierId'), null);
  (await at.post(id, 'switch', { tierId: yearly })).assertOk(200);
  await runAt(end);
  const year = (await at.get(id)).assertOk(200);
  assert.equal(year.string('data.tierId'), yearly);
  assert.equal(year.string('data.currentPeriodEnd'), '2027-08-10T10:00:00.000Z');
  assert.deepEqual([await at.memberCount(large), await at.memberCount(yearly)], [0, 1]);
  assert.deepEqual(await at.told(id), [
    ...['created', 'updated', 'updated', 'updated', 'updated', 'updated', 'renewed'],
  ]);
});

test('a declined switch changes nothing', async () => {
  clock.set('2026-07-20T10:00:00Z');
  const at = await creator(app);
  const [small, large] = [await at.tier(), await at.tier({ name: 'Patron', priceCents: 900 })];
  const { id } = await at.subscribe(small, { card: DECLINES_LATER });
  (await at.post(id, 'switch', { tierId: large })).assertError('CONFLICT');
  assert.equal((await at.get(id)).string('data.tierId'), small);
  const claims = await app.container.db
    .selectFrom('tier')
    .select('reserved_count')
    .where('id', '=', large)
    .executeTakeFirstOrThrow();
  assert.equal(claims.reserved_count, 0);
});

test('members keep their price unless it is migrated, which they are notified of', async () => {
  clock.set('2026-08-05T10:00:00Z');
  const at = await creator(app);
  const tier = await at.tier();
  const { id, customer } = await at.subscribe(tier);
  (await at.call('PATCH', `/tiers/${tier}`, { priceCents: 600 })).assertOk(200);
  await runAt(await endOf(at, id));
  assert.equal((await at.get(id)).at('data.priceCents'), 500);
  (await at.call('PATCH', `/tiers/${tier}`, { priceCents: 700, migrateExisting: true })).assertOk(200);
  assert.equal((await at.get(id)).at('data.pendingPriceCents'), 700);
  await runAt(await endOf(at, id));
  const after = (await at.get(id)).assertOk(200);
  assert.deepEqual([after.at('data.priceCents'), after.at('data.pendingPriceCents')], [700, null]);
  const paid = await app.container.db
    .selectFrom('purchase')
    .select('amount_cents')
    .where('subscription_id', '=', id)
    .orderBy('id')
    .execute();
  assert.deepEqual(
    paid.map(({ amount_cents: cents }) => cents),
    [500, 500, 700],
  );
  assert.deepEqual(await at.mails(customer.email), ['subscription-price']);
});

test('leaving for a moment, by cancellation or switch, does not preserve the old price', async () => {
  clock.set('2026-08-06T10:00:00Z');
  const at = await creator(app);
  const [tier, small, full] = [
    await at.tier(),
    await at.tier({ name: 'Small', priceCents: 300 }),
    await at.tier({ name: 'Full', priceCents: 400, maxMembers: 1 }),
  ];
  await at.subscribe(full);
  const members = [await at.subscribe(tier), await at.subscribe(tier), await at.subscribe(tier)];
  const [canceling = '', switching = '', early = ''] = members.map(({ id }) => id);
  (await at.post(early, 'cancel', { atPeriodEnd: true })).assertOk(200);
  (await at.call('PATCH', `/tiers/${tier}`, { priceCents: 700, migrateExisting: true })).assertOk(200);
  (await at.post(canceling, 'cancel', { atPeriodEnd: true })).assertOk(200);
  (await at.post(canceling, 'resume')).assertOk(200);
  (await at.post(early, 'resume')).assertOk(200);
  (await at.post(switching, 'switch', { tierId: small })).assertOk(200);
  (await at.post(switching, 'switch', { tierId: tier })).assertOk(200);
  for (const { id } of members) assert.equal((await at.get(id)).at('data.pendingPriceCents'), 700);
  (await at.post(switching, 'switch', { tierId: full })).assertOk(200);
  await runAt(await endOf(at, canceling));
  // The other tier was full: they stay, at the members' price.
  for (const { id } of members) {
    const after = (await at.get(id)).assertOk(200);
    assert.deepEqual([after.at('data.tierId'), after.at('data.priceCents')], [tier, 700]);
    assert.equal(after.at('data.pendingPriceCents'), null);
  }
});

test('simulations cover renewals, declines, disputes, and the end', async () => {
  clock.set('2026-09-01T10:00:00Z');
  const at = await creator(app);
  const tier = await at.tier();
  const { id } = await at.subscribe(tier);
  const simulate = (event: string) => at.post(id, 'simulate', { event });
  (await simulate('NOTHING')).assertError('BAD_REQUEST', 'event');
  const renewed = (await simulate('RENEWED')).assertOk(200);
  assert.equal(renewed.string('data.currentPeriodEnd'), '2026-11-01T10:00:00.000Z');
  assert.equal((await simulate('PAYMENT_FAILED')).assertOk(200).string('data.status'), 'PAST_DUE');
  assert.equal((await simulate('RENEWED')).assertOk(200).string('data.status'), 'ACTIVE');
  assert.equal((await simulate('DISPUTED')).assertOk(200).at('data.isDisputed'), true);
  assert.equal((await simulate('DISPUTE_WON')).assertOk(200).at('data.isDisputed'), false);
  assert.equal(
    (await simulate('MEMBER_CANCELED')).assertOk(200).string('data.cancelReason'),
    'MEMBER_CANCELED',
  );
  (await simulate('RENEWED')).assertError('CONFLICT');
  assert.equal((await simulate('PERIOD_ENDED')).assertOk(200).string('data.status'), 'CANCELED');
  (await simulate('PERIOD_ENDED')).assertError('CONFLICT');

  const lost = await at.subscribe(tier);
  (await at.post(lost.id, 'simulate', { event: 'DISPUTED' })).assertOk(200);
  const end = (await at.post(lost.id, 'simulate', { event: 'DISPUTE_LOST' })).assertOk(200);
  assert.equal(end.string('data.cancelReason'), 'DISPUTE_LOST');

  const live = await app.createKey({ account: at.account });
  const path = `/me/subscriptions/${id}/simulate`;
  (await app.request('POST', path, { key: live.key, body: { event: 'RENEWED' } })).assertError(
    'PERMISSION_DENIED',
  );
});

test('a refund of the current period ends the subscription', async () => {
  clock.set('2026-10-01T10:00:00Z');
  const at = await creator(app);
  const { id, purchaseId } = await at.subscribe(await at.tier());
  const { payments, db } = app.container;
  const refund = {
    workspaceId: at.account.test,
    purchaseId,
    amountCents: null,
    reason: null,
    requestId: 'a',
  };
  const { paymentId } = await db.transaction().execute((tx) => payments.refund(tx, refund));
  await payments.settle(paymentId);
  const after = (await at.get(id)).assertOk(200);
  assert.deepEqual([after.at('data.status'), after.at('data.cancelReason')], ['CANCELED', 'REFUNDED']);
});

test('a yearly renewal and an expiring card are announced', async () => {
  clock.set('2026-11-10T10:00:00Z');
  const at = await creator(app);
  const tier = await at.tier({ priceCents: 5000, interval: 'YEAR' });
  const { id, customer } = await at.subscribe(tier);
  const end = await endOf(at, id);
  await runAt(end - 8 * DAY_MS);
  assert.deepEqual(await at.mails(customer.email), []);
  await runAt(end - 7 * DAY_MS);
  await runAt(end - 6 * DAY_MS);
  assert.deepEqual(await at.mails(customer.email), ['subscription-renews']);
  await runAt('2030-12-01T10:00:00Z');
  await runAt('2030-12-02T10:00:00Z');
  const kinds = (await at.mails(customer.email)).filter((kind) => kind === 'subscription-card-expiring');
  assert.equal(kinds.length, 1);
});

test('suspended creators renew nothing, and members do not pay for that time afterwards', async () => {
  clock.set('2031-01-05T10:00:00Z');
  const at = await creator(app);
  const { id } = await at.subscribe(await at.tier());
  await app.container.db
    .updateTable('account')
    .set({ suspended_at: clock.now() })
    .where('id', '=', at.account.id)
    .execute();
  await runAt('2031-04-20T10:00:00Z');
  await app.container.db
    .updateTable('account')
    .set({ suspended_at: null })
    .where('id', '=', at.account.id)
    .execute();
  await runAt('2031-04-21T10:00:00Z');
  const row = (await at.get(id)).assertOk(200);
  assert.equal(row.string('data.currentPeriodStart'), '2031-04-05T10:00:00.000Z');
  assert.deepEqual(await at.told(id), ['created', 'renewed']);
});

test('a key without a finance permission is rejected', async () => {
  const at = await creator(app);
  const { key } = await app.createKey({ account: at.account, mode: 'test', scope: 'STANDARD' });
  (await app.request('GET', '/me/subscriptions', { key })).assertError('FINANCIAL_SCOPE_REQUIRED');
});
