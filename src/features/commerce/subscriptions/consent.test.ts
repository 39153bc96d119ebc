import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { memberPage } from '../../../../test/money/member-page.ts';
import { checkoutClient, type Shop } from '../../../../test/money/shop.ts';
import { DAY_MS } from '../../../kernel/durations.ts';

let app: TestApp;
const clock = new TestClock('2026-01-10T10:00:00Z');
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

const { shop, tier, code, open, read, pay } = checkoutClient(() => app);
const VICTIM = 'ann@example.com';
const VICTIMS_CARD = '4242 4242 4242 4242';
const STRANGERS_CARD = '4000 0000 0000 0077';

const call = ({ key }: Shop, method: string, path: string, body?: object) =>
  app.request(method, path, body === undefined ? { key } : { key, body });
const subscription = async (of: Shop, id: string) =>
  (await call(of, 'GET', `/me/subscriptions/${id}`)).assertOk(200);
const switchTo = (of: Shop, id: string, tierId: string) =>
  call(of, 'POST', `/me/subscriptions/${id}/switch`, { tierId });
const simulate = (of: Shop, id: string, event: string) =>
  call(of, 'POST', `/me/subscriptions/${id}/simulate`, { event });

/** Begins a subscription on the checkout page. */
async function begin(of: Shop, offer: object, fields: Record<string, string> = {}): Promise<string> {
  const id = await open(of, offer);
  assert.equal((await pay(id, { email: VICTIM, card: VICTIMS_CARD, ...fields })).status, 303);
  return (await read(of, id)).string('data.subscriptionId');
}

/** Returns the charges at the bank, in cents, with the last digits of the card. */
async function charges({ account }: Shop): Promise<string[]> {
  const rows = await app.container.sql<{ cents: number; card: string }[]>`
    select amount_cents::int as cents, right(card, 4) as card from sandbox_payment
    where workspace_id = ${account.test} and status = 'SUCCEEDED' order by created_at, ref`;
  return rows.map(({ cents, card }) => `${cents} ${card}`);
}

async function mailsOf(kind: string): Promise<string[]> {
  const { mailbox } = app.container;
  const mails = (await mailbox.list()).filter((mail) => mail.kind === kind && mail.to === VICTIM);
  return Promise.all(mails.map(async ({ id }) => (await mailbox.get(id)).text ?? ''));
}

async function memberOf(of: Shop) {
  const [owner] = await app.container.sql`select username from account where id = ${of.account.id}`;
  const base = `/members/${owner?.username}/test`;
  const page = memberPage(
    () => app,
    () => base,
  );
  const cookie = await page.enter(VICTIM);
  const formToken = await page.formTokenOf(cookie);
  return async (what: string, fields: Record<string, string>) =>
    (await page.submit(`${base}/${what}`, { formToken, ...fields }, { cookie })).status;
}

async function purchasesOf(of: Shop) {
  const rows = (await call(of, 'GET', '/purchases?kind=SUBSCRIPTION')).assertOk(200).list('data').map(Object);
  return rows.map(({ id, amountCents, status }) => ({
    id: String(id),
    amountCents: Number(amountCents),
    status: String(status),
  }));
}

async function refund(of: Shop, amountCents: number): Promise<void> {
  const bought = (await purchasesOf(of)).find((one) => one.amountCents === amountCents);
  const body = { requestId: `refund-${amountCents}` };
  (await call(of, 'POST', `/purchases/${bought?.id}/refund`, body)).assertOk(201);
}

async function dayPasses(days: number): Promise<void> {
  clock.advance(days * DAY_MS);
  await runTask(app.container, 'subscriptions');
}

test('a switch by the API charges no card that was not given for the subscription', async () => {
  const of = await shop();
  const dear = await tier(of, { name: 'Patron', priceCents: 49_500 });
  const plain = await tier(of);
  await code(of, { code: 'free', percentOff: 100 });
  await begin(of, { tierId: plain });
  const strangers = await begin(of, { tierId: plain, discountCode: 'free' }, { card: '' });

  const refused = await switchTo(of, strangers, dear);
  refused.assertError('CONFLICT', 'tierId');
  assert.deepEqual(await charges(of), ['500 4242']);
  assert.equal((await subscription(of, strangers)).at('data.tierId'), plain);
  const [asked] = await mailsOf('subscription-agree');
  assert.match(asked ?? '', /\$490\.00 would be due now.*\/members\//s);

  const member = await memberOf(of);
  assert.equal(await member('card', { card: STRANGERS_CARD }), 303);
  (await switchTo(of, strangers, dear)).assertError('CONFLICT', 'tierId');
  assert.equal(await member('use', { subscription: strangers }), 303);
  (await switchTo(of, strangers, dear)).assertOk(200);
  assert.deepEqual((await charges(of)).toSorted(), ['49000 0077', '500 4242']);
});

test("a payment under a member's email address leaves their cards unchanged", async () => {
  const of = await shop();
  const [own, cheap] = [await tier(of), await tier(of, { name: 'Cheap', priceCents: 100 })];
  const mine = await begin(of, { tierId: own });
  const strangers = await begin(of, { tierId: cheap }, { card: STRANGERS_CARD });
  await dayPasses(31);
  assert.deepEqual((await charges(of)).toSorted(), ['100 0077', '100 0077', '500 4242', '500 4242']);
  for (const id of [mine, strangers]) assert.equal((await subscription(of, id)).at('data.status'), 'ACTIVE');
});

test('agreement applies to one subscription', async () => {
  const of = await shop();
  await code(of, { code: 'free', percentOff: 100 });
  const offer = { tierId: await tier(of), discountCode: 'free' };
  const [wanted, strangers] = [await begin(of, offer, { card: '' }), await begin(of, offer, { card: '' })];
  const member = await memberOf(of);
  assert.equal(await member('card', { card: VICTIMS_CARD }), 303);
  assert.equal(await member('use', { subscription: wanted }), 303);
  await dayPasses(31);
  assert.deepEqual(await charges(of), ['500 4242']);
  assert.equal((await subscription(of, wanted)).at('data.status'), 'ACTIVE');
  assert.equal((await subscription(of, strangers)).at('data.status'), 'PAST_DUE');
});

test('a trial grants access to no other tier: a more expensive one is charged in full, and its period begins', async () => {
  const of = await shop();
  const cheap = await tier(of, { name: 'Cheap', priceCents: 100, trialDays: 14 });
  const dear = await tier(of, { name: 'Dear', priceCents: 99_900, trialDays: 14 });
  const id = await begin(of, { tierId: cheap });
  clock.advance(3 * DAY_MS);
  const after = (await switchTo(of, id, dear)).assertOk(200);
  assert.deepEqual(await charges(of), ['99900 4242'], 'another trial was not left to this customer');
  const now = clock.now().toISOString();
  assert.deepEqual(
    ['status', 'tierId', 'priceCents', 'currentPeriodStart', 'trialEndsAt'].map((name) =>
      after.at(`data.${name}`),
    ),
    ['ACTIVE', dear, 99_900, now, now],
  );

  const declined = await begin(
    of,
    { tierId: cheap },
    { email: 'bob@example.com', card: '4000 0000 0000 0341' },
  );
  (await switchTo(of, declined, dear)).assertError('CONFLICT');
  const still = await subscription(of, declined);
  assert.deepEqual([still.at('data.status'), still.at('data.tierId')], ['TRIALING', cheap]);
});

/** Upgrades from Supporter for 500 to Patron for 900 and Friend for 2,000 cents, in one period. */
async function upgraded(of: Shop) {
  const tiers = [
    await tier(of),
    await tier(of, { name: 'Patron', priceCents: 900 }),
    await tier(of, { name: 'Friend', priceCents: 2000 }),
  ] as const;
  const id = await begin(of, { tierId: tiers[0] });
  const end = (await subscription(of, id)).string('data.currentPeriodEnd');
  for (const tierId of tiers.slice(1)) (await switchTo(of, id, tierId)).assertOk(200);
  const now = async () => {
    const row = await subscription(of, id);
    assert.equal(row.string('data.currentPeriodEnd'), end, 'in the same period');
    return [row.at('data.status'), row.at('data.tierId'), row.at('data.priceCents')];
  };
  return { id, tiers, now };
}

test('a full refund of an upgrade restores the previous tier and price, in the same period', async () => {
  const of = await shop();
  const { tiers, now } = await upgraded(of);
  await refund(of, 1100);
  assert.deepEqual(await now(), ['ACTIVE', tiers[1], 900]);
  await refund(of, 400);
  assert.deepEqual(await now(), ['ACTIVE', tiers[0], 500]);
  const counts = await Promise.all(
    tiers.map(async (id) => (await call(of, 'GET', `/tiers/${id}`)).at('data.memberCount')),
  );
  assert.deepEqual(counts, [1, 0, 0]);
  await refund(of, 500);
  assert.equal((await now())[0], 'CANCELED');
});

test('a full refund of an upgrade refunds later upgrades', async () => {
  const of = await shop();
  const { tiers, now } = await upgraded(of);
  await refund(of, 400);
  assert.deepEqual(await now(), ['ACTIVE', tiers[0], 500]);
  clock.advance(2 * 60_000);
  await runTask(app.container, 'open payments');
  const paid = (await purchasesOf(of)).map(({ amountCents, status }) => `${amountCents} ${status}`);
  assert.deepEqual(paid.toSorted(), ['1100 REFUNDED', '400 REFUNDED', '500 PAID']);
});

test('a lost dispute about an upgrade restores the previous tier and price', async () => {
  const of = await shop();
  const { id, tiers, now } = await upgraded(of);
  assert.equal((await simulate(of, id, 'DISPUTED')).assertOk(200).at('data.isDisputed'), true);
  const lost = (await simulate(of, id, 'DISPUTE_LOST')).assertOk(200);
  assert.equal(lost.at('data.isDisputed'), false);
  assert.deepEqual(await now(), ['ACTIVE', tiers[1], 900]);
});

test('a decided or missing dispute cannot be opened or decided', async () => {
  const of = await shop();
  const id = await begin(of, { tierId: await tier(of) });
  (await simulate(of, id, 'DISPUTE_WON')).assertError('CONFLICT');
  (await simulate(of, id, 'DISPUTED')).assertOk(200);
  (await simulate(of, id, 'DISPUTED')).assertError('CONFLICT');
  (await simulate(of, id, 'DISPUTE_LOST')).assertOk(200);
  for (const event of ['DISPUTED', 'DISPUTE_WON', 'DISPUTE_LOST']) {
    (await simulate(of, id, event)).assertError('CONFLICT');
  }
  const over = await subscription(of, id);
  assert.deepEqual(
    ['status', 'cancelReason', 'isDisputed'].map((name) => over.at(`data.${name}`)),
    ['CANCELED', 'DISPUTE_LOST', false],
  );
});

test('a subscription that a code covers in full is a sale of 0, with or without a trial', async () => {
  const of = await shop();
  await code(of, { code: 'free', percentOff: 100 });
  const now = { tierId: await tier(of), discountCode: 'free' };
  await begin(of, now, { card: '', email: 'cas@example.com' });
  const trial = { tierId: await tier(of, { trialDays: 14 }), discountCode: 'free' };
  const later = await begin(of, trial, { card: '', email: 'bob@example.com' });
  const sales = async () => {
    const paid = (await purchasesOf(of)).map(({ amountCents, status }) => `${amountCents} ${status}`);
    const { totals } = Object((await call(of, 'GET', '/monetization/revenue')).assertOk(200).at('data'));
    return [paid, totals.count, totals.grossCents];
  };
  assert.deepEqual(await sales(), [['0 PAID'], 1, 0]);
  await dayPasses(14);
  assert.equal((await subscription(of, later)).at('data.status'), 'ACTIVE');
  assert.deepEqual(await sales(), [['0 PAID', '0 PAID'], 2, 0]);
});
