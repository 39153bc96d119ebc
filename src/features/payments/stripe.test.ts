import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { TestClock } from '../../../test/harness/clock.ts';
import { type StripeServer, startStripeServer } from '../../../test/harness/stripe-server.ts';
import { newId } from '../../kernel/ids.ts';

const clock = new TestClock('2026-03-01T12:00:00Z');
let stripe: StripeServer;
let app: TestApp;

before(async () => {
  stripe = await startStripeServer(() => clock.ms());
  const env = {
    LIVEMODE: 'true',
    PLATFORM_FEE_PERCENT: '5',
    STRIPE_SECRET_KEY: 'sk_test_123',
    STRIPE_WEBHOOK_SECRET: stripe.webhookSecret,
    STRIPE_API_URL: stripe.url,
  };
  app = await startTestApp({ clock, env });
});
after(async () => {
  await app.close();
  await stripe.close();
});

/** A buyer who has been sent to Stripe's page to pay for a film. */
async function sent() {
  const { payments, events, db } = app.container;
  const { live: workspaceId } = await app.createAccount();
  await db
    .insertInto('connect_account')
    .values({
      workspace_id: workspaceId,
      provider: 'STRIPE',
      provider_ref: `acct_${workspaceId}`,
      charges_enabled: true,
      payouts_enabled: true,
      details_submitted: true,
      checked_at: clock.now(),
      created_at: clock.now(),
    })
    .execute();
  const { purchaseId, paymentId } = await events.transaction(async (tx, append) => {
    const customer = await payments.customerFor(tx, workspaceId, { email: 'ada@example.com', name: null });
    return payments.begin(tx, append, {
      workspaceId,
      customerId: customer.id,
      kind: 'VIDEO',
      videoId: newId('vid'),
      amountCents: 1000,
      discountCents: 0,
      discountCode: null,
      description: 'A film',
      key: newId('chk'),
      onSession: {
        card: null,
        returnUrl: 'http://marquee.test/back',
        cancelUrl: 'http://marquee.test/',
        saveMethod: false,
      },
    });
  });
  const settled = await payments.settle(paymentId);
  assert(settled.status === 'ACTION');
  const session = settled.url.split('/').at(-1) ?? '';
  const intent = String(stripe.object(session).payment_intent);
  const eventTypes = async () => {
    const rows = await db
      .selectFrom('event')
      .select('type')
      .where('workspace_id', '=', workspaceId)
      .execute();
    return rows.map(({ type }) => type).sort();
  };
  const purchase = () => payments.purchaseOf(db, purchaseId);
  return { paymentId, session, intent, purchase, eventTypes };
}

async function tell({ body, signature }: { body: string; signature: string }): Promise<number> {
  const answer = await fetch(`${app.url}/webhooks/stripe`, {
    method: 'POST',
    headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature },
    body,
  });
  const text = await answer.text();
  if (answer.status === 400) assert.match(text, /"field":"Stripe-Signature"/);
  return answer.status;
}

test('what Stripe tells is asked for afresh, and twice changes nothing', async () => {
  const { session, intent, purchase, eventTypes } = await sent();
  const { hints } = app.container.payments;
  const early = stripe.event('checkout.session.completed', session);
  assert.equal(await tell(early), 200);
  await hints.run();
  assert.equal((await purchase()).status, 'PENDING', 'it is told, and not so');
  stripe.pay(session);
  for (const event of [
    stripe.event('payment_intent.succeeded', intent),
    stripe.event('checkout.session.completed', session),
  ]) {
    assert.equal(await tell(event), 200);
    assert.equal(await tell(event), 200);
    await hints.run();
  }
  const { status, fee_cents: fee } = await purchase();
  assert.deepEqual([status, fee], ['PAID', 50]);
  assert.deepEqual(await eventTypes(), ['payment.succeeded']);
});

test('what nobody told is found', async () => {
  const { session, intent, purchase } = await sent();
  stripe.pay(session);
  stripe.event('payment_intent.succeeded', intent);
  const { hints } = app.container.payments;
  await hints.catchUp();
  await hints.run();
  assert.equal((await purchase()).status, 'PAID');
});

test('a dispute that is told before its payment', async () => {
  const { session, intent, purchase, eventTypes } = await sent();
  const { hints } = app.container.payments;
  stripe.pay(session);
  const dispute = stripe.dispute(intent, 'needs_response');
  assert.equal(await tell(stripe.event('charge.dispute.created', dispute)), 200);
  await hints.run();
  assert.equal((await purchase()).status, 'DISPUTED');
  stripe.dispute(intent, 'won', dispute);
  const closed = stripe.event('charge.dispute.closed', dispute);
  assert.equal(await tell(closed), 200);
  await hints.run();
  assert.equal((await purchase()).status, 'PAID');
  assert.deepEqual(await eventTypes(), ['payment.dispute_closed', 'payment.disputed', 'payment.succeeded']);
});

test('what Stripe has not signed is refused', async () => {
  const { session } = await sent();
  const { body, signature } = stripe.event('checkout.session.expired', session);
  assert.equal(await tell({ body: `${body} `, signature }), 400);
  assert.equal(await tell({ body, signature: '' }), 400);
  clock.advance(301_000);
  assert.equal(await tell({ body, signature }), 400);
  const page = await fetch(`${app.url}/webhooks/stripe`);
  assert.equal(page.status, 404);
});
