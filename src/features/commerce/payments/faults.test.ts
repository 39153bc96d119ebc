import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { buyer, CARDS } from '../../../../test/money/buyer.ts';
import { aCharge, aRenewal, providerCases } from '../../../../test/money/provider-cases.ts';
import { MINUTE_MS } from '../../../kernel/durations.ts';
import { AppError } from '../../../kernel/errors.ts';
import { newId, newUuid } from '../../../kernel/ids.ts';
import { type PaymentProvider, ProviderUnavailableError } from './providers/provider.ts';
import { createPayments } from './service.ts';

const SETTLE_MAIN = join(import.meta.dirname, '../../../../test/money/settle-main.ts');
const clock = new TestClock('2026-03-01T12:00:00Z');
let app: TestApp;
let account: TestAccount;
let key: string;
before(async () => {
  app = await startTestApp({ clock });
  ({ key, account } = await app.createKey({ mode: 'test' }));
});
after(() => app.close());

describe('the sandbox satisfies the provider contract', () => {
  const charge = (card: string) => aCharge(clock, { workspaceId: account.test, card });
  providerCases({
    provider: () => app.container.sandbox,
    request: (card) => Promise.resolve(charge(card === 'PAYS' ? CARDS.pays : CARDS.declined)),
    async renewal(card) {
      const first = charge(card === 'PAYS' ? CARDS.pays : CARDS.declinedLater);
      const paid = await app.container.sandbox.charge({ ...first, saveMethod: true });
      assert(paid.status === 'SUCCEEDED' && paid.method !== null);
      return aRenewal({ ...first, key: newId('chk') }, paid.method.methodRef);
    },
    onThePage: () => assert.fail('the sandbox decides at once'),
  });
});

/** Creates the payments service with a sandbox provider whose given calls are replaced. */
function paymentsWith(broken: Partial<PaymentProvider>) {
  const { container } = app;
  return createPayments({
    ...container,
    providers: { SANDBOX: { ...container.sandbox, ...broken }, STRIPE: null },
    takers: { account: () => Promise.resolve(), card: () => Promise.resolve() },
  });
}

const down = () => Promise.reject(new ProviderUnavailableError('down'));
const isDown = (error: unknown) => error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE';

/** Returns the provider's records of a charge, its ledger entries and its events. */
async function traces({ paymentId, purchaseId }: { paymentId: string; purchaseId: string }) {
  const { db } = app.container;
  const rows = await db
    .selectFrom('payment')
    .innerJoin('sandbox_payment', 'sandbox_payment.key', 'payment.provider_key')
    .select(['sandbox_payment.status', 'payment.status as ours'])
    .where('payment.id', '=', paymentId)
    .execute();
  const booked = await db
    .selectFrom('ledger_transaction')
    .select('kind')
    .where('source', '=', paymentId)
    .execute();
  const events = await db
    .selectFrom('event')
    .select('type')
    .where('workspace_id', '=', account.test)
    .where('body', 'like', `%${purchaseId}%`)
    .execute();
  return {
    theirs: rows.map(({ status }) => status),
    ours: rows.map(({ ours }) => ours),
    booked: booked.map(({ kind }) => kind),
    told: events.map(({ type }) => type).sort(),
  };
}

const CHARGED_ONCE = {
  theirs: ['SUCCEEDED'],
  ours: ['SUCCEEDED'],
  booked: ['CHARGE'],
  told: ['payment.succeeded'],
};

test('an unavailable provider charges nothing, and the reconciler charges later', async () => {
  const { begin, statusOf } = await buyer(app, account.test);
  const begun = await begin(CARDS.pays);
  await assert.rejects(paymentsWith({ charge: down, look: down }).settle(begun.paymentId), isDown);
  assert.equal(await statusOf(begun.purchaseId), 'PENDING');
  clock.advance(2 * MINUTE_MS);
  await runTask(app.container, 'open payments');
  assert.deepEqual(await traces(begun), CHARGED_ONCE);
});

test('a response after the timeout is found, and another try is the same charge', async () => {
  const { begin, statusOf, customer } = await buyer(app, account.test);
  const { payments, events } = app.container;
  const begun = await begin(CARDS.late);
  await assert.rejects(payments.settle(begun.paymentId), isDown);
  const again = await events.transaction((tx, append) =>
    payments.begin(tx, append, {
      workspaceId: account.test,
      customerId: customer.id,
      kind: 'VIDEO',
      purchaseId: begun.purchaseId,
      amountCents: 1000,
      discountCents: 0,
      discountCode: null,
      description: 'A film',
      key: newId('chk'),
      method: null,
      onSession: { card: CARDS.pays, returnUrl: '', cancelUrl: '', saveMethod: false },
    }),
  );
  assert.deepEqual(again, begun);
  clock.advance(2 * MINUTE_MS);
  await runTask(app.container, 'open payments');
  assert.equal(await statusOf(begun.purchaseId), 'PAID');
  assert.deepEqual(await traces(begun), CHARGED_ONCE);
});

test('a payment reported twice before the response, or settled concurrently, is recorded once', async () => {
  const { begin, pay } = await buyer(app, account.test);
  const { settled, ...told } = await pay(CARDS.toldTwice);
  assert.equal(settled.status, 'SUCCEEDED');
  assert.deepEqual(await traces(told), CHARGED_ONCE);
  const begun = await begin(CARDS.pays);
  const answers = await Promise.all([1, 2, 3, 4].map(() => app.container.payments.settle(begun.paymentId)));
  // One call asks the provider, and the others return the state known by then.
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set(['PENDING', 'SUCCEEDED']));
  assert.equal((await app.container.payments.settle(begun.paymentId)).status, 'SUCCEEDED');
  assert.deepEqual(await traces(begun), CHARGED_ONCE);
});

test("a process killed between the provider's success and the commit charges once", async () => {
  const { begin, statusOf } = await buyer(app, account.test);
  const begun = await begin(CARDS.pays);
  const { databaseUrl, container } = app;
  const child = fork(
    SETTLE_MAIN,
    [databaseUrl, container.config.DATA_DIR, begun.paymentId, clock.now().toISOString()],
    {
      execArgv: ['--disable-warning=ExperimentalWarning'],
    },
  );
  const gone = new Promise((resolve) => child.once('exit', resolve));
  const asked = await new Promise((resolve) => child.once('message', resolve));
  assert.equal(asked, 'SUCCEEDED');
  child.kill('SIGKILL');
  await gone;
  assert.equal(await statusOf(begun.purchaseId), 'PENDING');
  assert.deepEqual((await traces(begun)).theirs, ['SUCCEEDED']);
  clock.advance(2 * MINUTE_MS);
  await runTask(app.container, 'open payments');
  assert.equal(await statusOf(begun.purchaseId), 'PAID');
  assert.deepEqual(await traces(begun), CHARGED_ONCE);
});

test('a refund during an outage of the provider is made later, once', async () => {
  const { pay, statusOf } = await buyer(app, account.test);
  const { purchaseId } = await pay(CARDS.pays);
  const broken = paymentsWith({ refund: down });
  const { paymentId } = await app.container.events.transaction((tx) =>
    broken.refund(tx, { purchaseId, amountCents: null, reason: null, requestId: 'while-down' }),
  );
  await assert.rejects(broken.settle(paymentId), isDown);
  const body = { requestId: newUuid(), amountCents: 1 };
  const more = await app.request('POST', `/purchases/${purchaseId}/refund`, { key, body });
  more.assertError('CONFLICT');
  clock.advance(2 * MINUTE_MS);
  await runTask(app.container, 'open payments');
  assert.equal(await statusOf(purchaseId), 'REFUNDED');
});

test('the charge of a buyer who does not return is canceled and emits an event', async () => {
  const { pay, statusOf } = await buyer(app, account.test);
  const { settled, ...begun } = await pay(CARDS.secondFactor);
  assert.equal(settled.status, 'ACTION');
  clock.advance(31 * MINUTE_MS);
  await runTask(app.container, 'open payments');
  assert.equal(await statusOf(begun.purchaseId), 'PENDING');
  const { theirs, ours, told } = await traces(begun);
  assert.deepEqual(
    { theirs, ours, told },
    { theirs: ['CANCELED'], ours: ['CANCELED'], told: ['payment.failed'] },
  );
});

test('a renewal is charged to the saved card and may be declined', async () => {
  for (const [card, status] of [
    [CARDS.pays, 'SUCCEEDED'],
    [CARDS.declinedLater, 'FAILED'],
    [CARDS.secondFactor, 'FAILED'],
  ] as const) {
    const { pay, customer } = await buyer(app, account.test);
    const first = await pay(card);
    if (first.settled.status === 'ACTION') {
      await app.container.sandbox.confirm(new URL(first.settled.url).pathname.split('/').at(-1) ?? '', true);
      await app.container.payments.settle(first.paymentId);
    }
    const renewed = await pay(null);
    assert.equal(renewed.settled.status, status, `${card} of ${customer.id}`);
  }
  const stranger = await buyer(app, account.test);
  const { settled } = await stranger.pay(null);
  assert.ok(settled.status === 'FAILED' && settled.code === 'CARD_MISSING');
});

test('real card numbers are neither accepted nor stored', async () => {
  const { begin } = await buyer(app, account.test);
  await assert.rejects(
    begin('4111 1111 1111 1111'),
    (error) => error instanceof AppError && error.field === 'card',
  );
  const kept = await app.container.db
    .selectFrom('payment')
    .select('id')
    .where('workspace_id', '=', account.test)
    .where((eb) => eb(eb.cast('request', 'text'), 'like', '%4111%'))
    .execute();
  assert.equal(kept.length, 0);
});

test('a charge of 0 is paid immediately without a provider', async () => {
  const { pay, statusOf } = await buyer(app, account.test);
  const { purchaseId, settled } = await pay(CARDS.pays, { amountCents: 0, discountCents: 1000 });
  assert.equal(settled.status, 'SUCCEEDED');
  assert.equal(await statusOf(purchaseId), 'PAID');
});
