import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { all, bookingBrowser, statusesOf } from '../../../../test/booking/booking-browser.ts';
import { bookingClient } from '../../../../test/booking/booking-client.ts';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { ORIGIN } from '../../../../test/money/shop.ts';
import { DAY_MS } from '../../../kernel/durations.ts';

let app: TestApp;
/** Node that trusts the proxy's forwarding headers. */
let proxied: TestApp;
const clock = new TestClock('2026-11-20T10:20:00Z');
const { creator, product, open, booking, code, pay } = bookingClient(() => app);
const { see, send, sendFromAnywhere, pageOf, linkTo, opened } = bookingBrowser(
  () => app,
  () => proxied,
);
before(async () => {
  app = await startTestApp({ clock });
  proxied = await startTestApp({ clock, beside: app, env: { TRUST_PROXY: '1' } });
});
after(async () => {
  await proxied.close();
  await app.close();
});

const SLOT = '2026-11-25T10:00:00.000Z';
const LATER = '2026-11-26T15:00:00.000Z';

const FIELDS = [
  { key: 'goal', label: 'What is your goal?', type: 'TEXT', required: true },
  { key: 'story', label: 'Tell me more', type: 'LONGTEXT', required: false },
  { key: 'level', label: 'Your level', type: 'SELECT', required: true, options: ['New', 'Old <hand>'] },
  { key: 'rules', label: 'I know the rules', type: 'CHECKBOX', required: true },
  { key: 'other', label: 'Another address', type: 'EMAIL', required: false },
  { key: 'phone', label: 'Phone', type: 'PHONE', required: false },
];

test('a customer in another time zone books a free product with links and forms only', async () => {
  const of = await creator();
  const id = await product(of, {
    priceCents: 0,
    intakeFields: FIELDS,
    slug: 'talk',
    description: 'A <b>talk</b>.',
  });
  const path = await pageOf(of, id);
  const list = await see(path.replace(/\/talk$/, ''));
  assert.deepEqual([list.status, list.links(path)], [200, [path]]);
  const first = await see(path);
  assert.match(
    first.headers.get('content-security-policy') ?? '',
    /script-src 'self'; style-src 'self'; .*form-action 'self'; frame-ancestors 'none'/,
  );
  assert.ok(first.html.includes('A &lt;b&gt;talk&lt;/b&gt;.'));
  assert.match(first.html, /<meta property="og:title" content="A lesson">/);
  assert.match(first.text, /November 2026/);

  const [day = ''] = (await see(`${path}?zone=Asia/Tokyo`)).links('day=2026-11-25');
  const times = await see(day);
  const [time = ''] = times.links(encodeURIComponent(SLOT));
  assert.match(times.text, /19:00 10:00 in UTC/);
  const chosen = await see(time);
  assert.match(chosen.text, /Wednesday,? 25 November 2026, 19:00 to 20:00 \(Asia\/Tokyo\)/);
  assert.match(chosen.text, /Wednesday,? 25 November 2026, 10:00 to 11:00 \(UTC\)/);
  const typed: Record<string, string> = {
    ...chosen.fields(),
    name: 'Zoë <i>',
    email: 'Zoe@Example.com',
    'answer.goal': 'Better "takes"',
    'answer.level': 'Old <hand>',
    'answer.rules': 'true',
  };
  assert.deepEqual([typed.start, typed.zone], [SLOT, 'Asia/Tokyo']);
  const missing = await send(path, { ...typed, 'answer.goal': '' });
  assert.equal(missing.status, 400);
  assert.match(missing.html, /name="answer.goal"[^>]*aria-invalid="true" aria-describedby="problem"/);
  assert.match(missing.html, /<option value="Old &lt;hand&gt;" selected>/);
  assert.equal(missing.fields().name, 'Zoë &lt;i&gt;');
  assert.equal((await send(path, typed, { 'sec-fetch-site': 'cross-site' })).status, 403);
  assert.equal((await send(path, { ...typed, name: 'Zo\0' })).status, 400);

  const done = await send(path, typed);
  assert.equal(done.status, 303, done.text);
  const booked = await see(done.location);
  assert.match(booked.text, /Booked .*19:00 to 20:00 \(Asia\/Tokyo\).*10:00 to 11:00 \(UTC\)/);
  const rows = (await app.request('GET', '/booking/bookings', { key: of.key })).assertOk(200);
  assert.equal(rows.at('data.0.status'), 'CONFIRMED');
  assert.deepEqual(rows.at('data.0.intakeAnswers'), {
    goal: 'Better "takes"',
    level: 'Old <hand>',
    rules: true,
  });
  assert.equal(rows.at('data.0.customer.timezone'), 'Asia/Tokyo');

  const taken = await send(path, { ...typed, email: 'late@example.com' });
  assert.equal(taken.status, 409);
  assert.match(taken.html, /<select name="start" required aria-invalid="true"/);
  assert.equal(taken.fields()['answer.goal'], 'Better &quot;takes&quot;', 'nothing that was typed is lost');
});

test('a paid product is paid on the checkout page, with a discount code, and confirmed afterwards', async () => {
  const of = await creator();
  const id = await product(of, { priceCents: 5000 });
  await code(of, { code: 'HALF', percentOff: 50 });
  const path = await pageOf(of, id);
  const typed = { start: SLOT, zone: 'UTC', name: 'Ben', email: 'ben@example.com', code: 'NONE' };
  const wrong = await send(path, typed);
  assert.equal(wrong.status, 409);
  assert.match(wrong.html, /name="code"[^>]*aria-invalid="true"/);
  const toPay = await send(path, { ...typed, code: ' half' });
  assert.match(toPay.location, /^\/checkout\/chk_/);
  const checkoutId = toPay.location.slice('/checkout/'.length);
  assert.match((await see(toPay.location)).text, /\$25\.00/);
  assert.equal((await see(`${path}/booked?checkout_id=${checkoutId}`)).status, 404, 'not yet');
  const paid = await pay(checkoutId);
  assert.match((await see((paid.location ?? '').replace(ORIGIN, ''))).text, /You have booked A lesson/);
});

test('the emailed link opens the booking to move or cancel it, and nothing else', async () => {
  const of = await creator();
  const id = await product(of, { priceCents: 0, refundPolicyDays: 1 });
  const { bookingId } = await open(of, { productId: id, startsAt: SLOT }, 'Mia');
  const other = await open(of, { productId: id, startsAt: '2026-11-25T12:00:00.000Z' }, 'Noa');
  const link = await linkTo('booking-confirmed', 'mia@example.com', /\/bookings\/\w+\?/);
  assert.equal((await see(`/bookings/${bookingId}`)).status, 404);
  assert.equal((await see(`${link}x`)).status, 404);
  assert.equal((await see(link.replace(bookingId, other.bookingId))).status, 404);
  const { path, cookie } = await opened(link);
  assert.equal(path, `/bookings/${bookingId}`);
  const page = await see(path, cookie);
  assert.match(page.text, /11:00 to 12:00 \(Europe\/Berlin\).*10:00 to 11:00 \(UTC\)/);
  assert.equal((await see(`/bookings/${other.bookingId}`, cookie)).status, 404);
  const file = await see(`${path}/calendar.ics`, cookie);
  assert.match(file.headers.get('content-type') ?? '', /^text\/calendar/);
  assert.match(file.html, /^BEGIN:VCALENDAR\r\n.*DTSTART;TZID=/s);

  const [day = ''] = (await see(`${path}/move`, cookie)).links('day=2026-11-26');
  const [time = ''] = (await see(day, cookie)).links(encodeURIComponent(LATER));
  const fields = (await see(time, cookie)).fields();
  assert.equal((await send(`${path}/move`, { ...fields, formToken: 'x' }, { cookie })).status, 403);
  assert.equal((await send(`${path}/move`, fields)).status, 401);
  assert.equal(
    (await send(`${path}/move`, { ...fields, start: '2026-11-25T12:00:00Z' }, { cookie })).status,
    409,
  );
  assert.equal((await booking(of, bookingId)).at('data.startsAt'), SLOT);
  const moved = await send(`${path}/move`, fields, { cookie });
  assert.equal(moved.location, `${path}?done=moved`);
  assert.equal((await booking(of, bookingId)).at('data.startsAt'), LATER);

  const formToken = fields.formToken ?? '';
  const canceled = await send(`${path}/cancel`, { formToken, reason: 'Ill' }, { cookie });
  assert.match((await see(canceled.location, cookie)).text, /Booking canceled\./);
  const after = await booking(of, bookingId);
  assert.deepEqual(
    [after.at('data.status'), after.at('data.canceledBy'), after.at('data.cancelReason')],
    ['CANCELED', 'CUSTOMER', 'Ill'],
  );
  clock.advance(DAY_MS);
  assert.equal((await see(path, cookie)).status, 404, 'the cookie is good for a day');
});

test('a cohort seat is booked, and a full cohort offers the waitlist', async () => {
  const of = await creator();
  const { key } = of;
  const body = { title: 'A course', type: 'COHORT', priceCents: 0 };
  const id = (await app.request('POST', '/booking/products', { key, body })).assertOk(201).string('data.id');
  const times = { title: 'Winter', startsAt: '2026-12-20T09:00:00Z', capacity: 1 };
  const made = await app.request('POST', `/booking/products/${id}/cohorts`, { key, body: times });
  const cohort = made.assertOk(201).string('data.id');
  (await app.request('POST', `/booking/products/${id}/publish`, { key })).assertOk(200);
  const path = await pageOf(of, id);
  const [choose = ''] = (await see(`${path}?zone=Asia/Tokyo`)).links('cohort=');
  const chosen = await see(choose);
  assert.match(chosen.text, /Winter Starts Sunday,? 20 December 2026 at 18:00 \(Asia\/Tokyo\)/);
  const typed: Record<string, string> = { ...chosen.fields(), name: 'Ida', email: 'ida@example.com' };
  assert.equal(typed.cohort, cohort);
  assert.match((await see((await send(path, typed)).location)).text, /You have booked A course/);
  const again = await send(path, { ...typed, email: 'eva@example.com' });
  assert.equal(again.status, 409);
  assert.match(again.text, /Full\. Join the waitlist/);
  const [wait = ''] = again.links('wait=coh_');
  const joined = await send(`${path}/waitlist`, { ...(await see(wait)).fields(), email: 'eva@example.com' });
  assert.match(joined.text, /confirm your waitlist entry/);
  const rows = await app.request('GET', `/booking/waitlist?cohortId=${cohort}`, { key });
  assert.equal(rows.assertOk(200).at('data.0.email'), 'eva@example.com');
});

test('a thumbnail URL adds no directive to the content security policy of its page', async () => {
  const of = await creator();
  const id = await product(of, { thumbnailUrl: 'https://pictures.example;frame-ancestors/a.jpg' });
  const policy = (await see(await pageOf(of, id))).headers.get('content-security-policy') ?? '';
  assert.deepEqual(policy.match(/frame-ancestors[^;]*/g), ["frame-ancestors 'none'"]);
});

test('booking attempts and moves cannot flood a mailbox with emails', async () => {
  const of = await creator();
  const id = await product(of, { type: 'LIVE_CLASS', capacity: 50, priceCents: 0 });
  const path = await pageOf(of, id);
  const start = '2026-12-01T10:00:00.000Z';
  const book = (email: string) => sendFromAnywhere(path, { start, zone: 'UTC', name: 'Tim', email });
  const statuses = await statusesOf(20, (n) => book(n % 2 === 0 ? 'tim@example.com' : ' TIM@example.com'));
  assert.deepEqual(statuses, all(20, 303));
  const refused = await book('tim@example.com');
  assert.equal(refused.status, 429);
  assert.match(refused.html, /name="email"[^>]*aria-invalid="true"/);
  assert.match(refused.text, /Try again in \d+ minutes/);
  const { path: own, cookie } = await opened(
    await linkTo('booking-confirmed', 'tim@example.com', /\/bookings\/\w+\?/),
  );
  const { formToken = '' } = (await see(own, cookie)).fields();
  const moved = await statusesOf(21, (n) => {
    const to = `2026-12-0${2 + (n % 2)}T10:00:00.000Z`;
    return sendFromAnywhere(`${own}/move`, { start: to, formToken }, cookie);
  });
  assert.deepEqual(moved, [...all(20, 303), 429]);
});

test("failed attempts and paid checkouts with the address of a customer do not block the customer's booking", async () => {
  const of = await creator();
  const free = await pageOf(of, await product(of, { type: 'LIVE_CLASS', capacity: 1, priceCents: 0 }));
  const paid = await pageOf(of, await product(of, { type: 'LIVE_CLASS', capacity: 50, slug: 'paid' }));
  const [start, taken] = ['2026-12-01T10:00:00.000Z', '2026-12-02T10:00:00.000Z'];
  const typed = { start, zone: 'UTC', name: 'Vic', email: 'vic@example.com' };
  assert.equal(
    (await sendFromAnywhere(free, { ...typed, start: taken, email: 'w@example.com' })).status,
    303,
  );
  const join = (wait: string) => sendFromAnywhere(`${free}/waitlist`, { wait, email: typed.email });
  const post = (path: string, more: Record<string, string>) => () =>
    sendFromAnywhere(path, { ...typed, ...more });
  assert.deepEqual(await statusesOf(21, post(free, { name: '' })), all(21, 400));
  assert.deepEqual(await statusesOf(21, post(free, { start: taken })), all(21, 409));
  assert.deepEqual(await statusesOf(21, post(paid, {})), all(21, 303));
  assert.deepEqual(await statusesOf(21, () => join(start)), all(21, 409), 'what is free is not waited for');
  assert.equal((await join(taken)).status, 200);
  assert.equal((await post(free, {})()).status, 303);
});

test('drafts, unknown creators and suspended creators have no page', async () => {
  const of = await creator();
  const id = await product(of, { priceCents: 0 });
  const path = await pageOf(of, id);
  assert.equal((await see('/book/nobody-there')).status, 404);
  assert.equal((await see(path.replace('/test/', '/'))).status, 404, 'of the other mode');
  for (const odd of [
    'zone=Mars',
    'month=2026-13',
    'month=9999-01',
    'day=2026-02-31',
    'start=x',
    'start=+999999-01-01T00:00Z',
    'wait=x',
    'cohort=y',
  ]) {
    assert.equal((await see(`${path}?${odd}`)).status, 200, odd);
  }
  await app.request('POST', `/booking/products/${id}/unpublish`, { key: of.key });
  assert.equal((await see(path)).status, 404);
  await app.request('POST', `/booking/products/${id}/publish`, { key: of.key });
  await app.container.db
    .updateTable('account')
    .set({ suspended_at: clock.now() })
    .where('id', '=', of.account.id)
    .execute();
  assert.equal((await see(path)).status, 404);
  assert.equal((await see(path.slice(0, path.lastIndexOf('/')))).status, 404);
});
