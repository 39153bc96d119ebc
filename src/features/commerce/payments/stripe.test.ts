import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { TestClock } from '../../../../test/harness/clock.ts';
import { type StripeShop, startStripeShop } from '../../../../test/money/stripe-shop.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../kernel/durations.ts';
import { createLedgerCheck } from '../ledger/check.service.ts';

const clock = new TestClock('2026-01-31T10:00:00Z');
let platform: Awaited<ReturnType<typeof startStripeShop>>;
before(async () => {
  platform = await startStripeShop(clock);
});
after(() => platform.close());
beforeEach(() => {
  platform.stripe.faults = [];
  platform.stripe.calls = [];
  platform.stripe.cardAnswers = 'ok';
});

/** Creates a checkout of a film for 10 dollars whose buyer is on Stripe's page. */
async function sent() {
  const of = await platform.shop();
  const id = await platform.open(of, { videoId: await platform.video(of, 1000) });
  return { of, id, ...(await platform.goToStripe(id)) };
}

/** Creates a sale that is paid at Stripe and reported by an event. */
async function sold() {
  const sale = await sent();
  platform.stripe.pay(sale.session);
  await platform.hear('checkout.session.completed', sale.session);
  return sale;
}

const statusOf = async (of: StripeShop) => (await platform.purchases(of))[0]?.status;
/** Returns the ledger balances of a creator, in cents. */
async function bookedOf({ account }: StripeShop): Promise<Record<string, number>> {
  const rows = await platform.app.container.sql<{ kind: string; cents: number }[]>`
    select kind, coalesce(sum(amount_cents), 0)::int as cents
    from ledger_account join ledger_entry on account_id = id
    where workspace_id = ${account.live} group by 1`;
  return Object.fromEntries(rows.map(({ kind, cents }) => [kind, cents]));
}

const successOf = (id: string) => `http://marquee.test/thanks?order=1&checkout_id=${id}`;

test('a film is bought on Stripe’s page, and later Stripe events change nothing', async () => {
  const { of, id, session, intent } = await sent();
  const { stripe, comeBack, read, purchases, hear, eventsOf } = platform;
  assert.equal(await comeBack(id), `${stripe.url}/pay/${session}`, 'not paid yet');
  stripe.pay(session, 'declined');
  assert.equal(await comeBack(id), `${stripe.url}/pay/${session}`, 'another card may be tried');
  stripe.pay(session);
  assert.equal(await comeBack(id), successOf(id));
  await hear('payment_intent.succeeded', intent);
  await hear('checkout.session.completed', session);
  assert.equal((await read(of, id)).at('data.status'), 'COMPLETED');
  const [purchase, ...more] = await purchases(of);
  assert.deepEqual(
    [purchase?.kind, purchase?.status, purchase?.amountCents, purchase?.feeCents, more.length],
    ['VIDEO', 'PAID', 1000, 50, 0],
  );
  const { application_fee_amount: fee, transfer_data: transfer } = stripe.object(intent);
  assert.deepEqual([fee, transfer], [50, { destination: of.accountRef }]);
  const told = ['checkout.session.completed', 'checkout.session.created', 'payment.succeeded'];
  assert.deepEqual((await eventsOf(of)).sort(), told);
});

test('a subscription is begun, renewed, confirmed with the bank, paid by another card, and canceled', async () => {
  const { stripe, shop, tier, open, goToStripe, hear, read, run, eventsOf } = platform;
  clock.set('2026-01-31T10:00:00Z');
  const of = await shop();
  const id = await open(of, { tierId: await tier(of) });
  const { session, intent } = await goToStripe(id);
  stripe.pay(session);
  await hear('checkout.session.completed', session);
  const done = await read(of, id);
  assert.equal(done.at('data.status'), 'COMPLETED');
  const path = `/me/subscriptions/${done.string('data.subscriptionId')}`;
  const now = async () => {
    const row = await platform.get(of, path);
    return [row.string('data.status'), row.string('data.currentPeriodEnd').slice(0, 10)];
  };
  const renew = async (at: string) => {
    clock.set(`${at}T10:00:00Z`);
    await run('subscriptions');
    return now();
  };
  assert.deepEqual(await now(), ['ACTIVE', '2026-02-28']);

  assert.deepEqual(await renew('2026-02-28'), ['ACTIVE', '2026-03-31']);
  const charge = stripe.calls.find((call) => call.path === '/v1/payment_intents');
  const method = stripe.object(intent).payment_method;
  assert.deepEqual(
    [charge?.params.off_session, charge?.params.payment_method, charge?.params.application_fee_amount],
    ['true', method, '25'],
  );

  stripe.cardAnswers = 'authentication_required';
  assert.deepEqual(await renew('2026-03-31'), ['PAST_DUE', '2026-03-31']);
  // Member sessions last a day.
  const enter = () => platform.member(of, 'ann@example.com');
  const member = await enter();
  assert.ok((await platform.mails('ann@example.com')).includes('subscription-confirm'));
  const confirming = (await member.send('pay')).location?.split('/').at(-1) ?? '';
  assert.equal((await member.send('pay')).location?.split('/').at(-1), confirming, 'pressed twice');
  stripe.pay(confirming);
  await hear('checkout.session.completed', confirming);
  assert.deepEqual(await now(), ['ACTIVE', '2026-04-30']);

  assert.deepEqual(await renew('2026-04-30'), ['PAST_DUE', '2026-04-30']);
  stripe.cardAnswers = 'ok';
  const kept = (await (await enter()).send('card')).location?.split('/').at(-1) ?? '';
  stripe.pay(kept);
  await hear('checkout.session.completed', kept);
  assert.deepEqual(await now(), ['PAST_DUE', '2026-04-30'], 'it pays for nothing yet');
  assert.equal((await (await enter()).send('use')).status, 303);
  assert.deepEqual(await renew('2026-04-30'), ['ACTIVE', '2026-05-31']);

  await (await enter()).send('cancel');
  assert.deepEqual(await renew('2026-05-31'), ['CANCELED', '2026-05-31']);
  const rows = await platform.purchases(of);
  assert.deepEqual(
    rows.map(({ kind, status, amountCents }) => [kind, status, amountCents]),
    Array.from({ length: 4 }, () => ['SUBSCRIPTION', 'PAID', 500]),
  );
  const told = (await eventsOf(of)).filter((type) => type.startsWith('subscription.'));
  assert.deepEqual(told.map((type) => type.slice('subscription.'.length)).sort(), [
    ...['cancel_scheduled', 'canceled', 'created', 'payment_failed', 'payment_failed'],
    ...['recovered', 'recovered', 'renewed'],
  ]);
});

test('a card given for a trial is stored for the following charges', async () => {
  const { stripe, shop, tier, open, send, hear, read, run, get } = platform;
  const of = await shop();
  const id = await open(of, { tierId: await tier(of, { trialDays: 7 }) });
  const led = await send(id, 'pay', { email: 'dora@example.com' });
  const setup = led.location?.split('/').at(-1) ?? '';
  assert.equal((await read(of, id)).at('data.status'), 'COMPLETED', 'the trial has begun');
  stripe.pay(setup);
  await hear('checkout.session.completed', setup);
  assert.equal(await platform.comeBack(id), successOf(id));
  clock.advance(7 * DAY_MS);
  await run('subscriptions');
  const path = `/me/subscriptions/${(await read(of, id)).string('data.subscriptionId')}`;
  assert.equal((await get(of, path)).at('data.status'), 'ACTIVE');
  const charge = stripe.calls.findLast((call) => call.path === '/v1/payment_intents');
  const method = stripe.object(String(stripe.object(setup).setup_intent)).payment_method;
  assert.equal(charge?.params.payment_method, method);
});

test('a creator without a complete account gets an error message, and Stripe is called again', async () => {
  const { stripe, ask, video, shop } = platform;
  const of = await shop();
  const body = { videoId: await video(of) };
  Object.assign(stripe.object(of.accountRef), { charges_enabled: false });
  assert.match((await ask(of, body)).assertError('CONFLICT').text, /is incomplete/);
  Object.assign(stripe.object(of.accountRef), { charges_enabled: true });
  const enabled = async () =>
    (await platform.get(of, '/monetization/connect-status')).at('data.chargesEnabled');
  assert.equal(await enabled(), false);
  clock.advance(MINUTE_MS);
  stripe.faults = ['refuse', 'refuse'];
  assert.equal(await enabled(), false, 'as Stripe last said');
  assert.equal(await enabled(), true);
  (await ask(of, body)).assertOk(201);
});

test('an outage of Stripe causes a 503 and creates nothing, and the same key creates it later, once', async () => {
  const { stripe, ask, tier, video, shop, eventsOf, app } = platform;
  const of = await shop();
  const bodies = [{ tierId: await tier(of) }, { videoId: await video(of) }];
  for (const body of bodies) {
    const key = { 'idempotency-key': randomUUID() };
    const before = (await eventsOf(of)).length;
    stripe.faults = ['refuse', 'error'];
    (await ask(of, body, key)).assertError('SERVICE_UNAVAILABLE');
    assert.equal((await eventsOf(of)).length, before);
    // State left by a process that dies while it calls the provider.
    await app.container.sql`update idempotency_record set leased_until = ${clock.now()}
      where workspace_id = ${of.account.live} and status is null`;
    const made = (await ask(of, body, key)).assertOk(201);
    if ('videoId' in body) continue;
    // The process died before its response was stored; Stripe is not needed for it.
    const id = made.string('data.id');
    await app.container.sql`update idempotency_record set status = null, body = null, leased_until = null
      where operation_id = (select operation_id from checkout where id = ${id})`;
    stripe.faults = ['refuse', 'error'];
    assert.equal((await ask(of, body, key)).assertOk(201).text, made.text);
  }
  assert.equal((await eventsOf(of)).length, bodies.length);
});

test('an outage of Stripe during the payment causes a 503, and another press is the same charge', async () => {
  const { stripe, open, video, shop, send, goToStripe, comeBack } = platform;
  const of = await shop();
  const id = await open(of, { videoId: await video(of) });
  const { text } = await send(id, 'pay', { email: 'nobody' });
  const token = /name="token" value="([^"]+)"/.exec(text)?.[1] ?? '';
  stripe.faults = ['refuse', 'refuse'];
  assert.equal((await send(id, 'pay', { email: 'ann@example.com' })).status, 503);
  const first = await goToStripe(id, 'ann@example.com', token);
  assert.deepEqual(await goToStripe(id, 'ann@example.com', token), first, 'a second press');
  assert.equal(await comeBack(id), `${stripe.url}/pay/${first.session}`);
  stripe.pay(first.session);
  assert.equal(await comeBack(id), successOf(id));
});

test('a payment reported too early is fetched again, and one that is never reported is found', async () => {
  const { of, session, intent } = await sent();
  const { stripe, hear, run } = platform;
  await hear('checkout.session.completed', session);
  assert.equal(await statusOf(of), 'PENDING', 'it is told, and not so');
  stripe.pay(session);
  stripe.event('payment_intent.succeeded', intent);
  clock.advance(MINUTE_MS);
  await run('Stripe event catch-up');
  await run('payment hints');
  assert.equal(await statusOf(of), 'PAID');
});

test('a dispute reported before its payment marks the purchase as disputed', async () => {
  const { of, session, intent } = await sent();
  const { stripe, hear, eventsOf } = platform;
  stripe.pay(session);
  const dispute = stripe.dispute(intent, 'needs_response');
  await hear('charge.dispute.created', dispute);
  assert.equal(await statusOf(of), 'DISPUTED');
  stripe.dispute(intent, 'won', dispute);
  await hear('charge.dispute.closed', dispute);
  assert.equal(await statusOf(of), 'PAID');
  const told = (await eventsOf(of)).filter((type) => type.startsWith('payment.'));
  assert.deepEqual(told.sort(), ['payment.dispute_closed', 'payment.disputed', 'payment.succeeded']);
});

test('the cost of a lost dispute is recovered from the creator, once; otherwise the platform bears it', async () => {
  const { stripe, hear, app } = platform;
  const lose = async () => {
    const sale = await sold();
    const dispute = stripe.dispute(sale.intent, 'lost');
    stripe.calls = [];
    // The dispute and its charge are read, and the response about the reversal is lost.
    stripe.faults = ['none', 'none', 'lost', 'lost'];
    await hear('charge.dispute.closed', dispute);
    stripe.faults = [];
    clock.advance(2 * MINUTE_MS);
    await platform.run('payment hints');
    await hear('charge.dispute.updated', dispute);
    assert.equal(await statusOf(sale.of), 'REFUNDED');
    return bookedOf(sale.of);
  };
  const reversals = () => stripe.calls.filter(({ path }) => path.endsWith('/reversals'));
  assert.deepEqual(await lose(), { BUYERS: 0, CREATOR: 0, DISPUTED: 0, FEES: 0 });
  const [first, again, ...more] = reversals();
  assert.deepEqual([first?.params.amount, first?.params.refund_application_fee], ['1000', 'true']);
  assert.deepEqual([again?.idempotencyKey, more.length], [first?.idempotencyKey, 0], 'found by its key');
  stripe.cannotReverse = true;
  assert.deepEqual(await lose(), { BUYERS: 0, CREATOR: 950, DISPUTED: 0, FEES: -950 });
  stripe.cannotReverse = false;
  assert.deepEqual(await createLedgerCheck({ ...app.container, clock }).check(), []);
});

test('a refund in Stripe’s dashboard is recorded once, in any order, whether the creator or the platform bears it', async () => {
  const { of, session, intent } = await sent();
  const { stripe, hear, app, eventsOf } = platform;
  stripe.pay(session);
  const first = stripe.refundThere(intent, 400);
  await hear('refund.created', first);
  assert.equal(await statusOf(of), 'PARTIALLY_REFUNDED', 'told before its payment');
  await hear('refund.updated', first);
  await hear('payment_intent.succeeded', intent);
  const borne = stripe.refundThere(intent, 600, true);
  await hear('refund.created', borne);
  assert.equal(await statusOf(of), 'REFUNDED');
  // The money returned to the platform days later: the operator settles it with the buyer.
  Object.assign(stripe.object(borne), { status: 'failed', failure_reason: 'expired_or_canceled_card' });
  await hear('refund.failed', borne);
  assert.equal(await statusOf(of), 'REFUNDED');
  // The creator returned 380 of 950, the platform the rest.
  assert.deepEqual(await bookedOf(of), { BUYERS: 0, CREATOR: 570, FEES: -570 });
  const rows = (await platform.get(of, '/monetization/payments')).list('data').map((row) => {
    const { type, amountCents, status } = Object(row);
    return [type, amountCents, status].join(' ');
  });
  const expected = ['ADJUSTMENT 570', 'CHARGE 1000', 'REFUND -400', 'REFUND -600'];
  assert.deepEqual(
    rows.sort(),
    expected.map((row) => `${row} SUCCEEDED`),
  );
  const told = (await eventsOf(of)).filter((type) => type === 'payment.refunded');
  assert.equal(told.length, 2);
  assert.deepEqual(await createLedgerCheck({ ...app.container, clock }).check(), []);
});

test('an unreported refund at Stripe ends the refunded subscription, regardless of other events in the interim', async () => {
  const { stripe, shop, tier, open, goToStripe, hear, read, run, get } = platform;
  const of = await shop();
  const id = await open(of, { tierId: await tier(of) });
  const { session, intent } = await goToStripe(id);
  stripe.pay(session);
  await hear('checkout.session.completed', session);
  await run('Stripe event catch-up');
  stripe.event('refund.created', stripe.refundThere(intent, 500));
  clock.advance(2 * HOUR_MS);
  await hear('payment_intent.payment_failed', (await sent()).intent);
  await run('Stripe event catch-up');
  await run('payment hints');
  assert.equal(await statusOf(of), 'REFUNDED');
  const subscription = (await read(of, id)).string('data.subscriptionId');
  const { status, cancelReason } = Object((await get(of, `/me/subscriptions/${subscription}`)).at('data'));
  assert.deepEqual([status, cancelReason], ['CANCELED', 'REFUNDED']);
});

test('payouts are synced from Stripe events, from polling, and from operator requests', async () => {
  const { stripe, shop, hear, run, get, app } = platform;
  const of = await shop();
  const { accountRef } = of;
  const shown = async () =>
    (await get(of, '/me/payouts')).list('data').map((row) => {
      const { amountCents, status } = Object(row);
      return `${status} ${amountCents}`;
    });
  const told = stripe.payout(accountRef, 'in_transit', 4200);
  await hear('payout.created', told, accountRef);
  assert.deepEqual(await shown(), ['IN_TRANSIT 4200']);
  Object.assign(stripe.object(told), { status: 'paid' });
  stripe.payout(accountRef, 'failed', 700);
  clock.advance(HOUR_MS);
  await run('provider payouts');
  await run('provider payouts');
  assert.deepEqual((await shown()).sort(), ['FAILED 700', 'PAID 4200']);

  const operator = await platform.operator();
  const start = (order: object = {}) =>
    operator.send('POST', '/monetization/payouts', { body: { workspaceId: of.account.live, ...order } });
  (await start()).assertError('CONFLICT', 'workspaceId');
  stripe.available = 900;
  (await start({ amountCents: 901 })).assertError('BAD_REQUEST', 'amountCents');
  stripe.faults = ['refuse', 'error'];
  (await start()).assertError('SERVICE_UNAVAILABLE');
  assert.equal((await start({ amountCents: 300 })).assertOk(201).at('data.status'), 'PENDING');
  assert.equal((await start()).assertOk(201).at('data.amountCents'), 600);
  assert.equal(stripe.calls.at(-1)?.account, accountRef);
  assert.deepEqual(await createLedgerCheck({ ...app.container, clock }).check(), []);
});

test('a late payment is refunded in full when the spot is taken, and completes the checkout when it is free', async () => {
  const { stripe, shop, tier, open, goToStripe, hear, read, run } = platform;
  // Expire the checkouts that other tests have left open.
  clock.advance(30 * MINUTE_MS);
  await run('checkouts');
  const of = await shop();
  const tierId = await tier(of, { maxMembers: 1 });
  const [late, quick] = [await open(of, { tierId }), await open(of, { tierId })];
  const first = await goToStripe(late);
  // Stripe cannot be called to end the session in time, so it is still open there.
  clock.advance(30 * MINUTE_MS);
  stripe.faults = ['refuse', 'refuse'];
  await run('checkouts');
  stripe.faults = [];
  const second = await goToStripe(quick, 'bob@example.com');
  stripe.pay(second.session);
  await hear('checkout.session.completed', second.session);
  stripe.pay(first.session);
  await hear('checkout.session.completed', first.session);
  clock.advance(2 * MINUTE_MS);
  await run('open payments');
  assert.deepEqual(
    [(await read(of, quick)).at('data.status'), (await read(of, late)).at('data.status')],
    ['COMPLETED', 'OPEN'],
  );
  const rows = await platform.purchases(of);
  assert.deepEqual(rows.map(({ status, refundedCents }) => `${status} ${refundedCents}`).sort(), [
    'PAID 0',
    'REFUNDED 500',
  ]);
  assert.equal((await platform.get(of, `/tiers/${tierId}`)).at('data.memberCount'), 1);

  const free = await open(of, { tierId: await tier(of) });
  const slow = await goToStripe(free);
  clock.advance(30 * MINUTE_MS);
  stripe.pay(slow.session);
  await run('checkouts');
  assert.equal((await read(of, free)).at('data.status'), 'COMPLETED', 'paid before it was called off');
});

test('requests without a Stripe signature are rejected', async () => {
  const { session } = await sent();
  const { stripe, tell, app } = platform;
  const { body, signature } = stripe.event('checkout.session.expired', session);
  assert.equal(await tell({ body: `${body} `, signature }), 400);
  assert.equal(await tell({ body, signature: '' }), 400);
  clock.advance(301_000);
  assert.equal(await tell({ body, signature }), 400);
  assert.equal((await fetch(`${app.url}/webhooks/stripe`)).status, 404);
});
