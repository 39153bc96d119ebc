import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { buyer, CARDS } from '../../../../test/money/buyer.ts';
import { newId, newUuid } from '../../../kernel/ids.ts';

let app: TestApp;
let account: TestAccount;
let key: string;
before(async () => {
  app = await startTestApp({ env: { PLATFORM_FEE_PERCENT: '10' } });
  ({ key, account } = await app.createKey({ mode: 'test' }));
});
after(() => app.close());

const get = async (path: string) => (await app.request('GET', path, { key })).assertOk(200);
const refund = (id: string, body: object) =>
  app.request('POST', `/purchases/${id}/refund`, { key, body: { requestId: newUuid(), ...body } });

async function eventTypes(purchaseId: string): Promise<string[]> {
  const { container } = app;
  const rows = await container.db
    .selectFrom('event')
    .select('body')
    .where('workspace_id', '=', account.test)
    .execute();
  const events = rows
    .map(({ body }): { type: string; data: { purchaseId?: string; sequence: number } } => JSON.parse(body))
    .filter(({ data }) => data.purchaseId === purchaseId)
    .sort((a, b) => a.data.sequence - b.data.sequence);
  assert.deepEqual(
    events.map(({ data }) => data.sequence),
    events.map((_, index) => index + 1),
  );
  return events.map(({ type }) => type);
}

test('a purchase is listed with its fee, and filtered', async () => {
  const { pay, email } = await buyer(app, account.test);
  const videoId = (await app.request('POST', '/videos', { key, body: { title: 'A film' } })).string(
    'data.id',
  );
  const { purchaseId, paymentId } = await pay(CARDS.pays, { videoId });
  const listed = await get(`/purchases?videoId=${videoId}&status=PAID,REFUNDED&kind=VIDEO`);
  const [row] = listed.list('data');
  const { paidAt, createdAt, buyerId, ...rest } = Object(row);
  assert.deepEqual(rest, {
    id: purchaseId,
    kind: 'VIDEO',
    videoId,
    bookingId: null,
    subscriptionId: null,
    buyerEmail: email,
    amountCents: 1000,
    discountCents: 0,
    feeCents: 100,
    netCents: 900,
    refundedCents: 0,
    currency: 'USD',
    status: 'PAID',
    discountCode: null,
    paymentId,
    mode: 'test',
  });
  assert.ok(paidAt >= createdAt && buyerId.startsWith('cus_'));
  const ofVideo = await get(`/videos/${videoId}/purchases?from=${createdAt}`);
  assert.equal(ofVideo.string('data.0.id'), purchaseId);
  assert.equal((await get(`/videos/${videoId}/purchases?to=${createdAt}`)).list('data').length, 0);
  assert.equal((await get(`/purchases?videoId=${videoId}&kind=BOOKING`)).list('data').length, 0);
  assert.equal((await get(`/purchases?subscriptionId=${newId('sub')}`)).list('data').length, 0);
  (await app.request('GET', '/purchases?status=SOLD', { key })).assertError('BAD_REQUEST', 'status');
  (await app.request('GET', '/purchases?from=soon', { key })).assertError('BAD_REQUEST', 'from');
  (await app.request('GET', `/videos/${newId('vid')}/purchases`, { key })).assertError('NOT_FOUND');
});

test("the account's own purchases have no fee, and unpaid ones are left out", async () => {
  const seller = await app.createAccount();
  const { pay } = await buyer(app, seller.test, account.email);
  const { purchaseId } = await pay(CARDS.pays);
  await pay(CARDS.declined);
  const elsewhere = await buyer(app, seller.live, account.email);
  await elsewhere.pay(CARDS.pays);
  const { key: reader } = await app.createKey({ account, mode: 'test', scope: 'READ_ONLY' });
  const own = (await app.request('GET', '/me/purchases', { key: reader })).assertOk(200);
  assert.equal(own.list('data').length, 1);
  assert.equal(own.string('data.0.id'), purchaseId);
  assert.equal(own.string('data.0.seller.username'), seller.id);
  assert.ok(!/feeCents|netCents|buyer/.test(own.text));
});

test('partial refunds return the fee in proportion and are limited to the paid amount', async () => {
  const { pay, statusOf, email } = await buyer(app, account.test);
  const { purchaseId } = await pay(CARDS.pays, { amountCents: 999 });
  const part = (await refund(purchaseId, { amountCents: 333, reason: 'The sound' })).assertOk(201);
  assert.equal(part.at('data.amountCents'), -333);
  assert.equal(part.string('data.status'), 'SUCCEEDED');
  assert.equal(await statusOf(purchaseId), 'PARTIALLY_REFUNDED');
  (await refund(purchaseId, { amountCents: 667 })).assertError('CONFLICT', 'amountCents');
  (await refund(purchaseId, { amountCents: 0 })).assertError('BAD_REQUEST', 'amountCents');
  (await refund(purchaseId, { requestId: 'short' })).assertError('BAD_REQUEST', 'requestId');
  (await refund(purchaseId, {})).assertOk(201);
  (await refund(purchaseId, {})).assertError('CONFLICT');
  const { fee_cents: fee, fee_refunded_cents: returned } = await app.container.payments.purchaseOf(
    app.container.db,
    purchaseId,
  );
  assert.deepEqual([fee, returned], [99, 99]);
  assert.equal(await statusOf(purchaseId), 'REFUNDED');
  assert.deepEqual(await eventTypes(purchaseId), [
    'payment.succeeded',
    'payment.refunded',
    'payment.refunded',
  ]);
  const mails = (await app.container.mailbox.list()).filter(({ to }) => to === email);
  assert.deepEqual(mails.map(({ subject }) => subject).sort(), [
    `${account.id} has refunded you $3.33`,
    `${account.id} has refunded you $6.66`,
  ]);
});

test('the same requestId is the same refund, even in concurrent requests', async () => {
  const { pay, statusOf } = await buyer(app, account.test);
  const { purchaseId } = await pay(CARDS.pays);
  const body = { amountCents: 400, requestId: newUuid() };
  const answers = await Promise.all([refund(purchaseId, body), refund(purchaseId, body)]);
  const [first, second] = answers.map((answer) => answer.assertOk(201).string('data.id'));
  assert.equal(first, second);
  (await refund(purchaseId, { ...body, amountCents: 500 })).assertError('CONFLICT', 'requestId');
  assert.equal(await statusOf(purchaseId), 'PARTIALLY_REFUNDED');
  assert.equal((await get(`/monetization/payments?purchaseId=${purchaseId}`)).list('data').length, 2);
});

test('twenty concurrent refunds return the paid amount and no more', async () => {
  const { pay, statusOf } = await buyer(app, account.test);
  const { purchaseId } = await pay(CARDS.pays);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => refund(purchaseId, { amountCents: 99 })),
  );
  const made = answers.filter(({ status }) => status === 201);
  assert.equal(made.length, 10);
  for (const answer of answers) if (answer.status !== 201) answer.assertError('CONFLICT', 'amountCents');
  assert.equal(await statusOf(purchaseId), 'PARTIALLY_REFUNDED');
  const purchase = await app.container.payments.purchaseOf(app.container.db, purchaseId);
  assert.deepEqual([purchase.refunded_cents, purchase.fee_refunded_cents], [990, 99]);
});

test('a dispute suspends a purchase until it is decided', async () => {
  const { pay, statusOf } = await buyer(app, account.test);
  for (const [outcome, status] of [
    ['WON', 'PAID'],
    ['LOST', 'REFUNDED'],
  ] as const) {
    const { purchaseId, paymentId } = await pay(CARDS.disputed);
    assert.equal(await statusOf(purchaseId), 'PAID');
    await runTask(app.container, 'payment hints');
    assert.equal(await statusOf(purchaseId), 'DISPUTED');
    (await refund(purchaseId, {})).assertError('CONFLICT');
    const [dispute] = (await get(`/monetization/payments?purchaseId=${purchaseId}&type=DISPUTE`)).list(
      'data',
    );
    assert.equal(Object(dispute).amountCents, -1000);
    const charge = await app.container.db
      .selectFrom('payment')
      .select('provider_ref')
      .where('id', '=', paymentId)
      .executeTakeFirstOrThrow();
    await app.container.sandbox.decide(charge.provider_ref ?? '', outcome);
    await runTask(app.container, 'payment hints');
    await runTask(app.container, 'payment hints');
    assert.equal(await statusOf(purchaseId), status);
    assert.deepEqual(await eventTypes(purchaseId), [
      'payment.succeeded',
      'payment.disputed',
      'payment.dispute_closed',
    ]);
  }
  const told = (await app.container.mailbox.list()).filter(({ kind }) => kind === 'dispute');
  assert.deepEqual(new Set(told.map(({ to }) => to)), new Set([account.email]));
  assert.equal(told.length, 2);
});

test('the second factor has a page of its own, which redirects back', async () => {
  const { pay, statusOf } = await buyer(app, account.test);
  for (const [outcome, settled] of [
    ['complete', 'SUCCEEDED'],
    ['fail', 'FAILED'],
  ]) {
    const { purchaseId, paymentId, settled: asked } = await pay(CARDS.secondFactor);
    assert.equal(asked.status, 'ACTION');
    const address = 'url' in asked ? new URL(asked.url).pathname : '';
    const page = await request(`${app.url}${address}`);
    assert.equal(page.statusCode, 200);
    assert.match(await page.body.text(), /\$10\.00/);
    assert.match(String(page.headers['content-security-policy']), /frame-ancestors 'none'/);
    const confirmed = await request(`${app.url}${address}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `outcome=${outcome}`,
    });
    assert.equal(confirmed.statusCode, 200);
    assert.match(await confirmed.body.text(), /content="0; url=http:\/\/marquee\.test\/back"/);
    assert.equal((await app.container.payments.settle(paymentId)).status, settled);
    assert.equal(await statusOf(purchaseId), outcome === 'complete' ? 'PAID' : 'PENDING');
    assert.match(await (await request(`${app.url}${address}`)).body.text(), /Nothing to confirm/);
  }
});

test('payments can be exported as a table', async () => {
  const { pay } = await buyer(app, account.test);
  const { purchaseId, paymentId } = await pay(CARDS.pays);
  (await refund(purchaseId, { amountCents: 1 })).assertOk(201);
  const answer = await app.request('GET', `/monetization/payments?purchaseId=${purchaseId}`, {
    key,
    headers: { accept: 'text/csv' },
  });
  assert.equal(answer.status, 200);
  assert.match(String(answer.headers['content-type']), /^text\/csv/);
  const [head, charge, back, end] = answer.text.split('\r\n');
  assert.equal(head, 'id,purchaseId,type,amountCents,currency,status,failureCode,provider,createdAt');
  assert.ok(charge?.startsWith(`${paymentId},${purchaseId},CHARGE,1000,USD,SUCCEEDED,,SANDBOX,`));
  assert.match(back ?? '', /,REFUND,-1,USD,SUCCEEDED,,SANDBOX,/);
  assert.equal(end, '');
  const all = await app.request('GET', '/monetization/payments', { key, headers: { accept: 'text/csv' } });
  assert.ok(all.text.split('\r\n').length > 20);
});

test('payments require the finance permission, and the provider account requires a person', async () => {
  const { key: standard } = await app.createKey({ account, mode: 'test', scope: 'STANDARD' });
  for (const path of ['/purchases', `/videos/${newId('vid')}/purchases`, '/monetization/payments']) {
    (await app.request('GET', path, { key: standard })).assertError('FINANCIAL_SCOPE_REQUIRED');
  }
  const { key: reading } = await app.createKey({
    account,
    mode: 'test',
    scope: 'STANDARD',
    permissions: ['finance:read'],
  });
  (await app.request('GET', '/purchases', { key: reading })).assertOk(200);
  const body = { requestId: newUuid() };
  (await app.request('POST', `/purchases/${newId('pur')}/refund`, { key: reading, body })).assertError(
    'FINANCIAL_SCOPE_REQUIRED',
  );
  const status = (await app.request('GET', '/monetization/connect-status', { key: standard })).assertOk(200);
  assert.deepEqual(status.json, {
    success: true,
    data: {
      provider: 'SANDBOX',
      connected: true,
      chargesEnabled: true,
      payoutsEnabled: true,
      detailsSubmitted: true,
      requirementsDue: [],
      country: 'US',
    },
  });
  (await app.request('POST', '/monetization/connect-onboard', { key })).assertError('ADMIN_ONLY');
  (await app.request('GET', '/monetization/connect-dashboard', { key })).assertError('ADMIN_ONLY');
});
