import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChargeRequest, PaymentProvider } from '../../src/features/payments/index.ts';
import { newId } from '../../src/kernel/ids.ts';

/** One provider, and how what the cases want is asked of it. */
export interface ProviderUnderTest {
  provider(): PaymentProvider;
  /** A charge of 1000 cents that comes about at once, or is declined by the bank. */
  request(what: 'PAYS' | 'DECLINED'): Promise<ChargeRequest>;
}

/** What every provider keeps to (docs/decisions/money.md#providers). */
export function providerCases({ provider, request }: ProviderUnderTest): void {
  const handle = ({ key, workspaceId, accountRef }: ChargeRequest) => ({
    key,
    workspaceId,
    accountRef,
    ref: null,
  });
  const paid = async () => {
    const asked = await request('PAYS');
    const answer = await provider().charge({ ...asked, saveMethod: true });
    assert.equal(answer.status, 'SUCCEEDED');
    return { asked, ref: answer.ref ?? '', answer };
  };

  test('the same key is the same payment, also twice at once', async () => {
    const asked = await request('PAYS');
    const [one, other] = await Promise.all([provider().charge(asked), provider().charge(asked)]);
    const again = await provider().charge(asked);
    assert.deepEqual([one.ref, other.ref], [again.ref, again.ref]);
    assert.equal(again.status, 'SUCCEEDED');
  });

  test('a payment is found by its key, and by its name', async () => {
    const { asked, ref } = await paid();
    const found = await provider().look(handle(asked));
    assert.deepEqual([found?.status, found?.ref], ['SUCCEEDED', ref]);
    const fetched = await provider().fetchPayment({ ref, accountRef: asked.accountRef });
    assert.deepEqual([fetched?.key, fetched?.answer.status], [asked.key, 'SUCCEEDED']);
  });

  test('what it never heard of is nothing', async () => {
    const asked = await request('PAYS');
    assert.equal(await provider().look(handle(asked)), null);
  });

  test('a decline is final, and says why', async () => {
    const asked = await request('DECLINED');
    const answer = await provider().charge(asked);
    assert.ok(answer.status === 'FAILED' && answer.code === 'CARD_DECLINED' && answer.message !== '');
    assert.equal((await provider().look(handle(asked)))?.status, 'FAILED');
  });

  test('what was called off before it was asked for is never charged', async () => {
    const asked = await request('PAYS');
    assert.equal((await provider().cancel(handle(asked))).status, 'FAILED');
    assert.equal((await provider().charge(asked)).status, 'FAILED');
  });

  test('calling off what is paid comes too late', async () => {
    const { asked } = await paid();
    assert.equal((await provider().cancel(handle(asked))).status, 'SUCCEEDED');
  });

  test('a kept card is charged again without its owner', async () => {
    const { asked, answer } = await paid();
    const method = answer.status === 'SUCCEEDED' ? answer.method : null;
    assert.ok(method !== null && /^\d{4}$/.test(method.last4));
    const { saveMethod: _, returnUrl: __, cancelUrl: ___, expiresAt: ____, card: _____, ...rest } = asked;
    const saved = {
      ...rest,
      key: newId('chk'),
      methodRef: method.methodRef,
      customer: { ...asked.customer, ref: method.customerRef },
    };
    const [one, again] = [await provider().chargeSaved(saved), await provider().chargeSaved(saved)];
    assert.deepEqual([one.status, one.ref], ['SUCCEEDED', again.ref]);
    assert.notEqual(one.ref, answer.ref);
  });

  test('refunds: the same key is the same one, and never more than was paid', async () => {
    const { asked, ref } = await paid();
    const back = { key: newId('pay'), ref, amountCents: 600, accountRef: asked.accountRef };
    const [one, again] = [await provider().refund(back), await provider().refund(back)];
    assert.deepEqual([one.status, one.ref], ['SUCCEEDED', again.ref]);
    const fetched = await provider().fetchRefund({ ref: one.ref ?? '', accountRef: asked.accountRef });
    assert.deepEqual([fetched?.key, fetched?.amountCents, fetched?.paymentRef], [back.key, 600, ref]);
    const more = await provider().refund({ ...back, key: newId('pay') });
    assert.ok(more.status === 'FAILED' && more.code === 'REFUND_REFUSED');
    const rest = await provider().refund({ ...back, key: newId('pay'), amountCents: 400 });
    assert.equal(rest.status, 'SUCCEEDED');
  });

  test('an account may be completed and looked at', async () => {
    const asked = await request('PAYS');
    const account = await provider().createAccount({
      workspaceId: asked.workspaceId,
      email: 'ada@example.com',
    });
    const state = await provider().accountState(account);
    assert.equal(typeof state.chargesEnabled, 'boolean');
    const page = 'https://marquee.example.com/dashboard';
    const link = await provider().onboardingLink({ accountRef: account, returnUrl: page, refreshUrl: page });
    assert.ok(URL.canParse(link.url) && URL.canParse((await provider().dashboardLink(account)).url));
  });
}
