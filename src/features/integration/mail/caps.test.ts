import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bookingClient } from '../../../../test/booking/booking-client.ts';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { memberPage } from '../../../../test/money/member-page.ts';
import { checkoutClient, type Shop } from '../../../../test/money/shop.ts';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.close());

const { creator, cohort, ask } = bookingClient(() => app);
const { shop, tier, open, read, pay } = checkoutClient(() => app);

const post = ({ key }: Shop, path: string, body: object) => app.request('POST', path, { key, body });

async function received(email: string): Promise<number> {
  const [row] = await app.container.sql<{ count: number }[]>`
    select count(*)::int as count from mail where recipient = ${email}`;
  return row?.count ?? 0;
}

/** A course that costs nothing, with one seat. */
const course = (of: Shop) => cohort(of, { startsAt: '2100-01-01T09:00:00Z', capacity: 1 }, { priceCents: 0 });

test('one mailbox receives at most 20 emails an hour, regardless of sender and purpose', async () => {
  const email = 'typed@example.com';
  const of = await creator();
  const owner: Shop = { account: of.account, key: (await app.createKey({ account: of.account })).key };
  const courses = [];
  for (let n = 0; n < 5; n++) courses.push(await course(of));
  const join = ({ productId, cohortId }: { productId: string; cohortId: string }) =>
    post(of, `/booking/products/${productId}/waitlist`, { email, cohortId });
  const book = (seat: { productId: string; cohortId: string }, name = 'Typed') => ask(of, seat, name);
  for (const seat of courses.slice(0, 4)) {
    (await book(seat)).assertOk(201);
    (await join(seat)).assertOk(201);
  }
  assert.equal(await received(email), 8);
  const invite = () => post(owner, '/team/invitations', { email, teamRole: 'EDITOR' });
  for (let n = 0; n < 12; n++) {
    const invited = (await invite()).assertOk(201).string('data.id');
    (await app.request('DELETE', `/team/invitations/${invited}`, { key: owner.key })).assertOk(200);
  }
  assert.equal(await received(email), 20);

  const [last] = courses.slice(4);
  assert.ok(last);
  (await invite()).assertError('RATE_LIMITED', 'email');
  (await book(last)).assertError('RATE_LIMITED', 'email');
  (await post(of, '/subscribers', { email })).assertError('RATE_LIMITED', 'email');
  (await book(last, 'Holder')).assertOk(201);
  (await join(last)).assertError('RATE_LIMITED', 'email');
  const account = { email, password: 'a long enough passphrase' };
  const registered = await app.request('POST', '/auth/register', { key: owner.key, body: account });
  registered.assertError('RATE_LIMITED', 'email');
  assert.equal(await received(email), 20);
});

test('links that are requested on the pages of many creators count as one', async () => {
  const email = 'member@example.com';
  for (let n = 0; n < 11; n++) {
    const of = await shop();
    const paid = await pay(await open(of, { tierId: await tier(of) }), { email });
    assert.equal(paid.status, 303);
    const [owner] = await app.container.sql`select username from account where id = ${of.account.id}`;
    const base = `/members/${owner?.username}/test`;
    const { submit } = memberPage(
      () => app,
      () => base,
    );
    // The limit of the page applies only to the sender.
    if (n < 10) assert.equal((await submit(`${base}/link`, { email })).status, 200);
    await runTask(app.container, 'member links');
  }
  assert.equal(await received(email), 20);
});

test('payments with test cards succeed without filling a mailbox', async () => {
  const email = 'receipts@example.com';
  const of = await shop();
  const tierId = await tier(of);
  const ids = [];
  for (let n = 0; n < 22; n++) {
    const id = await open(of, { tierId });
    assert.equal((await pay(id, { email })).status, 303);
    ids.push(id);
  }
  assert.equal((await read(of, ids.at(-1) ?? '')).at('data.status'), 'COMPLETED');
  assert.equal(await received(email), 20);
});

test('repeated cancellations, resumptions and refunds do not fill a mailbox', async () => {
  const email = 'mailed@example.com';
  const of = await shop();
  const id = await open(of, { tierId: await tier(of) });
  assert.equal((await pay(id, { email })).status, 303);
  const path = `/me/subscriptions/${(await read(of, id)).string('data.subscriptionId')}`;
  for (let n = 0; n < 15; n++) {
    (await post(of, `${path}/cancel`, { atPeriodEnd: true })).assertOk(200);
    (await post(of, `${path}/resume`, {})).assertOk(200);
  }
  const bought = (await app.request('GET', '/purchases', { key: of.key })).assertOk(200).string('data.0.id');
  for (let n = 0; n < 15; n++) {
    const body = { amountCents: 1, requestId: `refund-${n}` };
    (await post(of, `/purchases/${bought}/refund`, body)).assertOk(201);
  }
  assert.equal(await received(email), 20);
});

test('a sender is counted across mailboxes', async () => {
  const { mailCaps } = app.container;
  for (const [sender, max] of [
    [{ ip: '192.0.2.7' }, 200],
    [{ actorId: 'wsp_sender' }, 2000],
  ] as const) {
    const count = mailCaps.from(sender);
    for (let n = 0; n < max; n++) await count(`${n}@example.net`);
    await assert.rejects(count('one-more@example.net'), { code: 'RATE_LIMITED' });
  }
  await mailCaps.from({ ip: '192.0.2.8' })('one-more@example.net');
});
