import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bookingClient, hoursOf } from '../../../../test/booking/booking-client.ts';
import { runConcurrently } from '../../../../test/booking/races.ts';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { CARDS } from '../../../../test/money/buyer.ts';
import { headers } from '../../../../test/money/shop.ts';
import { startJobWorkers } from '../../../jobs/worker.ts';
import { MINUTE_MS } from '../../../kernel/durations.ts';

const clock = new TestClock(Date.UTC(2027, 2, 1, 8, 30));
let app: TestApp;
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

const {
  creator,
  product,
  cohort,
  ask,
  open,
  booking,
  booked,
  act,
  mails,
  busyOf,
  pay,
  read,
  eventsOf,
  code,
  send,
} = bookingClient(() => app);
const { raceForSeat, raceForTime } = runConcurrently(() => app);

const hour = hoursOf(clock);

test('a lesson is held for ten minutes, paid, confirmed and emailed, and its events carry no amounts', async () => {
  const of = await creator();
  const productId = await product(of, { bufferMin: 0, refundPolicyDays: 1 });
  const startsAt = hour(48);
  const made = (await ask(of, { productId, startsAt })).assertOk(201);
  const [id, bookingId] = [made.string('data.id'), made.string('data.bookingId')];
  assert.deepEqual(
    ['kind', 'status', 'amountCents', 'tierId', 'videoId'].map((name) => made.at(`data.${name}`)),
    ['BOOKING', 'OPEN', 5000, null, null],
  );
  assert.equal(Date.parse(made.string('data.expiresAt')) - clock.ms(), 10 * MINUTE_MS);
  const held = await booking(of, bookingId);
  assert.equal(held.at('data.status'), 'PENDING_PAYMENT');
  assert.equal(held.at('data.joinUrl'), null);
  assert.equal((await busyOf(bookingId)).length, 1);
  (await ask(of, { productId, startsAt }, 'Bob')).assertError('CONFLICT', 'startsAt');

  const page = await (await fetch(`${app.url}/checkout/${id}`)).text();
  assert.match(page, /Book A lesson, /);
  assert.match(page, /Europe\/Berlin/);
  assert.match(page, /readonly/);
  const until = /held for you until <time datetime="([^"]+)">([^<]+)<\/time>/.exec(page);
  assert.deepEqual(until?.slice(1), [
    made.string('data.expiresAt'),
    'Monday, 1 March 2027 at 09:40 (Europe/Berlin)',
  ]);
  const paid = await pay(id, { email: 'somebody.else@example.com' });
  assert.equal(paid.status, 303, paid.text);
  const done = await booking(of, bookingId);
  assert.deepEqual(
    ['status', 'startsAt', 'amountCents', 'discountCents', 'refundedCents', 'type'].map((name) =>
      done.at(`data.${name}`),
    ),
    ['CONFIRMED', startsAt, 5000, 0, 0, 'ONE_TO_ONE'],
  );
  assert.match(done.string('data.customer.id'), /^cus_/);
  assert.match(done.string('data.purchaseId'), /^pur_/);
  assert.match(done.string('data.joinUrl'), /\/bookings\/bkg_\w+\/join\?token=/);
  assert.deepEqual((await eventsOf(of)).filter((type) => !type.startsWith('booking.product')).sort(), [
    'booking.confirmed',
    'booking.created',
    'checkout.session.completed',
    'checkout.session.created',
    'payment.succeeded',
  ]);
  const [mail] = (await mails('booking-confirmed')).filter(({ text }) => text?.includes(bookingId));
  assert.equal(mail?.recipient, 'ann@example.com', 'who books is who was told of, whoever types at the page');
  assert.match(mail?.text ?? '', /\(Europe\/Berlin\)[\s\S]*Creator's time: [^\n]*\(UTC\)/);
  assert.match(mail?.text ?? '', /for a full refund/);
  assert.match(mail?.calendar ?? '', /METHOD:REQUEST[\s\S]*DTSTART;TZID=|METHOD:REQUEST[\s\S]*DTSTART:/);

  const reader = await app.createKey({
    account: of.account,
    mode: 'test',
    scope: 'READ_ONLY',
    permissions: ['booking:read'],
  });
  const seen = await booking(reader, bookingId);
  assert.deepEqual(
    ['amountCents', 'discountCents', 'refundedCents', 'hostUrl'].map((name) => seen.at(`data.${name}`)),
    [null, null, null, null],
  );
  const item = await app.container.sql`select item_id from ledger_transaction where item_id = ${productId}`;
  assert.equal(item.length, 1, 'it is revenue of the product');
});

test('a hold ends after ten minutes, and Pay extends it once, to thirty', async () => {
  const of = await creator();
  const productId = await product(of);
  const startsAt = hour(48);
  const first = await open(of, { productId, startsAt });
  clock.advance(10 * MINUTE_MS);
  assert.equal((await pay(first.id)).status, 403, 'the page is over: it has no form');
  await runTask(app.container, 'checkouts');
  assert.equal((await booking(of, first.bookingId)).at('data.status'), 'EXPIRED');
  assert.deepEqual(await busyOf(first.bookingId), []);

  const second = await open(of, { productId, startsAt });
  clock.advance(9 * MINUTE_MS);
  assert.equal((await pay(second.id, { card: CARDS.declined })).status, 402);
  assert.equal(Date.parse((await read(of, second.id)).string('data.expiresAt')) - clock.ms(), 30 * MINUTE_MS);
  clock.advance(20 * MINUTE_MS);
  await runTask(app.container, 'checkouts');
  assert.equal((await pay(second.id, { card: CARDS.declined })).status, 402);
  assert.equal(Date.parse((await read(of, second.id)).string('data.expiresAt')) - clock.ms(), 10 * MINUTE_MS);
  (await ask(of, { productId, startsAt }, 'Bob')).assertError('CONFLICT', 'startsAt');
  clock.advance(10 * MINUTE_MS);
  await runTask(app.container, 'checkouts');
  assert.equal((await booking(of, second.bookingId)).at('data.status'), 'EXPIRED');
  const third = await open(of, { productId, startsAt }, 'Bob');
  assert.equal((await send(third.id, 'cancel', {})).status, 303);
  assert.equal((await booking(of, third.bookingId)).at('data.status'), 'EXPIRED');
  const told = (await eventsOf(of)).filter((type) => type === 'booking.expired');
  assert.equal(told.length, 3);
});

test('a free booking is confirmed immediately; a discount code belongs to one product and is used once', async () => {
  const of = await creator();
  const free = await product(of, { priceCents: 0, type: 'LIVE_CLASS', capacity: 2 });
  const startsAt = hour(48);
  const made = (await ask(of, { productId: free, startsAt })).assertOk(201);
  assert.equal(made.at('data.status'), 'COMPLETED');
  assert.equal((await booking(of, made.string('data.bookingId'))).at('data.status'), 'CONFIRMED');
  assert.match(
    await (await fetch(`${app.url}/checkout/${made.string('data.id')}`)).text(),
    /Booked\. Thank you/,
  );
  const dear = await product(of);
  await code(of, { code: 'gift', percentOff: 100, maxUses: 1, productId: dear });
  (await ask(of, { productId: free, startsAt, discountCode: 'gift' }, 'Bob')).assertError(
    'CONFLICT',
    'discountCode',
  );
  const gift = (await ask(of, { productId: dear, startsAt: hour(50), discountCode: 'gift' })).assertOk(201);
  assert.deepEqual(
    ['status', 'amountCents', 'discountCents'].map((name) => gift.at(`data.${name}`)),
    ['COMPLETED', 0, 5000],
  );
  const { bookingId, id } = await open(of, { productId: dear, startsAt: hour(52) });
  assert.equal((await send(id, 'code', { code: 'gift' })).status, 409);
  await code(of, { code: 'half', percentOff: 50 });
  assert.equal((await send(id, 'code', { code: 'half' })).status, 303);
  assert.equal((await pay(id)).status, 303);
  const paid = await booking(of, bookingId);
  assert.deepEqual([paid.at('data.amountCents'), paid.at('data.discountCode')], [2500, 'HALF']);
});

test('a rejected input is named', async () => {
  const of = await creator();
  const intakeFields = [
    { key: 'level', label: 'Your level', type: 'SELECT', required: true, options: ['low', 'high'] },
    { key: 'agreed', label: 'Agreed', type: 'CHECKBOX', required: true },
    { key: 'phone', label: 'Phone', type: 'PHONE', required: false },
  ];
  const productId = await product(of, { intakeFields });
  const [startsAt, customer] = [hour(48), { name: 'Ann', email: 'ann@example.com' }];
  const intakeAnswers = { level: 'low', agreed: true, unknown: 'x' };
  const refused: [string, object][] = [
    ['productId', { startsAt, productId: 7 }],
    ['startsAt', {}],
    ['startsAt', { startsAt: 'tomorrow' }],
    ['startsAt', { startsAt: hour(48).replace(':00.000', ':07.000') }],
    ['startsAt', { startsAt: hour(-1) }],
    ['cohortId', { startsAt, cohortId: 'coh_01kafe3n4pfx2v9yq6m8d7t5zr' }],
    ['customer', { startsAt, customer: null }],
    ['customer.name', { startsAt, customer: { ...customer, name: ' ' } }],
    ['customer.name', { startsAt, customer: { ...customer, name: 'x'.repeat(121) } }],
    ['customer.email', { startsAt, customer: { ...customer, email: 'nobody' } }],
    ['customer.timezone', { startsAt, customer: { ...customer, timezone: 'Mars/Base' } }],
    ['intakeAnswers.level', { startsAt, intakeAnswers: { agreed: true } }],
    ['intakeAnswers.level', { startsAt, intakeAnswers: { ...intakeAnswers, level: 'middle' } }],
    ['intakeAnswers.agreed', { startsAt, intakeAnswers: { level: 'low', agreed: false } }],
    ['intakeAnswers.phone', { startsAt, intakeAnswers: { ...intakeAnswers, phone: 'none' } }],
    ['successUrl', { startsAt, intakeAnswers, successUrl: 'https://evil.example.com/' }],
  ];
  for (const [field, body] of refused) {
    (await ask(of, { productId, intakeAnswers, ...body })).assertError('BAD_REQUEST', field);
  }
  (await ask(of, { productId: 'bkp_01kafe3n4pfx2v9yq6m8d7t5zr', startsAt })).assertError(
    'NOT_FOUND',
    'productId',
  );
  (await ask(await creator(), { productId, startsAt, intakeAnswers })).assertError('NOT_FOUND', 'productId');
  const cheap = await product(of, { priceCents: 49 });
  (await ask(of, { productId: cheap, startsAt })).assertError('CONFLICT');
  (await app.request('POST', `/booking/products/${cheap}/unpublish`, { key: of.key })).assertOk(200);
  (await ask(of, { productId: cheap, startsAt })).assertError('CONFLICT', 'productId');
  const { bookingId } = await open(of, { productId, startsAt, intakeAnswers });
  assert.deepEqual((await booking(of, bookingId)).at('data.intakeAnswers'), { level: 'low', agreed: true });
  const live = await app.createKey();
  const locked = await app.request('POST', '/checkout/booking', {
    key: live.key,
    body: { productId, startsAt, customer, successUrl: 'https://a.example', cancelUrl: 'https://a.example' },
  });
  assert.deepEqual(locked.json, { success: false, error: 'integration_domain_required' });
});

test('one of 20 concurrent buyers gets the last seat of a class, or one time of a creator', async () => {
  const of = await creator();
  await raceForSeat(of, { type: 'LIVE_CLASS', capacity: 1 }, { startsAt: hour(48) }, 20);
  await raceForTime(of, hour(50), 20);
});

/** Runs jobs, without advancing the clock, until the purchase of the booking is refunded. */
async function refundedByJobs(bookingId: string): Promise<void> {
  const { container } = app;
  const workers = startJobWorkers({
    ...container,
    workers: container.modules.flatMap((module) => module.jobs?.() ?? []),
  });
  const isRefunded = async () => {
    const [row] = await container.sql`select status from purchase where booking_id = ${bookingId}`;
    return row?.status === 'REFUNDED';
  };
  try {
    await waitFor(isRefunded, { message: 'the refund' });
  } finally {
    await workers.stop();
  }
}

test('cohort seats are claimed at Pay, and a canceled cohort refunds everything', async () => {
  const of = await creator();
  const where = await cohort(of, { startsAt: hour(240), capacity: 1 });
  await raceForSeat(of, {}, where, 20);
  (await ask(of, where, 'Late')).assertError('CONFLICT', 'cohortId');
  (await ask(of, { ...where, startsAt: hour(240) })).assertError('BAD_REQUEST', 'startsAt');
  (await ask(of, { productId: where.productId })).assertError('BAD_REQUEST', 'cohortId');
  const { productId, cohortId } = await cohort(of, { startsAt: hour(240) });
  const offered = await open(of, { productId, cohortId });
  const page = await (await fetch(`${app.url}/checkout/${offered.id}`)).text();
  assert.match(
    page,
    /You can pay until <time[^>]*>[^<]*\(Europe\/Berlin\)<\/time>\. Your seat is reserved once/,
  );
  (await ask(of, { ...where, cohortId })).assertError('BAD_REQUEST', 'cohortId');
  const list = `/booking/bookings?status=CONFIRMED&cohortId=${where.cohortId}`;
  const member = (await app.request('GET', list, { key: of.key })).assertOk(200).string('data.0.id');
  (await act(of, member, 'reschedule', { startsAt: hour(241) })).assertError('CONFLICT');
  // The sweep releases claims of unpaid checkouts.
  const path = `/booking/cohorts/${where.cohortId}`;
  assert.equal((await app.request('GET', path, { key: of.key })).at('data.status'), 'FULL');
  assert.equal(
    (await act(of, member, 'simulate', { event: 'CUSTOMER_CANCELED' })).at('data.refundedCents'),
    4500,
  );
  const { id, bookingId } = await open(of, where, 'Next');
  const led = await pay(id, { card: CARDS.secondFactor });
  assert.equal(led.status, 303);
  (await app.request('DELETE', path, { key: of.key })).assertOk(200);
  assert.equal((await booking(of, bookingId)).at('data.status'), 'EXPIRED');
  // The bank still captures the payment: it is refunded.
  const bank = `${app.url}${new URL(led.location ?? '').pathname}`;
  await fetch(bank, { method: 'POST', body: new URLSearchParams({ outcome: 'complete' }) });
  await runTask(app.container, 'payment hints');
  await refundedByJobs(bookingId);
  assert.equal((await booking(of, bookingId)).at('data.status'), 'EXPIRED');

  const other = await cohort(of, { startsAt: hour(240) });
  const sold = await booked(of, other);
  (await app.request('DELETE', `/booking/cohorts/${other.cohortId}`, { key: of.key })).assertOk(200);
  await refundedByJobs(sold);
  const row = await booking(of, sold);
  assert.deepEqual(
    ['status', 'canceledBy', 'refundedCents', 'startsAt'].map((name) => row.at(`data.${name}`)),
    ['CANCELED', 'CREATOR', 5000, null],
  );
});

test('a cohort whose enrollment has ended takes no bookings and no waitlist entries; its members still attend', async () => {
  const of = await creator();
  const { key } = of;
  const where = await cohort(of, { startsAt: hour(240), capacity: 5 }, { priceCents: 0 });
  await open(of, where);
  const upcoming = async () => (await app.request('GET', '/summary', { key })).at('data.upcomingBookings');
  const product = await app.request('GET', `/booking/products/${where.productId}`, { key });
  const page = `${app.url}${new URL(product.string('data.url')).pathname}`;
  const isOffered = async () => (await (await fetch(page)).text()).includes(`cohort=${where.cohortId}`);
  assert.equal(await upcoming(), 1);
  assert.ok(await isOffered());

  const path = `/booking/cohorts/${where.cohortId}`;
  const body = { enrollmentClosesAt: new Date(clock.ms()).toISOString() };
  assert.equal((await app.request('PATCH', path, { key, body })).assertOk(200).at('data.status'), 'OPEN');
  const wait = { email: 'late@example.com', cohortId: where.cohortId };
  for (const answer of [
    await ask(of, where, 'Late'),
    await app.request('POST', `/booking/products/${where.productId}/waitlist`, { key, body: wait }),
  ]) {
    answer.assertError('CONFLICT', 'cohortId');
    assert.match(answer.string('error.message'), /closed to new members/);
  }
  assert.ok(!(await isOffered()));
  assert.equal(await upcoming(), 1);
  (await app.request('DELETE', path, { key })).assertOk(200);
  assert.equal(await upcoming(), 0);
});

test('a payment after the deadline books the spot if it is available and is refunded otherwise', async () => {
  const of = await creator();
  const productId = await product(of);
  for (const isFree of [true, false]) {
    const startsAt = hour(isFree ? 48 : 50);
    const { id, bookingId } = await open(of, { productId, startsAt });
    const late = await pay(id, { card: CARDS.late });
    assert.equal(late.status, 503, late.text);
    // The process that paid crashes here, and the hold ends before a sweep runs.
    await app.container.events.transaction(async (tx, append) => {
      await tx.updateTable('checkout').set({ reserved_until: null }).where('id', '=', id).execute();
      await app.container.bookingSales.expire({ tx, append }, bookingId);
    });
    if (!isFree) await booked(of, { productId, startsAt }, 'Bob');
    clock.advance(2 * MINUTE_MS);
    await runTask(app.container, 'open payments');
    await runTask(app.container, 'open payments');
    const row = await booking(of, bookingId);
    assert.equal(row.at('data.status'), isFree ? 'CONFIRMED' : 'EXPIRED');
    const refunded = await app.container.sql<{ refunded: number }[]>`
      select refunded_cents as refunded from purchase where booking_id = ${bookingId}`;
    clock.advance(2 * MINUTE_MS);
    await runTask(app.container, 'open payments');
    const after = await app.container.sql<{ status: string }[]>`
      select status from purchase where booking_id = ${bookingId}`;
    assert.equal(after[0]?.status, isFree ? 'PAID' : 'REFUNDED', `${refunded[0]?.refunded}`);
  }
});

test('bookings are listed by each filter', async () => {
  const of = await creator();
  const [first, second] = [await product(of), await product(of, { type: 'LIVE_CLASS', capacity: 5 })];
  const ann = await booked(of, { productId: first, startsAt: hour(30) });
  const bob = await booked(of, { productId: second, startsAt: hour(40) }, 'Bob');
  const { bookingId: open1 } = await open(of, { productId: second, startsAt: hour(50) }, 'Cy');
  const list = async (query: string) => {
    const answer = (
      await app.request('GET', `/booking/bookings?order=asc&${query}`, { key: of.key })
    ).assertOk(200);
    return answer.list('data').map((row) => Object(row).id);
  };
  assert.deepEqual(await list(''), [ann, bob, open1]);
  assert.deepEqual(await list('status=CONFIRMED,COMPLETED'), [ann, bob]);
  assert.deepEqual(await list(`productId=${second}`), [bob, open1]);
  assert.deepEqual(await list('customerEmail=BOB%40example.com'), [bob]);
  await app.container.sql`update booking set customer_email = 'bob@xn--bcher-kva.example' where id = ${bob}`;
  assert.deepEqual(await list(`customerEmail=${encodeURIComponent('Bob@bücher.example')}`), [bob]);
  assert.deepEqual(await list('customerEmail=%20'), []);
  assert.deepEqual(await list(`from=${hour(40)}&to=${hour(50)}`), [bob]);
  assert.deepEqual(await list('cohortId=coh_01kafe3n4pfx2v9yq6m8d7t5zr'), []);
  const bad = await app.request('GET', '/booking/bookings?status=LOST', { key: of.key });
  bad.assertError('BAD_REQUEST', 'status');
  const limited = await app.createKey({
    account: of.account,
    mode: 'test',
    permissions: ['videos:read'],
    scope: 'STANDARD',
  });
  (await app.request('GET', '/booking/bookings', { key: limited.key })).assertError('PERMISSION_DENIED');
  (await app.request('GET', `/booking/bookings/${ann}`, { key: (await creator()).key })).assertError(
    'NOT_FOUND',
  );
  const post = await app.request('POST', '/booking/bookings', { key: of.key, headers, body: {} });
  assert.equal(post.status, 405);
  assert.equal(post.headers.allow, 'GET');
});
