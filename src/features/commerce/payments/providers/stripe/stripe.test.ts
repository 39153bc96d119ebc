import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { TestClock } from '../../../../../../test/harness/clock.ts';
import { type StripeServer, startStripeServer } from '../../../../../../test/harness/stripe-server.ts';
import { aCharge, aRenewal, providerCases } from '../../../../../../test/money/provider-cases.ts';
import { type ChargeRequest, type PaymentProvider, ProviderUnavailableError } from '../provider.ts';
import { createStripe } from './stripe.ts';

let clock: TestClock;
let server: StripeServer;
let stripe: PaymentProvider;
let number = 0;

before(async () => {
  clock = new TestClock();
  server = await startStripeServer(() => clock.ms());
  stripe = createStripe(settings());
});
after(() => server.close());
beforeEach(() => {
  number += 1;
  server.calls = [];
  server.faults = [];
  server.cardAnswers = 'ok';
});

function settings() {
  const webhookSecrets = ['whsec_of_another_endpoint', server.webhookSecret];
  return { secretKey: 'sk_test_123', webhookSecrets, apiUrl: server.url, clock };
}

function charge(change: Partial<ChargeRequest> = {}): ChargeRequest {
  return aCharge(clock, {
    key: `pay_${number}`,
    amountCents: 1500,
    feeCents: 75,
    accountRef: 'acct_creator',
    customer: { id: `cus_${number}`, email: 'ada@example.com', ref: null },
    saveMethod: true,
    ...change,
  });
}

const saved = () => aRenewal(charge(), 'pm_kept');

async function session(request = charge()): Promise<{ ref: string; intent: string }> {
  const answer = await stripe.charge(request);
  assert(answer.status === 'ACTION');
  return { ref: answer.ref, intent: String(server.object(answer.ref).payment_intent) };
}

function handle(ref: string | null) {
  return { key: `pay_${number}`, workspaceId: 'wsp_1', ref, accountRef: 'acct_creator' };
}

describe('Stripe satisfies the provider contract', () => {
  providerCases({
    provider: () => stripe,
    request: () => Promise.resolve(aCharge(clock, { accountRef: 'acct_creator' })),
    renewal(card) {
      server.cardAnswers = card === 'PAYS' ? 'ok' : 'card_declined';
      return Promise.resolve(aRenewal(aCharge(clock, { accountRef: 'acct_creator' }), 'pm_kept'));
    },
    onThePage: (ref, card) => server.pay(ref, card === 'PAYS' ? 'paid' : 'declined'),
  });
});

test('a buyer is redirected to a session, whose money goes to the creator less the fee', async () => {
  const { ref, intent } = await session();
  const call = server.calls.find(({ path }) => path === '/v1/checkout/sessions');
  assert(call !== undefined);
  assert.equal(call.idempotencyKey, `pay_${number}`);
  const expiry = Math.floor((clock.ms() + 2_100_000) / 1000);
  assert.equal(call.params.expires_at, String(expiry), 'a little later than our own end of it');
  const { application_fee_amount: fee, amount, transfer_data: transfer } = server.object(intent);
  assert.deepEqual([fee, amount, transfer], [75, 1500, { destination: 'acct_creator' }]);
  assert.deepEqual(await stripe.look(handle(ref)), {
    status: 'ACTION',
    ref,
    url: `${server.url}/pay/${ref}`,
  });
  server.pay(ref);
  assert.deepEqual(await stripe.look(handle(ref)), {
    status: 'SUCCEEDED',
    ref: intent,
    method: {
      customerRef: String(server.object(intent).customer),
      methodRef: String(server.object(intent).payment_method),
      brand: 'visa',
      last4: '4242',
      expMonth: 12,
      expYear: 2030,
    },
  });
});

test('a lost response is requested again: one session, one customer', async () => {
  server.faults = ['lost', 'lost'];
  await assert.rejects(stripe.charge(charge()), ProviderUnavailableError);
  const { ref } = await session();
  assert.equal((await session()).ref, ref);
  const customers = new Set(
    server.calls.filter(({ path }) => path === '/v1/customers').map((call) => call.idempotencyKey),
  );
  assert.deepEqual([...customers], [`customer:cus_${number}`]);
});

test('a declined card is not final while the session is open', async () => {
  const { ref, intent } = await session();
  server.pay(ref, 'declined');
  const fetched = await stripe.fetchPayment({ ref: intent, accountRef: null });
  assert.equal(fetched?.answer.status, 'ACTION');
  assert.equal(fetched.key, `pay_${number}`);
  server.pay(ref, 'expired');
  const ended = await stripe.fetchPayment({ ref, accountRef: null });
  assert(ended?.answer.status === 'FAILED');
  assert.equal(ended.answer.code, 'EXPIRED');
});

test('a session that is canceled cannot be paid', async () => {
  const { ref } = await session();
  const answer = await stripe.cancel(handle(ref));
  assert.deepEqual([answer.status, server.object(ref).status], ['FAILED', 'expired']);
});

test('each decline has a message', async () => {
  const words = {
    card_declined: 'CARD_DECLINED',
    insufficient_funds: 'INSUFFICIENT_FUNDS',
    expired_card: 'CARD_EXPIRED',
    authentication_required: 'AUTHENTICATION_REQUIRED',
  } as const;
  for (const [given, expected] of Object.entries(words)) {
    number += 1;
    const known = Object.keys(words).find((word): word is keyof typeof words => word === given);
    assert(known !== undefined);
    server.cardAnswers = known;
    const answer = await stripe.chargeSaved(saved());
    assert(answer.status === 'FAILED');
    assert.equal(answer.code, expected);
    assert.match(answer.ref ?? '', /^pi_/);
  }
});

test('a provider error, a connection failure or a timeout leaves the outcome of the payment unknown', async () => {
  server.faults = ['error', 'error', 'error', 'error'];
  await assert.rejects(stripe.chargeSaved(saved()), ProviderUnavailableError);
  const hasty = createStripe({ ...settings(), timeoutMs: 100 });
  server.faults = ['late', 'late'];
  const asked = { ...saved(), customer: { ...charge().customer, ref: 'cus_known' } };
  await assert.rejects(hasty.chargeSaved(asked), ProviderUnavailableError);
  assert.equal((await stripe.look(handle(null)))?.status, 'SUCCEEDED', 'it was charged all the same');
  server.faults = ['refuse', 'refuse'];
  await assert.rejects(stripe.look(handle('pi_any')), ProviderUnavailableError);
});

test("a refund reverses the creator's transfer, and the fee where there was one", async () => {
  const { ref, intent } = await session();
  server.pay(ref);
  const refund = { key: `ref_${number}`, ref: intent, amountCents: 500, accountRef: 'acct_creator' };
  const answer = await stripe.refund(refund);
  assert.equal(answer.status, 'SUCCEEDED');
  const call = server.calls.find(({ path }) => path === '/v1/refunds');
  assert.deepEqual([call?.params.reverse_transfer, call?.params.refund_application_fee], ['true', 'true']);
});

test('a refund of a charge without a fee returns no fee', async () => {
  const { ref, intent } = await session(charge({ feeCents: 0, accountRef: null }));
  server.pay(ref);
  const refund = { key: `ref_${number}`, ref: intent, amountCents: 1500, accountRef: null };
  assert.equal((await stripe.refund(refund)).status, 'SUCCEEDED');
});

test('disputes are open, won or lost; an inquiry moves nothing', async () => {
  const { ref, intent } = await session();
  server.pay(ref);
  const dispute = server.dispute(intent, 'warning_needs_response');
  const seen = async () => (await stripe.fetchDispute({ ref: dispute, accountRef: null }))?.status;
  assert.equal(await seen(), undefined);
  for (const [status, expected] of [
    ['needs_response', 'OPEN'],
    ['under_review', 'OPEN'],
    ['won', 'WON'],
    ['lost', 'LOST'],
  ] as const) {
    server.dispute(intent, status, dispute);
    assert.equal(await seen(), expected);
  }
});

const NOTHING = { chargesEnabled: false, payoutsEnabled: false, detailsSubmitted: false };

test('a creator gets one account, whose state is fetched again', async () => {
  const account = await stripe.createAccount({ workspaceId: `wsp_${number}`, email: 'ada@example.com' });
  assert.equal(
    await stripe.createAccount({ workspaceId: `wsp_${number}`, email: 'ada@example.com' }),
    account,
  );
  assert.deepEqual(await stripe.accountState(account), {
    ...NOTHING,
    requirementsDue: ['external_account'],
    country: 'US',
  });
  assert.deepEqual(await stripe.accountState('acct_closed'), {
    ...NOTHING,
    requirementsDue: [],
    country: null,
  });
  const payout = server.payout(account, 'in_transit', 4200);
  const fetched = await stripe.fetchPayout({ ref: payout, accountRef: account });
  assert.deepEqual([fetched?.status, fetched?.amountCents], ['IN_TRANSIT', 4200]);
  assert.equal(server.calls.at(-1)?.account, account, 'asked in the name of the account');
});

test('a webhook is verified and serves only as a hint', async () => {
  const { ref, intent } = await session();
  server.pay(ref);
  const { body, signature } = server.event('payment_intent.succeeded', intent, 'acct_creator');
  const told = (text: string, sent: string) =>
    stripe.readWebhook(Buffer.from(text), { 'stripe-signature': sent });
  const { id } = JSON.parse(body);
  assert.deepEqual(await told(body, signature), {
    id,
    kind: 'PAYMENT',
    objectRef: intent,
    accountRef: 'acct_creator',
  });
  assert.equal(await told(body.replace('succeeded', 'canceled'), signature), null);
  assert.equal(await told(body, signature.replace(/v1=./, 'v1=x')), null);
  assert.equal(await told(body, ''), null);
  assert.equal(await stripe.readWebhook(Buffer.from(body), {}), null);
  const other = server.event('customer.created', String(server.object(intent).customer));
  assert.equal(await told(other.body, other.signature), 'OTHER');
  clock.advance(301_000);
  assert.equal(await told(body, signature), null, 'too old: it may be a replay');
});

test('deleting a customer deletes each of its Stripe objects and can be repeated', async () => {
  await stripe.charge(charge());
  const mine = { id: `cus_${number}`, ref: null };
  const found = () => server.calls.filter(({ method }) => method === 'DELETE').length;
  await stripe.forgetCustomer(mine);
  assert.equal(found(), 1);
  await stripe.forgetCustomer(mine);
  assert.equal(found(), 1);
  await stripe.forgetCustomer({ ...mine, ref: 'cus_gone' });
});
