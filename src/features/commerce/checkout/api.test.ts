import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { ADDRESSES, CARD, checkoutClient, headers, ORIGIN } from '../../../../test/money/shop.ts';
import { systemClock } from '../../../kernel/clock.ts';
import { MINUTE_MS } from '../../../kernel/durations.ts';

const clock = new TestClock(systemClock.ms());
let app: TestApp;
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

const { shop, tier, code, video, ask, open, read, eventsOf, send, pay } = checkoutClient(() => app);

test('a subscription checkout is created, shown and paid, emits its events and sends its email', async () => {
  const of = await shop();
  const tierId = await tier(of);
  const made = await ask(of, { tierId, clientReferenceId: 'order-17', metadata: { a: 'b' } });
  const id = made.assertOk(201).string('data.id');
  assert.equal(made.string('data.url'), `${ORIGIN}/checkout/${id}`);
  assert.deepEqual(
    ['kind', 'status', 'tierId', 'videoId', 'amountCents', 'subscriptionId'].map((name) =>
      made.at(`data.${name}`),
    ),
    ['SUBSCRIPTION', 'OPEN', tierId, null, 500, null],
  );
  assert.equal(Date.parse(made.string('data.expiresAt')) - clock.ms(), 24 * 60 * MINUTE_MS);
  const page = await fetch(`${app.url}/checkout/${id}`);
  assert.equal(page.status, 200);
  const policy = page.headers.get('content-security-policy') ?? '';
  assert.match(policy, /frame-ancestors 'none'/);
  assert.match(policy, /form-action 'self' http:\/\/marquee\.test/);
  const text = await page.text();
  assert.match(text, /Subscribe to Supporter/);
  assert.match(text, /Pay \$5\.00/);
  assert.match(text, /each month/);
  assert.match(text, /The next payment is \$5\.00 on \d+ \w+ \d{4} \(time zone UTC\)/);

  const paid = await pay(id);
  assert.deepEqual([paid.status, paid.location], [303, `${ORIGIN}/thanks?order=1&checkout_id=${id}`]);
  const done = await read(of, id);
  assert.equal(done.at('data.status'), 'COMPLETED');
  assert.match(done.string('data.subscriptionId'), /^sub_/);
  assert.doesNotMatch(done.text, /ann@example/);
  assert.equal((await app.request('GET', `/tiers/${tierId}`, { key: of.key })).at('data.memberCount'), 1);
  assert.deepEqual((await eventsOf(of)).sort(), [
    'checkout.session.completed',
    'checkout.session.created',
    'payment.succeeded',
    'subscription.created',
  ]);
  const mails = await app.container.sql<{ recipient: string; kind: string }[]>`
    select recipient, kind from mail where recipient = 'ann@example.com'`;
  assert.deepEqual([...mails], [{ recipient: 'ann@example.com', kind: 'receipt' }]);

  const again = await pay(id);
  assert.equal(again.status, 403, 'the page of a paid checkout has no form');
  assert.match(await (await fetch(`${app.url}/checkout/${id}`)).text(), /Paid\. Thank you/);
});

test('a video checkout shows the reason of a decline, accepts another card, and remains one purchase', async () => {
  const of = await shop();
  const id = await open(of, { videoId: await video(of) });
  const declined = await pay(id, { card: '4000000000000002' });
  assert.equal(declined.status, 402);
  assert.match(declined.text, /declined[^<]*Nothing was charged/);
  assert.match(declined.text, /value="ann@example\.com"/);
  assert.equal((await read(of, id)).at('data.status'), 'OPEN');
  const paid = await pay(id);
  assert.equal(paid.status, 303, paid.text);
  const purchases = await app.container.sql<{ status: string; amount_cents: number }[]>`
    select status, amount_cents from purchase where checkout_id = ${id}`;
  assert.deepEqual([...purchases], [{ status: 'PAID', amount_cents: 900 }]);
});

test('each rejected input is named', async () => {
  const of = await shop();
  const tierId = await tier(of);
  const evil = 'https://evil.example.com/';
  const refused: [string, object][] = [
    ['successUrl', { tierId, successUrl: evil }],
    ['successUrl', { tierId, successUrl: 'nowhere' }],
    ['successUrl', { tierId, successUrl: 'javascript:alert(1)' }],
    ['successUrl', { tierId, successUrl: 'http://me:secret@marquee.test/' }],
    ['successUrl', { tierId, successUrl: `${ORIGIN}/${'x'.repeat(2048)}` }],
    ['cancelUrl', { tierId, cancelUrl: evil }],
    ['customerEmail', { tierId, customerEmail: 'nobody' }],
    ['clientReferenceId', { tierId, clientReferenceId: 'x'.repeat(201) }],
    ['metadata', { tierId, metadata: 'x' }],
    ['tierId', { tierId: 7 }],
  ];
  for (const [field, body] of refused) (await ask(of, body)).assertError('BAD_REQUEST', field);
  (await ask(of, { tierId, discountCode: 'NONE' })).assertError('CONFLICT', 'discountCode');
  (await ask(of, { tierId: 'tier_01kafe3n4pfx2v9yq6m8d7t5zr' })).assertError('NOT_FOUND', 'tierId');
  const foreign = await tier(await shop());
  (await ask(of, { tierId: foreign })).assertError('NOT_FOUND', 'tierId');
  const closed = await tier(of, { isActive: false });
  (await ask(of, { tierId: closed })).assertError('CONFLICT', 'tierId');
  const cheap = await tier(of, { priceCents: 49 });
  (await ask(of, { tierId: cheap })).assertError('CONFLICT');
  await open(of, { tierId: await tier(of, { priceCents: 50 }) });
  const body = { title: 'Not sold' };
  const free = (await app.request('POST', '/videos', { key: of.key, body })).assertOk(201).string('data.id');
  (await ask(of, { videoId: free })).assertError('CONFLICT', 'videoId');
});

test('checkout URLs are restricted to the allowed origins', async () => {
  const live = await app.createKey();
  const of = await shop();
  const id = await open(of, { tierId: await tier(of) });
  const calls: [string, string, object?][] = [
    ['POST', '/checkout/subscription', { tierId: 'x', ...ADDRESSES }],
    ['POST', '/checkout/video', { videoId: 'x', ...ADDRESSES }],
    ['GET', `/checkout/${id}`],
  ];
  for (const [method, path, body] of calls) {
    const answer = await app.request(method, path, { key: live.key, ...(body ? { body } : {}) });
    assert.equal(answer.status, 403);
    assert.deepEqual(answer.json, { success: false, error: 'integration_domain_required' });
  }
  const domain = { domain: 'shop.test' };
  (await app.request('POST', '/me/integration-domains', { key: of.key, body: domain })).assertOk(201);
  const simulate = await app.request('POST', `/checkout/${id}/simulate`, {
    key: of.key,
    headers: { origin: 'https://evil.example.com' },
    body: { outcome: 'PAID' },
  });
  assert.deepEqual(simulate.json, { success: false, error: 'origin_not_allowed' });
  const there = { successUrl: 'https://shop.test/thanks', cancelUrl: 'http://shop.test/' };
  const tierId = await tier(of);
  (await ask(of, { tierId, ...there }, { origin: 'https://shop.test' })).assertOk(201);
  const reader = await app.createKey({ account: of.account, mode: 'test', scope: 'READ_ONLY' });
  (await ask(reader, { tierId })).assertError('INSUFFICIENT_SCOPE');
});

test('the same Idempotency-Key returns the same checkout, even after a crash', async () => {
  const of = await shop();
  const tierId = await tier(of);
  const key = { 'idempotency-key': randomUUID() };
  const first = (await ask(of, { tierId }, key)).assertOk(201);
  const second = (await ask(of, { tierId }, key)).assertOk(201);
  assert.equal(second.text, first.text);
  assert.equal(second.headers['x-svc-idempotent-replay'], 'true');
  (await ask(of, { tierId, clientReferenceId: 'x' }, key)).assertError(
    'IDEMPOTENCY_KEY_REUSE',
    'Idempotency-Key',
  );
  // The process died after creating the checkout, before its response was stored.
  const over = new Date(clock.ms() - 1);
  await app.container.sql`update idempotency_record set status = null, body = null, leased_until = ${over}
    where operation_id = (select operation_id from checkout where id = ${first.string('data.id')})`;
  const repeated = (await ask(of, { tierId }, key)).assertOk(201);
  assert.equal(repeated.text, first.text);
  assert.deepEqual(await eventsOf(of), ['checkout.session.created']);
});

test('discounts are floored, apply only to the first charge, may reach zero, and never leave an amount too small to charge', async () => {
  const of = await shop();
  const tierId = await tier(of, { priceCents: 999 });
  await code(of, { code: 'third', percentOff: 33, maxUses: 1 });
  await code(of, { code: 'most', percentOff: 96 });
  await code(of, { code: 'all', amountCentsOff: 5000 });
  const made = (await ask(of, { tierId, discountCode: ' Third ' })).assertOk(201);
  assert.deepEqual(
    ['amountCents', 'discountCents', 'discountCode'].map((name) => made.at(`data.${name}`)),
    [670, 329, 'THIRD'],
  );
  (await ask(of, { tierId, discountCode: 'most' })).assertError('CONFLICT');

  const id = made.string('data.id');
  const wrong = await send(id, 'code', { code: 'nothing' });
  assert.equal(wrong.status, 409);
  assert.match(wrong.text, /Discount code not found/);
  assert.equal((await send(id, 'code', { code: '' })).status, 303);
  assert.equal((await read(of, id)).at('data.amountCents'), 999);
  assert.equal((await send(id, 'code', { code: 'third' })).status, 303);
  assert.equal((await pay(id)).status, 303);
  const [kept] = await app.container.sql`select price_cents from subscription where checkout_id = ${id}`;
  assert.equal(kept?.price_cents, 999, 'renewals cost the whole price');
  (await ask(of, { tierId, discountCode: 'third' })).assertError('CONFLICT', 'discountCode');
  assert.ok((await eventsOf(of)).includes('booking.discount_code.exhausted'));

  const free = (await ask(of, { tierId, discountCode: 'all' })).assertOk(201);
  assert.deepEqual([free.at('data.amountCents'), free.at('data.discountCents')], [0, 999]);
  const begun = await pay(free.string('data.id'), { card: '', email: 'bob@example.com' });
  assert.equal(begun.status, 303, begun.text);
  assert.equal((await read(of, free.string('data.id'))).at('data.status'), 'COMPLETED');
  const nothing = await tier(of, { priceCents: 0 });
  (await ask(of, { tierId: nothing, discountCode: 'all' })).assertError('CONFLICT', 'discountCode');
  const freeVideo = await open(of, { videoId: await video(of), discountCode: 'all' });
  assert.equal((await pay(freeVideo, { card: '' })).status, 303);
  assert.equal((await read(of, freeVideo)).at('data.status'), 'COMPLETED');
});

test('each person gets one free trial', async () => {
  const of = await shop();
  const tierId = await tier(of, { trialDays: 14 });
  const first = await open(of, { tierId });
  assert.match(await (await fetch(`${app.url}/checkout/${first}`)).text(), /The first 14 days are free/);
  assert.equal((await pay(first, { card: '' })).status, 303);
  const second = await open(of, { tierId });
  const asked = await pay(second, { card: '', email: 'ANN@example.com' });
  assert.equal(asked.status, 400, 'the second time a card is wanted');
  assert.match(asked.text, /test card/);
  assert.equal((await pay(second)).status, 303);
  const rows = await app.container.sql<{ status: string }[]>`
    select status from subscription where tier_id = ${tierId} order by id`;
  assert.deepEqual(
    rows.map(({ status }) => status),
    ['TRIALING', 'ACTIVE'],
  );
});

test('a card given for a trial is stored only with its subscription', async () => {
  const of = await shop();
  const tierId = await tier(of, { trialDays: 14 });
  const kept = async () => {
    const rows = await app.container.sql<{ last4: string | null }[]>`
      select payment_method->>'last4' as last4 from subscription where workspace_id = ${of.account.test}
      union all select card_last4 from customer where workspace_id = ${of.account.test}`;
    return rows.map(({ last4 }) => last4).toSorted();
  };
  const id = await open(of, { tierId });
  assert.equal((await pay(id, { card: '4000 0000 0000 0002' })).status, 400, 'the bank takes it not');
  assert.equal((await pay(id)).status, 303);
  assert.deepEqual(await kept(), ['4242', null]);
  const other = await open(of, { tierId: await tier(of, { priceCents: 0 }) });
  assert.equal((await pay(other, { card: '4000 0000 0000 0341' })).status, 303);
  assert.deepEqual(await kept(), ['4242', null, null], 'nothing is ever due for the other one');
});

test('only forms of the page itself and test cards are accepted', async () => {
  const of = await shop();
  const id = await open(of, { tierId: await tier(of) });
  const other = await open(of, { tierId: await tier(of) });
  const foreign = await send(id, 'pay', { email: 'ann@example.com', card: CARD }, 'https://evil.example.com');
  assert.equal(foreign.status, 403);
  const page = await (await fetch(`${app.url}/checkout/${other}`)).text();
  const token = /name="token" value="([^"]+)"/.exec(page)?.[1] ?? '';
  assert.equal((await pay(id, { token })).status, 403, 'the token of another checkout');
  const real = await pay(id, { card: '5555 5555 5555 4444' });
  assert.equal(real.status, 400);
  assert.doesNotMatch(real.text, /5555/);
  assert.equal((await pay(id, { email: 'nobody' })).status, 400);
  assert.equal((await fetch(`${app.url}/checkout/chk_nothing`)).status, 404);
  const [kept] = await app.container.sql`select from payment where request::text like '%5555%'`;
  assert.equal(kept, undefined);
});

test('one of 50 concurrent buyers gets the last spot', async () => {
  const of = await shop();
  const tierId = await tier(of, { maxMembers: 1 });
  const ids = await Promise.all(Array.from({ length: 50 }, () => open(of, { tierId })));
  const answers = await Promise.all(ids.map((id, index) => pay(id, { email: `buyer${index}@example.com` })));
  const won = answers.filter(({ status }) => status === 303);
  assert.deepEqual([won.length, answers.filter(({ status }) => status === 409).length], [1, 49]);
  const [row] = await app.container.sql`select member_count, reserved_count from tier where id = ${tierId}`;
  assert.deepEqual({ ...row }, { member_count: 1, reserved_count: 0 });
  (await ask(of, { tierId })).assertError('CONFLICT', 'tierId');
});

test('one of 50 concurrent buyers gets the last use of a code', async () => {
  const of = await shop();
  const tierId = await tier(of);
  const codeId = await code(of, { code: 'ONE', percentOff: 10, maxUses: 1 });
  const ids = await Promise.all(Array.from({ length: 50 }, () => open(of, { tierId, discountCode: 'ONE' })));
  const answers = await Promise.all(ids.map((id, index) => pay(id, { email: `buyer${index}@example.com` })));
  assert.equal(answers.filter(({ status }) => status === 303).length, 1);
  const [row] = await app.container
    .sql`select used_count, reserved_count from discount_code where id = ${codeId}`;
  assert.deepEqual({ ...row }, { used_count: 1, reserved_count: 0 });
});

test('two presses of the button make one payment', async () => {
  const of = await shop();
  const id = await open(of, { tierId: await tier(of) });
  const answers = await Promise.all([pay(id), pay(id), pay(id)]);
  // A second submission sees the waiting page while the provider is being called.
  const isRight = ({ status, text }: { status: number; text: string }) =>
    status === 303 || (status === 200 && text.includes('Payment processing'));
  assert.ok(answers.every(isRight), answers.map(({ text }) => text).join());
  assert.ok(answers.some(({ status }) => status === 303));
  assert.equal((await read(of, id)).at('data.status'), 'COMPLETED');
  const [row] = await app.container.sql`select count(*)::int as count from payment
    where purchase_id in (select id from purchase where checkout_id = ${id})`;
  assert.equal(row?.count, 1);
});

test('a second factor reserves the spot for 30 minutes, and no longer', async () => {
  const of = await shop();
  const tierId = await tier(of, { maxMembers: 1 });
  const first = await open(of, { tierId });
  const second = await open(of, { tierId });
  const factor = '4000000000003220';
  const led = await pay(first, { card: factor });
  assert.equal(led.status, 303);
  assert.notEqual(led.location, `${ORIGIN}/thanks`);
  assert.equal((await pay(second, { email: 'bob@example.com' })).status, 409);
  clock.advance(30 * MINUTE_MS);
  await runTask(app.container, 'checkouts');
  assert.equal((await pay(second, { email: 'bob@example.com' })).status, 303);
  assert.equal((await read(of, first)).at('data.status'), 'OPEN');
});

test('a provider that responds too late causes a 503, and the same page charges once', async () => {
  const of = await shop();
  const id = await open(of, { videoId: await video(of) });
  const late = await pay(id, { card: '4000000000000119' });
  assert.equal(late.status, 503, late.text);
  // Opening the page again shows the result.
  const again = await fetch(`${app.url}/checkout/${id}`, { redirect: 'manual' });
  assert.deepEqual(
    [again.status, again.headers.get('location')],
    [303, `${ORIGIN}/thanks?order=1&checkout_id=${id}`],
  );
  assert.equal((await read(of, id)).at('data.status'), 'COMPLETED');
  const [row] = await app.container.sql`select count(*)::int as count from sandbox_payment
    where workspace_id = ${of.account.test} and status = 'SUCCEEDED'`;
  assert.equal(row?.count, 1);
});

test('simulations complete, decline and expire a checkout', async () => {
  const of = await shop();
  const tierId = await tier(of);
  const simulate = (id: string, outcome: string, key = of.key) =>
    app.request('POST', `/checkout/${id}/simulate`, { key, headers, body: { outcome } });
  const declined = await open(of, { tierId });
  assert.equal((await simulate(declined, 'DECLINED')).assertOk(200).at('data.status'), 'OPEN');
  assert.equal((await simulate(declined, 'PAID')).assertOk(200).at('data.status'), 'COMPLETED');
  (await simulate(declined, 'PAID')).assertError('CONFLICT');
  const expired = await open(of, { tierId });
  assert.equal((await simulate(expired, 'EXPIRED')).assertOk(200).at('data.status'), 'EXPIRED');
  (await simulate(expired, 'EXPIRED')).assertError('CONFLICT');
  assert.match(await (await fetch(`${app.url}/checkout/${expired}`)).text(), /Checkout ended/);
  (await simulate(expired, 'LOST')).assertError('BAD_REQUEST', 'outcome');
  const live = await app.createKey({ account: of.account });
  (await simulate(expired, 'PAID', live.key)).assertError('PERMISSION_DENIED');

  const unpaid = await open(of, { tierId });
  await simulate(unpaid, 'DECLINED');
  await simulate(unpaid, 'EXPIRED');
  const failed = (await app.request('GET', '/purchases?status=FAILED,PENDING', { key: of.key })).assertOk(
    200,
  );
  assert.deepEqual(
    failed.list('data').map((row) => Object(row).status),
    ['FAILED'],
  );

  const canceled = await open(of, { tierId });
  const left = await send(canceled, 'cancel', {});
  assert.deepEqual([left.status, left.location], [303, ADDRESSES.cancelUrl]);
  assert.equal((await read(of, canceled)).at('data.status'), 'CANCELED');

  const late = await open(of, { tierId });
  clock.advance(24 * 60 * MINUTE_MS);
  assert.equal((await read(of, late)).at('data.status'), 'EXPIRED');
  await runTask(app.container, 'checkouts');
  await runTask(app.container, 'checkouts');
  const ends = (await eventsOf(of)).filter((type) => type === 'checkout.session.expired');
  assert.equal(ends.length, 4);
});
