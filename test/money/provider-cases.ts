import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  ChargeRequest,
  PaymentProvider,
  PaymentResult,
  SavedChargeRequest,
} from '../../src/features/commerce/payments/providers/provider.ts';
import { type Clock, dateFromMs } from '../../src/kernel/clock.ts';
import { newId } from '../../src/kernel/ids.ts';

/** Response of the bank to a card. */
export type Card = 'PAYS' | 'DECLINED';

/** One provider and its test environment. */
export interface ProviderUnderTest {
  provider(): PaymentProvider;
  /** Creates a charge request of 1000 cents, whose buyer has such a card. */
  request(card: Card): Promise<ChargeRequest>;
  /** Requests a renewal of 1000 cents with a saved card. */
  renewal(card: Card): Promise<SavedChargeRequest>;
  /** Completes the provider's page, to which an ACTION has led. */
  onThePage(ref: string, card: Card): void | Promise<void>;
  /** Returns the reason why the provider cannot run a case, or false. */
  skip?(name: string): string | false;
}

/** A charge of 1000 cents, of which 100 are the platform's. */
export function aCharge(clock: Clock, change: Partial<ChargeRequest> = {}): ChargeRequest {
  return {
    key: newId('chk'),
    workspaceId: newId('wsp'),
    amountCents: 1000,
    currency: 'USD',
    feeCents: 100,
    description: 'A film',
    accountRef: null,
    customer: { id: newId('cus'), email: 'grace@example.com', ref: null },
    saveMethod: false,
    returnUrl: 'https://marquee.example.com/back',
    cancelUrl: 'https://marquee.example.com/',
    expiresAt: dateFromMs(clock.ms() + 1_800_000),
    card: null,
    savedRef: null,
    ...change,
  };
}

/** Converts a charge to a renewal. */
export function aRenewal(asked: ChargeRequest, methodRef: string): SavedChargeRequest {
  const { key, workspaceId, amountCents, currency, feeCents, description, accountRef, customer } = asked;
  return {
    key,
    workspaceId,
    amountCents,
    currency,
    feeCents,
    description,
    accountRef,
    customer,
    methodRef,
  };
}

type Case = (under: ProviderUnderTest) => Promise<void>;

/** Defines the tests of every provider (docs/decisions/money.md#providers). */
export function providerCases(under: ProviderUnderTest): void {
  for (const [name, run] of Object.entries(CASES)) {
    test(name, { skip: under.skip?.(name) ?? false }, () => run(under));
  }
}

const handle = ({ key, workspaceId, accountRef }: ChargeRequest) => ({
  key,
  workspaceId,
  accountRef,
  ref: null,
});

/** Charges, and performs the buyer's part. @returns the outcome. */
async function pay(
  under: ProviderUnderTest,
  asked: ChargeRequest,
  card: Card,
): Promise<PaymentResult | null> {
  const answer = await under.provider().charge(asked);
  if (answer.status !== 'ACTION') return answer;
  await under.onThePage(answer.ref, card);
  return under.provider().look({ ...handle(asked), ref: answer.ref });
}

async function paid(under: ProviderUnderTest) {
  const asked = { ...(await under.request('PAYS')), saveMethod: true };
  const answer = await pay(under, asked, 'PAYS');
  assert(answer?.status === 'SUCCEEDED');
  return { asked, ref: answer.ref, method: answer.method };
}

const CASES: Readonly<Record<string, Case>> = {
  async 'the same key is the same payment, also twice at once'(under) {
    const asked = await under.request('PAYS');
    const provider = under.provider();
    const [one, other] = await Promise.all([provider.charge(asked), provider.charge(asked)]);
    const again = await provider.charge(asked);
    assert.notEqual(again.ref, null);
    assert.deepEqual([one.ref, other.ref], [again.ref, again.ref]);
    assert.equal((await pay(under, asked, 'PAYS'))?.status, 'SUCCEEDED');
  },

  async 'a payment is found by its key, and by its name'(under) {
    const { asked, ref } = await paid(under);
    const found = await under.provider().look(handle(asked));
    assert.deepEqual([found?.status, found?.ref], ['SUCCEEDED', ref]);
    const fetched = await under.provider().fetchPayment({ ref, accountRef: asked.accountRef });
    assert.deepEqual([fetched?.key, fetched?.answer.status], [asked.key, 'SUCCEEDED']);
  },

  async 'what it never heard of is nothing'(under) {
    const provider = under.provider();
    assert.equal(await provider.look(handle(await under.request('PAYS'))), null);
    const object = { ref: 'nothing', accountRef: null };
    assert.equal(await provider.fetchPayment(object), null);
    assert.equal(await provider.fetchRefund(object), null);
    assert.equal(await provider.fetchDispute(object), null);
    assert.equal(await provider.fetchPayout(object), null);
    assert.equal(await provider.fetchMethod(object), null);
  },

  async 'a declined card is not charged; where another can be tried, the page stays open'(under) {
    const asked = await under.request('DECLINED');
    const answer = await pay(under, asked, 'DECLINED');
    assert(answer?.status === 'ACTION' || (answer?.status === 'FAILED' && answer.code === 'CARD_DECLINED'));
    assert.equal((await under.provider().look({ ...handle(asked), ref: answer.ref }))?.status, answer.status);
  },

  async 'what was called off before it was asked for is never charged'(under) {
    const asked = await under.request('PAYS');
    assert.equal((await under.provider().cancel(handle(asked))).status, 'FAILED');
    assert.notEqual((await under.provider().charge(asked)).status, 'SUCCEEDED');
  },

  async 'calling off what is paid comes too late'(under) {
    const { asked } = await paid(under);
    assert.equal((await under.provider().cancel(handle(asked))).status, 'SUCCEEDED');
  },

  async 'a kept card is charged again without its owner'(under) {
    const { asked, ref, method } = await paid(under);
    assert(method !== null && /^\d{4}$/.test(method.last4));
    const customer = { ...asked.customer, ref: method.customerRef };
    const again = aRenewal({ ...asked, key: newId('chk'), customer }, method.methodRef);
    const one = await under.provider().chargeSaved(again);
    const other = await under.provider().chargeSaved(again);
    assert.deepEqual([one.status, one.ref], ['SUCCEEDED', other.ref]);
    assert.notEqual(one.ref, ref);
  },

  async 'a declined renewal is final, and says why'(under) {
    const asked = await under.renewal('DECLINED');
    const answer = await under.provider().chargeSaved(asked);
    assert(answer.status === 'FAILED' && answer.code === 'CARD_DECLINED' && answer.message !== '');
    const again = await under.provider().chargeSaved(asked);
    assert.deepEqual(again, answer);
  },

  async 'a card is kept without a charge, as its customer’s'(under) {
    const { key, workspaceId, accountRef, customer, returnUrl, cancelUrl, card } =
      await under.request('PAYS');
    const asked = { key, workspaceId, accountRef, customer, returnUrl, cancelUrl, card };
    const answer = await under.provider().saveMethod({ ...asked, usedFor: 'MEMBER_PAGE' });
    if (answer.status === 'ACTION') await under.onThePage(answer.ref, 'PAYS');
    const kept = await under.provider().fetchMethod({ ref: answer.ref ?? '', accountRef });
    assert.equal(kept?.customerId, customer.id);
    assert.match(kept.method.last4, /^\d{4}$/);
  },

  async 'refunds: the same key is the same one, and never more than was paid'(under) {
    const { asked, ref } = await paid(under);
    const provider = under.provider();
    const back = { key: newId('pay'), ref, amountCents: 600, accountRef: asked.accountRef };
    const [one, again] = [await provider.refund(back), await provider.refund(back)];
    assert.deepEqual([one.status, one.ref], ['SUCCEEDED', again.ref]);
    const fetched = await provider.fetchRefund({ ref: one.ref ?? '', accountRef: asked.accountRef });
    assert.deepEqual([fetched?.key, fetched?.amountCents, fetched?.paymentRef], [back.key, 600, ref]);
    const more = await provider.refund({ ...back, key: newId('pay') });
    assert(more.status === 'FAILED' && more.code === 'REFUND_REFUSED');
    const rest = await provider.refund({ ...back, key: newId('pay'), amountCents: 400 });
    assert.equal(rest.status, 'SUCCEEDED');
  },

  async 'an account may be completed and looked at'(under) {
    const provider = under.provider();
    const { workspaceId } = await under.request('PAYS');
    const account = await provider.createAccount({ workspaceId, email: 'ada@example.com' });
    const state = await provider.accountState(account);
    assert.equal(typeof state.chargesEnabled, 'boolean');
    const page = 'https://marquee.example.com/dashboard';
    const link = await provider.onboardingLink({ accountRef: account, returnUrl: page, refreshUrl: page });
    assert(URL.canParse(link.url) && URL.canParse((await provider.dashboardLink(account)).url));
  },
};
