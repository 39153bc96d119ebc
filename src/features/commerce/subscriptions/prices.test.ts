import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { CARDS } from '../../../../test/money/buyer.ts';
import { creator } from '../../../../test/money/subscriber.ts';
import { DAY_MS } from '../../../kernel/durations.ts';

/**
 * Tests of price migrations at inconvenient moments: members never pay a higher price unannounced, and no
 * price is lost.
 */

let app: TestApp;
const clock = new TestClock('2026-01-10T10:00:00Z');
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

type Creator = Awaited<ReturnType<typeof creator>>;
type Member = Awaited<ReturnType<Creator['subscribe']>>;

const MINUTE_MS = 60_000;

const tellMembers = () => app.container.subscriptions.letters.send();
const renewDue = () => app.container.subscriptions.renewals.renewDue();

/** Runs the worker's minute tasks at this time. */
async function runAt(time: number) {
  clock.set(time);
  await tellMembers();
  await renewDue();
}

async function migrate(at: Creator, tierId: string, priceCents: number) {
  (await at.call('PATCH', `/tiers/${tierId}`, { priceCents, migrateExisting: true })).assertOk(200);
}

async function endOf(at: Creator, { id }: Member) {
  return Date.parse((await at.get(id)).assertOk(200).string('data.currentPeriodEnd'));
}

/** Returns the tier, its price for this member, and the pending terms. */
async function termsOf(at: Creator, { id }: Member) {
  const data = Object((await at.get(id)).assertOk(200).at('data'));
  return [data.tierId, data.priceCents, data.pendingTierId, data.pendingPriceCents];
}

async function paidFor({ id }: Member) {
  const rows = await app.container.db
    .selectFrom('purchase')
    .select('amount_cents')
    .where('subscription_id', '=', id)
    .where('status', '=', 'PAID')
    .orderBy('id')
    .execute();
  return rows.map(({ amount_cents: cents }) => cents);
}

/** Returns the emails of a kind to a member, newest first. */
async function mailsTo({ customer }: Member, what: string) {
  const { mailbox } = app.container;
  const mails = (await mailbox.list()).filter(({ kind, to }) => kind === what && to === customer.email);
  return Promise.all(mails.map(async ({ id }) => (await mailbox.get(id)).text ?? ''));
}

test('a member with a planned switch is notified of the price of staying before paying it', async () => {
  clock.set('2026-01-10T10:00:00Z');
  const at = await creator(app);
  const tier = await at.tier();
  const full = await at.tier({ name: 'Small', priceCents: 300, maxMembers: 1 });
  await at.subscribe(full);
  const member = await at.subscribe(tier);
  (await at.post(member.id, 'switch', { tierId: full })).assertOk(200);
  await migrate(at, tier, 2000);
  await runAt(clock.ms() + MINUTE_MS);
  const [mail = ''] = await mailsTo(member, 'subscription-price');
  assert.match(mail, /From 10 February 2026 on, you have Small for \$3\.00 a month\./);
  assert.match(
    mail,
    /your tier does not change, and Supporter of .+ costs \$20\.00 a month instead of \$5\.00\./,
  );

  await runAt(await endOf(at, member));
  assert.deepEqual(await termsOf(at, member), [tier, 2000, null, null]);
  assert.deepEqual(await paidFor(member), [500, 2000]);
  await runAt(clock.ms() + MINUTE_MS);
  assert.equal((await mailsTo(member, 'subscription-price')).length, 1, 'told once');
});

test('a member who plans a switch after a price increase is notified of it once', async () => {
  clock.set('2026-01-10T10:00:00Z');
  const at = await creator(app);
  const tier = await at.tier();
  const small = await at.tier({ name: 'Small', priceCents: 300 });
  const told = await at.subscribe(tier);
  await migrate(at, tier, 700);
  await tellMembers();
  const untold = await at.subscribe(tier);
  await migrate(at, tier, 800);
  (await at.post(untold.id, 'switch', { tierId: small })).assertOk(200);
  await tellMembers();
  (await at.post(told.id, 'switch', { tierId: small })).assertOk(200);
  await tellMembers();
  assert.equal((await mailsTo(untold, 'subscription-price')).length, 1);
  assert.equal((await mailsTo(told, 'subscription-price')).length, 2, 'of 700 and of 800');
});

test('a renewal waits until its member is notified of the price', async () => {
  clock.set('2026-02-05T10:00:00Z');
  const at = await creator(app);
  const tier = await at.tier();
  const [member, leaving] = [await at.subscribe(tier), await at.subscribe(tier)];
  const end = await endOf(at, member);
  await migrate(at, tier, 2000);
  (await at.post(leaving.id, 'cancel', { atPeriodEnd: true })).assertOk(200);
  clock.set(end);
  await renewDue();
  assert.deepEqual(await paidFor(member), [500]);
  assert.equal((await at.get(leaving.id)).string('data.status'), 'CANCELED', 'nothing is charged for that');

  await runAt(end + MINUTE_MS);
  assert.deepEqual(await paidFor(member), [500, 2000]);
  const renewed = (await at.get(member.id)).assertOk(200);
  assert.equal(Date.parse(renewed.string('data.currentPeriodStart')), end, 'the same period');
  assert.equal((await mailsTo(member, 'subscription-price')).length, 1);
});

test('a price raised while a switch is charged applies from the next period', async () => {
  clock.set('2026-03-05T10:00:00Z');
  const at = await creator(app);
  const [tier, large] = [await at.tier(), await at.tier({ name: 'Patron', priceCents: 900 })];
  const [member, leaving] = [await at.subscribe(tier), await at.subscribe(tier)];
  for (const one of [member, leaving]) {
    await at.giveCard(one, CARDS.late);
    (await at.post(one.id, 'switch', { tierId: large })).assertError('SERVICE_UNAVAILABLE');
  }
  (await at.post(leaving.id, 'cancel', { atPeriodEnd: true })).assertOk(200);
  // Migrate the previous tier, too: it no longer applies to them.
  await migrate(at, tier, 600);
  await migrate(at, large, 1500);
  for (const one of [member, leaving]) {
    (await at.post(one.id, 'switch', { tierId: large })).assertOk(200);
  }
  assert.deepEqual(await termsOf(at, member), [large, 900, null, 1500]);
  assert.deepEqual(await termsOf(at, leaving), [large, 900, null, null]);
  (await at.post(leaving.id, 'resume')).assertOk(200);
  assert.deepEqual(await termsOf(at, leaving), [large, 900, null, 1500]);

  await runAt(clock.ms() + MINUTE_MS);
  const [mail = ''] = await mailsTo(member, 'subscription-price');
  assert.match(mail, /From 5 April 2026 on, Patron of .+ costs \$15\.00 a month instead of \$9\.00\./);
  await at.giveCard(member, CARDS.pays);
  await runAt(await endOf(at, member));
  assert.deepEqual(await paidFor(member), [500, 400, 1500]);
  assert.deepEqual(await termsOf(at, member), [large, 1500, null, null]);
});

test('a price raised while a renewal switches the tier is retained, whether the charge is paid or declined', async () => {
  clock.set('2026-05-05T10:00:00Z');
  const at = await creator(app);
  const [tier, small] = [await at.tier(), await at.tier({ name: 'Small', priceCents: 300 })];
  const members = [await at.subscribe(tier), await at.subscribe(tier)] as const;
  for (const one of members) {
    (await at.post(one.id, 'switch', { tierId: small })).assertOk(200);
    await at.giveCard(one, CARDS.late);
  }
  const [paying, poor] = members;
  const end = await endOf(at, paying);
  await runAt(end);
  await migrate(at, small, 800);
  await declineAtBank(poor);
  await runAt(end + 5 * MINUTE_MS);
  for (const one of members) assert.deepEqual(await mailsTo(one, 'subscription-price'), [], 'not yet');
  await app.container.payments.reconcile();
  assert.deepEqual(await termsOf(at, paying), [small, 300, null, 800]);
  assert.deepEqual(await termsOf(at, poor), [tier, 500, small, 800]);
  assert.match((await mailsTo(poor, 'subscription-card-failed'))[0] ?? '', /Supporter of .+, \$3\.00, could/);
  (await at.post(paying.id, 'cancel', { atPeriodEnd: true })).assertOk(200);
  (await at.post(paying.id, 'resume')).assertOk(200);
  assert.deepEqual(await termsOf(at, paying), [small, 300, null, 800]);

  for (const one of members) await at.giveCard(one, CARDS.pays);
  await runAt(end + 10 * MINUTE_MS);
  assert.match((await mailsTo(paying, 'subscription-price'))[0] ?? '', /From 5 July 2026 on, Small of/);
  assert.match((await mailsTo(poor, 'subscription-price'))[0] ?? '', /From 5 June 2026 on, you have Small/);
  await runAt(end + DAY_MS);
  assert.deepEqual(
    [await paidFor(paying), await paidFor(poor)],
    [
      [500, 300],
      [500, 800],
    ],
  );
  await runAt(await endOf(at, paying));
  assert.deepEqual(await paidFor(paying), [500, 300, 800]);
});

/** Declines the pending charge at the bank, contrary to the behavior of the card. */
async function declineAtBank({ id }: Member) {
  const { db } = app.container;
  const { provider_key: key } = await db
    .selectFrom('payment')
    .innerJoin('subscription', 'subscription.payment_id', 'payment.id')
    .select('payment.provider_key')
    .where('subscription.id', '=', id)
    .executeTakeFirstOrThrow();
  await db
    .updateTable('sandbox_payment')
    .set({ status: 'FAILED', failure_code: 'CARD_DECLINED' })
    .where('key', '=', key)
    .execute();
}

test('a switch does not begin at a price that changes at that moment', async () => {
  clock.set('2026-08-05T10:00:00Z');
  const at = await creator(app);
  const [tier, large] = [await at.tier(), await at.tier({ name: 'Patron', priceCents: 900 })];
  const member = await at.subscribe(tier);
  const { db, sql } = app.container;
  const held = Promise.withResolvers<void>();
  const raised = Promise.withResolvers<void>();
  const raising = db.transaction().execute(async (tx) => {
    await tx.updateTable('tier').set({ price_cents: 1200 }).where('id', '=', large).execute();
    raised.resolve();
    await held.promise;
  });
  await raised.promise;
  const answer = at.post(member.id, 'switch', { tierId: large });
  const waiting = () => sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await waitFor(async () => (await waiting()).length > 0);
  held.resolve();
  await raising;
  (await answer).assertError('CONFLICT', 'tierId');
  assert.deepEqual(await paidFor(member), [500]);
  (await at.post(member.id, 'switch', { tierId: large })).assertOk(200);
  assert.deepEqual(await paidFor(member), [500, 700]);
});

test('a simulated renewal announces the price first, as the worker does', async () => {
  clock.set('2026-09-05T10:00:00Z');
  const at = await creator(app);
  const tier = await at.tier();
  const member = await at.subscribe(tier);
  await migrate(at, tier, 700);
  (await at.post(member.id, 'simulate', { event: 'RENEWED' })).assertOk(200);
  assert.deepEqual(await termsOf(at, member), [tier, 700, null, null]);
  assert.equal((await mailsTo(member, 'subscription-price')).length, 1);
});
