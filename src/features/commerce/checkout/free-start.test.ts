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

const { shop, tier, code, ask, open, read, pay } = checkoutClient(() => app);
const TRIAL = { name: 'Patron', priceCents: 900, trialDays: 14 };

/** Returns the subscription that a checkout began. */
async function begunBy(of: Shop, checkoutId: string): Promise<string> {
  return (await read(of, checkoutId)).string('data.subscriptionId');
}

const subscription = async ({ key }: Shop, id: string) =>
  (await app.request('GET', `/me/subscriptions/${id}`, { key })).assertOk(200);

async function amountsPaid({ account }: Shop): Promise<number[]> {
  const rows = await app.container.sql<{ cents: number }[]>`select amount_cents::int as cents from purchase
    where workspace_id = ${account.test} and status = 'PAID' order by paid_at`;
  return rows.map(({ cents }) => cents);
}

/** Returns the texts of the emails to the buyer, newest first. */
async function mailsOf(what: string): Promise<string[]> {
  const { mailbox } = app.container;
  const mails = (await mailbox.list()).filter(({ kind, to }) => kind === what && to === 'ann@example.com');
  return Promise.all(mails.map(async ({ id }) => (await mailbox.get(id)).text ?? ''));
}

async function dayPasses(days: number): Promise<void> {
  clock.advance(days * DAY_MS);
  await runTask(app.container, 'subscriptions');
}

/** Signs in to the member page of the shop as Ann. */
async function entered(of: Shop) {
  const [owner] = await app.container.sql`select username from account where id = ${of.account.id}`;
  const base = `/members/${owner?.username}/test`;
  const page = memberPage(
    () => app,
    () => base,
  );
  const cookie = await page.enter('ann@example.com');
  return { base, page, cookie };
}

test('entering the email address of a customer with a card starts nothing that is charged to that card', async () => {
  const of = await shop();
  assert.equal((await pay(await open(of, { tierId: await tier(of) }))).status, 303);
  const id = await open(of, { tierId: await tier(of, TRIAL) });
  assert.equal((await pay(id, { card: '' })).status, 303);
  const begun = await begunBy(of, id);
  assert.equal((await subscription(of, begun)).at('data.status'), 'TRIALING');
  const receipts = await mailsOf('receipt');
  assert.match(receipts.at(0) ?? '', /24 January 2026.*charged only if you agree at that time/s);
  assert.match(receipts.at(1) ?? '', /It renews automatically/);

  await dayPasses(14);
  assert.equal((await subscription(of, begun)).at('data.status'), 'PAST_DUE');
  assert.deepEqual(await amountsPaid(of), [500]);
  const [asked] = await mailsOf('subscription-confirm');
  assert.match(asked ?? '', /No card is saved for Patron.*No card is charged unless you agree/s);

  const { base, page, cookie } = await entered(of);
  const fields = { formToken: await page.formTokenOf(cookie), subscription: begun };
  assert.equal(
    (await page.submit(`${base}/pay`, fields, { cookie })).status,
    400,
    'of no other subscription',
  );
  const card = '4242 4242 4242 4242';
  assert.equal((await page.submit(`${base}/pay`, { ...fields, card }, { cookie })).status, 303);
  assert.equal((await subscription(of, begun)).at('data.status'), 'ACTIVE');
  assert.deepEqual(await amountsPaid(of), [500, 900]);

  await dayPasses(31);
  assert.equal(
    (await subscription(of, begun)).at('data.status'),
    'ACTIVE',
    'from then on it renews by itself',
  );
  assert.deepEqual((await amountsPaid(of)).toSorted(), [500, 500, 900, 900]);
});

test('a card given at the checkout is charged after the trial, even when it is the saved one', async () => {
  const of = await shop();
  const card = '4242 4242 4242 4242';
  assert.equal((await pay(await open(of, { tierId: await tier(of) }), { card })).status, 303);
  const known = await open(of, { tierId: await tier(of, TRIAL) });
  assert.equal((await pay(known, { card })).status, 303);
  const fresh = await open(of, { tierId: await tier(of, TRIAL) });
  assert.equal((await pay(fresh, { card, email: 'bob@example.com' })).status, 303);
  await dayPasses(14);
  for (const id of [known, fresh]) {
    assert.equal((await subscription(of, await begunBy(of, id))).at('data.status'), 'ACTIVE');
  }
});

test('a card saved on the member page is charged for the subscriptions it is selected for', async () => {
  const of = await shop();
  const id = await open(of, { tierId: await tier(of, TRIAL) });
  assert.equal((await pay(id, { card: '' })).status, 303);
  const begun = await begunBy(of, id);
  const { base, page, cookie } = await entered(of);
  const fields = { formToken: await page.formTokenOf(cookie), card: '4242 4242 4242 4242' };
  assert.equal((await page.submit(`${base}/card`, fields, { cookie })).status, 303);
  const chosen = { formToken: fields.formToken, subscription: begun };
  assert.equal((await page.submit(`${base}/use`, chosen, { cookie })).status, 303);
  await dayPasses(14);
  assert.equal((await subscription(of, begun)).at('data.status'), 'ACTIVE');
});

test('receipts of free checkouts cannot flood a mailbox', async () => {
  const of = await shop();
  const tierId = await tier(of, { priceCents: 0 });
  const statuses = [];
  for (let n = 0; n < 21; n++) {
    const email = n % 2 === 0 ? 'zoe@example.com' : ' ZOE@Example.com';
    statuses.push((await pay(await open(of, { tierId }), { card: '', email })).status);
  }
  assert.deepEqual(statuses, [...Array.from({ length: 20 }, () => 303), 429]);
});

test('failed payments with an email address do not block free checkouts with it', async () => {
  const of = await shop();
  const email = 'vic@example.com';
  const trial = await open(of, { tierId: await tier(of, TRIAL) });
  for (let n = 0; n < 21; n++) assert.equal((await pay(trial, { card: 'none', email })).status, 400);
  const free = await open(of, { tierId: await tier(of, { priceCents: 0 }) });
  assert.equal((await pay(free, { card: '', email })).status, 303);
});

test('a deleted code gives no discount on a checkout created with it', async () => {
  const of = await shop();
  const tierId = await tier(of);
  const codeId = await code(of, { code: 'gone', percentOff: 50 });
  const id = await open(of, { tierId, discountCode: 'gone' });
  (await app.request('DELETE', `/booking/discount-codes/${codeId}`, { key: of.key })).assertOk(200);
  const refused = await pay(id);
  assert.equal(refused.status, 409);
  assert.match(refused.text, /is no longer valid/);
  (await ask(of, { tierId, discountCode: 'gone' })).assertError('CONFLICT', 'discountCode');
  assert.deepEqual(await amountsPaid(of), []);
});
