import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { TestClock } from '../../../../../../test/harness/clock.ts';
import { freePort } from '../../../../../../test/harness/platform.ts';
import { waitFor } from '../../../../../../test/harness/wait-for.ts';
import { aCharge, aRenewal, providerCases } from '../../../../../../test/money/provider-cases.ts';
import { dateFromMs } from '../../../../../kernel/clock.ts';
import type { PaymentProvider } from '../provider.ts';
import { createStripe } from './stripe.ts';

/**
 * Stripe's own mock server: it validates every parameter against Stripe's OpenAPI description, and returns
 * samples.
 */
const PROGRAM = join(import.meta.dirname, '../../../../../../.cache/peers/stripe-mock');

const skip = isThere()
  ? false
  : 'no stripe-mock; with Go installed type: node scripts/test-tools.mjs stripe-mock';

function isThere(): boolean {
  try {
    accessSync(PROGRAM, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

let stripe: PaymentProvider;
let end = () => {};

before(async () => {
  if (skip !== false) return;
  const port = await freePort();
  const mock = spawn(PROGRAM, ['-http-port', String(port)], { stdio: 'ignore' });
  end = () => mock.kill('SIGKILL');
  process.once('exit', end);
  const apiUrl = `http://127.0.0.1:${port}`;
  const isUp = () =>
    fetch(apiUrl).then(
      () => true,
      () => false,
    );
  await waitFor(isUp, { timeoutMs: 20_000, message: 'stripe-mock' });
  stripe = createStripe({ secretKey: 'sk_test_123', webhookSecrets: [], apiUrl, clock: new TestClock() });
});
after(() => end());

/** Cases that the stateless mock can answer. */
const CAN = [
  'what was called off before it was asked for is never charged',
  'an account may be completed and looked at',
];

describe('Stripe satisfies the provider contract', () => {
  const clock = new TestClock();
  providerCases({
    provider: () => stripe,
    request: () => Promise.resolve(aCharge(clock, { accountRef: 'acct_1' })),
    renewal: () => Promise.resolve(aRenewal(aCharge(clock), 'pm_card_visa')),
    onThePage: () => {},
    skip: (name) => skip || (CAN.includes(name) ? false : 'stripe-mock remembers nothing'),
  });
});

const customer = { id: 'cus_ours', email: 'ada@example.com', ref: null };
const money = { amountCents: 1500, currency: 'USD' as const, feeCents: 75, accountRef: 'acct_1' };
const pages = { returnUrl: 'https://platform.example/back', cancelUrl: 'https://platform.example/no' };
const handle = { key: 'pay_1', workspaceId: 'wsp_1', ref: null, accountRef: null };

test('Stripe accepts the requests of a payment', { skip }, async () => {
  const asked = { key: 'pay_1', workspaceId: 'wsp_1', description: 'A video', customer, ...money };
  const expiresAt = dateFromMs(Date.parse('2026-01-01T01:00:00Z'));
  const paid = await stripe.charge({
    ...asked,
    ...pages,
    saveMethod: true,
    expiresAt,
    card: null,
    savedRef: null,
  });
  assert.notEqual(paid.status, 'FAILED', 'a refused parameter would be one');
  const renewed = await stripe.chargeSaved({ ...asked, key: 'pay_2', methodRef: 'pm_card_visa' });
  assert(renewed.status !== 'FAILED' || renewed.code !== 'PROVIDER_ERROR');
  const kept = {
    ...{ key: 'save_1', workspaceId: 'wsp_1', accountRef: null, customer, ...pages, card: null },
    usedFor: 'MEMBER_PAGE' as const,
  };
  assert.notEqual((await stripe.saveMethod(kept)).status, 'FAILED');
  const refund = { key: 'ref_1', ref: 'pi_1', amountCents: 500, accountRef: 'acct_1' };
  assert.notEqual((await stripe.refund(refund)).status, 'FAILED');
  await stripe.recover({ ...refund, key: 'recover:1' });
  await stripe.look(handle);
  await stripe.cancel({ ...handle, ref: 'cs_1' });
});

test('Stripe accepts the requests of a customer deletion', { skip }, async () => {
  await stripe.forgetCustomer({ id: 'cus_ours', ref: 'cus_1' });
});

test('Stripe accepts the requests of all fetches', { skip }, async () => {
  const of = (ref: string) => ({ ref, accountRef: 'acct_1' });
  assert.notEqual(await stripe.fetchPayment(of('pi_1')), null);
  assert.notEqual(await stripe.fetchPayment(of('cs_1')), null);
  await stripe.fetchRefund(of('re_1'));
  await stripe.fetchDispute(of('dp_1'));
  assert.equal((await stripe.fetchPayout(of('po_1')))?.status, 'IN_TRANSIT');
  await stripe.fetchMethod(of('cs_1'));
  await stripe.payoutsSince('acct_1', dateFromMs(0));
  await stripe.payOut({ key: 'payout:1', accountRef: 'acct_1', amountCents: null });
});
