import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  all,
  bookingBrowser,
  type PageResponse,
  statusesOf,
} from '../../../../test/booking/booking-browser.ts';
import { bookingClient } from '../../../../test/booking/booking-client.ts';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { DAY_MS } from '../../../kernel/durations.ts';

let app: TestApp;
/** Node that trusts the proxy's forwarding headers. */
let proxied: TestApp;
const clock = new TestClock('2026-11-20T10:20:00Z');
const { creator, product, open, act } = bookingClient(() => app);
const { see, send, sendFromAnywhere, pageOf, linkTo, mailsTo, opened } = bookingBrowser(
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

const LATER = '2026-11-26T15:00:00.000Z';

/** Submits the button of the emailed link and returns the resulting page. */
async function confirmed(email: string): Promise<PageResponse> {
  const { path, cookie } = await opened(await linkTo('waitlist-joined', email, /\/waitlist\//));
  const { formToken = '' } = (await see(path, cookie)).fields();
  await send(`${path}/confirm`, { formToken }, { cookie });
  return see(path, cookie);
}

test('an entry for a full class is offered a seat and takes it by the emailed link, and others leave', async () => {
  const of = await creator();
  const id = await product(of, { type: 'LIVE_CLASS', priceCents: 0 });
  const path = await pageOf(of, id);
  const { bookingId } = await open(of, { productId: id, startsAt: LATER }, 'Holder');
  const [wait = ''] = (await see(path)).links('wait=2026');
  const form = await see(wait);
  assert.equal(form.fields().wait, LATER);
  const join = (email: string) => send(`${path}/waitlist`, { ...form.fields(), name: 'Kim', email });
  assert.equal((await join('nobody')).status, 400);
  // Unconfirmed addresses do not get a position ahead of confirmed ones.
  for (const email of ['typed-1@example.com', 'typed-2@example.com']) {
    assert.equal((await join(email)).status, 200);
  }
  assert.equal((await join('kim@example.com')).status, 200);
  await join('lou@example.com');

  const kim = await opened(await linkTo('waitlist-joined', 'kim@example.com', /\/waitlist\//));
  const asked = await see(kim.path, kim.cookie);
  assert.match(asked.text, /Join the waitlist\?/);
  const own = { formToken: asked.fields().formToken ?? '' };
  assert.equal((await send(`${kim.path}/confirm`, own)).status, 403);
  await send(`${kim.path}/confirm`, own, { cookie: kim.cookie });
  assert.match((await see(kim.path, kim.cookie)).text, /You're on the waitlist/);
  assert.equal((await see(kim.path)).status, 404);
  (await act(of, bookingId, 'cancel')).assertOk(200);
  const offered = await see(kim.path, kim.cookie);
  assert.match(offered.text, /A spot is available It is held for you until/);
  const taken = await send(`${kim.path}/take`, { ...offered.fields(), name: 'Kim' }, { cookie: kim.cookie });
  assert.equal(taken.status, 303, taken.text);
  assert.match((await see(taken.location)).text, /You have booked/);
  assert.match((await see(kim.path, kim.cookie)).text, /Booked\. Check your email/);

  const lou = await opened(await linkTo('waitlist-joined', 'lou@example.com', /\/waitlist\//));
  const { formToken = '' } = (await see(lou.path, lou.cookie)).fields();
  assert.equal((await send(`${lou.path}/leave`, { formToken })).status, 403);
  await send(`${lou.path}/leave`, { formToken }, { cookie: lou.cookie });
  assert.match((await see(lou.path, lou.cookie)).text, /You are no longer on the waitlist/);
  clock.advance(2 * DAY_MS + 1);
  await runTask(app.container, 'waitlist');
  const entries = (await app.request('GET', '/booking/waitlist?status=EXPIRED', { key: of.key })).assertOk(
    200,
  );
  assert.equal(entries.list('data').length, 2, 'who never confirmed is forgotten');
});

test('joining again emails the link again, and a page does not reveal who waits', async () => {
  const of = await creator();
  const id = await product(of, { type: 'LIVE_CLASS', priceCents: 0 });
  const wait = '2026-12-03T10:00:00.000Z';
  await open(of, { productId: id, startsAt: wait }, 'Holder');
  const path = `${await pageOf(of, id)}/waitlist`;
  const email = 'ona@example.com';
  const join = (address = email) => sendFromAnywhere(path, { wait, name: 'Ona', email: address });
  const first = await join();
  clock.advance(1.5 * DAY_MS);
  const again = await join();
  assert.deepEqual([again.status, again.text], [200, first.text]);
  const asked = /^Confirm your place on the waitlist: A lesson/;
  for (const subject of await mailsTo(email, 'waitlist-joined')) assert.match(subject, asked);
  clock.advance(DAY_MS);
  await runTask(app.container, 'waitlist');
  const entries = async () =>
    (await app.request('GET', `/booking/waitlist?productId=${id}`, { key: of.key })).assertOk(200);
  assert.equal((await entries()).at('data.0.status'), 'WAITING', 'the time begins anew');
  assert.equal((await entries()).at('data.0.confirmedAt'), null);

  assert.match((await confirmed(email)).text, /You're on the waitlist/);
  assert.equal((await entries()).at('data.0.confirmedAt'), clock.now().toISOString());
  assert.deepEqual((await join()).text, first.text);
  const subjects = await mailsTo(email, 'waitlist-joined');
  assert.equal(subjects.length, 3);
  assert.match(subjects.at(-1) ?? '', /^You are on the waitlist: A lesson/);
  assert.equal((await entries()).list('data').length, 1);

  // The limit of 20 per hour follows the clock: only the last of the three counts.
  assert.deepEqual(await statusesOf(20, () => join()), [...all(19, 200), 429]);
  assert.equal((await mailsTo(email, 'waitlist-joined')).length, 22);
  assert.equal((await join('new@example.com')).status, 200);
});

test('an entry that was not confirmed in time is asked to join again', async () => {
  const of = await creator();
  const id = await product(of, { priceCents: 0 });
  const path = await pageOf(of, id);
  const email = 'pat@example.com';
  await sendFromAnywhere(`${path}/waitlist`, { wait: 'any', email });
  clock.advance(2 * DAY_MS + 1);
  await runTask(app.container, 'waitlist');
  const entry = await opened(await linkTo('waitlist-joined', email, /\/waitlist\//));
  const late = await see(entry.path, entry.cookie);
  assert.match(late.text, /not confirmed within two days. Book, or join the waitlist again/);
  assert.equal(late.links(path).length, 2);
});

test('a partner vouches for a typed address and gets the same response as for any other', async () => {
  const of = await creator();
  const id = await product(of, { type: 'LIVE_CLASS', priceCents: 0 });
  const wait = '2026-12-04T10:00:00.000Z';
  const { bookingId } = await open(of, { productId: id, startsAt: wait }, 'Holder');
  const email = 'quinn@example.com';
  await sendFromAnywhere(`${await pageOf(of, id)}/waitlist`, { wait, name: 'Nonsense', email });
  const join = () =>
    app.request('POST', `/booking/products/${id}/waitlist`, {
      key: of.key,
      body: { email, name: 'Quinn', startsAt: wait },
    });
  const made = (await join()).assertOk(201);
  assert.deepEqual(
    [made.at('data.confirmedAt'), made.at('data.name'), made.at('data.position')],
    [clock.now().toISOString(), 'Quinn', 1],
  );
  assert.match((await mailsTo(email, 'waitlist-joined')).at(-1) ?? '', /^You are on the waitlist/);
  (await join()).assertError('CONFLICT', 'email');
  clock.advance(2 * DAY_MS + 1);
  await runTask(app.container, 'waitlist');
  (await act(of, bookingId, 'cancel')).assertOk(200);
  const path = `/booking/waitlist/${made.string('data.id')}`;
  assert.equal((await app.request('GET', path, { key: of.key })).at('data.status'), 'OFFERED');
  const events = (await app.request('GET', '/me/events?limit=100', { key: of.key })).assertOk(200);
  const joined = events.list('data').filter((row) => Object(row).type === 'booking.waitlist.joined');
  assert.equal(joined.length, 1);
});

test('unconfirmed addresses do not block a waitlist', async () => {
  const { sql } = app.container;
  const of = await creator();
  const id = await product(of, { priceCents: 0 });
  const path = `${await pageOf(of, id)}/waitlist`;
  const type = (count: number, name: string) =>
    sql`insert into waitlist_entry (id, workspace_id, product_id, email, position, confirmed_at, created_at, updated_at)
      select 'wl_' || ${name} || lpad(n::text, 20, '0'), workspace_id, id, ${name} || n || '@example.com', n, null, ${clock.now()},
        ${clock.now()} from booking_product, generate_series(1, ${count}::int) n where id = ${id}`;
  const join = (email: string) => sendFromAnywhere(path, { wait: 'any', email });
  const put = (email: string) =>
    app.request('POST', `/booking/products/${id}/waitlist`, { key: of.key, body: { email } });
  // The maximum that one IP can type in two days: ten per quarter-hour.
  await type(1920, 'a');
  assert.equal((await join('r1@example.com')).status, 200);
  await type(5000 - 1921, 'b');
  const full = await join('r2@example.com');
  assert.equal(full.status, 409);
  assert.match(full.text, /Try again tomorrow/);
  assert.equal((await join('r1@example.com')).status, 409, 'whether they wait or not');
  (await put('r2@example.com')).assertOk(201);
  await sql`update waitlist_entry set confirmed_at = created_at
    where product_id = ${id} and email like 'a%' and position < 1000`;
  (await put('r3@example.com')).assertError('CONFLICT');
  (await put('a1000@example.com')).assertOk(201);
});

test('an entry for any time that is confirmed late links to the slots that became available', async () => {
  const of = await creator();
  const id = await product(of, { priceCents: 0 });
  const path = await pageOf(of, id);
  const start = '2026-12-05T10:00:00.000Z';
  const { bookingId } = await open(of, { productId: id, startsAt: start }, 'Holder');
  const email = 'sam@example.com';
  await sendFromAnywhere(`${path}/waitlist`, { wait: 'any', email });
  (await act(of, bookingId, 'cancel')).assertOk(200);
  const waits = await confirmed(email);
  assert.match(waits.text, /Some times are available now: see available times/);
  assert.equal(waits.links(path).length, 2);
});
