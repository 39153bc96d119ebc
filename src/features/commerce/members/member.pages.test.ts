import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { memberPage } from '../../../../test/money/member-page.ts';
import { creator } from '../../../../test/money/subscriber.ts';
import { addVideo, FOLDER, madeUpFiles } from '../../../../test/videos/fixture.ts';
import { HOUR_MS, MINUTE_MS } from '../../../kernel/durations.ts';
import { newId } from '../../../kernel/ids.ts';

let app: TestApp;
let other: TestApp;
let at: Awaited<ReturnType<typeof creator>>;
let tier: string;
const clock = new TestClock('2026-01-31T10:00:00Z');
before(async () => {
  app = await startTestApp({ clock });
  other = await startTestApp({ clock, beside: app });
  at = await creator(app);
  tier = await at.tier();
});
after(async () => {
  await other.close();
  await app.close();
});

const base = (owner = at) => `/members/${owner.username}/test`;

const { ask, submit, linkFor, enter, formTokenOf } = memberPage(
  () => app,
  () => base(),
);

test('the link is emailed to known customers, works once for 15 minutes, and reveals nothing to others', async () => {
  const { customer } = await at.subscribe(tier);
  const known = await (await submit(`${base()}/link`, { email: customer.email })).text();
  const unknown = await (await submit(`${base()}/link`, { email: 'nobody@example.com' })).text();
  assert.equal(known, unknown);
  assert.equal(await linkFor('nobody@example.com'), '');
  const token = await linkFor(customer.email);
  const elsewhere = await creator(app);
  const foreign = `${base(elsewhere)}/enter`;
  assert.equal((await submit(foreign, { token })).status, 404, 'it is of one creator');
  assert.equal((await submit(`/members/${at.username}/enter`, { token })).status, 404, 'and of one mode');
  const shown = await ask(`${base()}/enter?token=${token}`);
  assert.equal(shown.status, 200, 'a GET spends nothing');
  const entered = await submit(`${base()}/enter`, { token });
  assert.match(
    entered.headers.get('set-cookie') ?? '',
    /^member-wsp_\w+=[\w-]{43}; Max-Age=86400; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  assert.equal((await submit(`${base()}/enter`, { token })).status, 404, 'it works once');
  const late = await linkFor(customer.email);
  clock.advance(15 * MINUTE_MS);
  assert.equal((await submit(`${base()}/enter`, { token: late })).status, 404);
  const stored = await app.container.db.selectFrom('member_session').selectAll().execute();
  assert.ok(!JSON.stringify(stored).includes(entered.headers.get('set-cookie')?.slice(30, 60) ?? '?'));
});

test('the page has strict headers, and its session lasts a day', async () => {
  const { customer } = await at.subscribe(tier);
  const cookie = await enter(customer.email);
  const page = await ask(base(), cookie);
  assert.match(
    page.headers.get('content-security-policy') ?? '',
    /default-src 'none'.*form-action 'self'; frame-ancestors 'none'/,
  );
  const text = await page.text();
  assert.ok(text.includes(customer.email) && text.includes('Supporter') && text.includes('$5.00'));
  assert.ok(text.includes('ending in 4242'));
  assert.equal(
    (await ask(`${base()}?done=constructor`, cookie)).status,
    200,
    'a name of nothing that is done',
  );
  clock.advance(24 * HOUR_MS);
  assert.ok(!(await (await ask(base(), cookie)).text()).includes(customer.email));
});

test('members cancel, resume, switch and save a card; forms of other origins are rejected', async () => {
  const large = await at.tier({ name: 'Patron', priceCents: 900 });
  const { id, customer } = await at.subscribe(tier);
  const stranger = await at.subscribe(tier);
  const cookie = await enter(customer.email);
  const formToken = await formTokenOf(cookie);
  const send = (what: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}) =>
    submit(`${base()}/${what}`, { formToken, subscription: id, ...fields }, { cookie, ...headers });
  const flag = async () => (await at.get(id)).at('data.cancelAtPeriodEnd');

  assert.equal((await send('cancel', { formToken: 'x' })).status, 303);
  assert.equal((await send('cancel', {}, { 'sec-fetch-site': 'cross-site' })).status, 403);
  assert.equal((await send('cancel', { subscription: stranger.id })).status, 404);
  assert.equal(await flag(), false);
  assert.equal((await send('cancel')).headers.get('location'), `${base()}?done=cancel`);
  assert.equal(await flag(), true);
  assert.equal((await at.get(id)).at('data.cancelReason'), 'MEMBER_CANCELED');
  await send('resume');
  assert.equal(await flag(), false);
  assert.equal((await send('resume')).status, 409);
  await send('switch', { tier: large });
  assert.equal((await at.get(id)).at('data.tierId'), large);
  const refused = await send('card', { card: '4111 1111 1111 1111' });
  assert.equal(refused.status, 409);
  assert.ok(!(await refused.text()).includes('4111'));
  assert.equal((await send('card', { card: '4000 0000 0000 0341' })).status, 303);
  const saved = await (await ask(base(), cookie)).text();
  assert.match(saved, /Paid with visa ending in 4242/);
  assert.match(saved, /Pay with visa ending in 0341/);
  assert.equal((await send('use', { subscription: stranger.id })).status, 404);
  assert.equal((await send('use')).status, 303);
  assert.match(await (await ask(base(), cookie)).text(), /Paid with visa ending in 0341/);
  await send('leave');
  assert.ok(!(await (await ask(base(), cookie)).text()).includes(customer.email));
});

test('a charge to be confirmed with the bank is paid on the page, and not confirming it loses nothing', async () => {
  const { id, customer } = await at.subscribe(tier);
  const enterAgain = async () => {
    const cookie = await enter(customer.email);
    const fields = { formToken: await formTokenOf(cookie), subscription: id };
    return (what: string, more = {}) => submit(`${base()}/${what}`, { ...fields, ...more }, { cookie });
  };
  const send = await enterAgain();
  assert.equal((await send('pay')).status, 409, 'nothing is due');
  assert.equal((await send('card', { card: '4000 0000 0000 3220' })).status, 303);
  assert.equal((await send('use')).status, 303);
  const end = (await at.get(id)).string('data.currentPeriodEnd');
  clock.set(end);
  await runTask(app.container, 'subscriptions');
  const declined = (await at.get(id)).assertOk(200);
  assert.equal(declined.string('data.status'), 'PAST_DUE');
  assert.deepEqual((await at.mails(customer.email)).slice(-1), ['subscription-confirm']);

  const pay = await enterAgain();
  const left = (await pay('pay')).headers.get('location') ?? '';
  assert.match(left, /\/sandbox\/confirm\//);
  assert.equal((await pay('pay')).headers.get('location'), left, 'pressed twice');
  clock.advance(31 * MINUTE_MS);
  await runTask(app.container, 'open payments');
  const still = (await at.get(id)).assertOk(200);
  assert.deepEqual(
    [still.string('data.status'), still.at('data.nextChargeAt')],
    ['PAST_DUE', declined.at('data.nextChargeAt')],
  );
  const bank = (await pay('pay')).headers.get('location') ?? '';
  assert.notEqual(bank, left);
  const back = await submit(new URL(bank).pathname, { outcome: 'complete' });
  assert.ok((await back.text()).includes(`${base()}?done=pay`));
  await runTask(app.container, 'payment hints');
  assert.equal((await at.get(id)).string('data.status'), 'ACTIVE');
  assert.deepEqual(await at.told(id), ['created', 'payment_failed', 'recovered']);
  const rows = await app.container.db
    .selectFrom('purchase')
    .select('status')
    .where('subscription_id', '=', id)
    .execute();
  assert.deepEqual(
    rows.map(({ status }) => status),
    ['PAID', 'PAID'],
    'every try pays the same purchase',
  );
});

test('members-only content opens and closes on every node within a second', async () => {
  const owner = { ...at.account, live: at.account.test };
  const add = (columns: Parameters<typeof addVideo>[3]) =>
    addVideo(app.container, owner, madeUpFiles(), columns);
  const gold = await at.tier({ name: 'Gold' });
  const [forTier, forGold, forAny] = [
    await add({ visibility: 'TIER', tier_ids: [tier], title: 'For supporters' }),
    await add({ visibility: 'TIER', tier_ids: [gold] }),
    await add({ visibility: 'TIER' }),
  ];
  const sold = await add({ visibility: 'PURCHASE', price_cents: 1500, title: 'The film' });
  const { id, customer } = await at.subscribe(tier);
  const cookie = await enter(customer.email);
  const seen = async (video: string, on = app, who = cookie, file = 'master.m3u8') =>
    (await ask(`/v/${video}/${file}`, who, on)).status;
  for (const on of [app, other]) {
    assert.deepEqual(
      [await seen(forTier, on), await seen(forGold, on), await seen(forAny, on)],
      [200, 404, 200],
    );
    assert.equal(await seen(forTier, on, ''), 404);
    assert.equal(await seen(sold, on), 404);
  }
  assert.equal(await seen(forTier, app, cookie, `${FOLDER}/360p/s_00001.m4s`), 200);
  assert.equal(
    (await ask(`/v/${forTier}/master.m3u8`, cookie)).headers.get('cache-control'),
    'private, no-cache',
  );
  const page = await (await ask(base(), cookie)).text();
  assert.ok(page.includes('For supporters') && !page.includes('The film'));

  const locked = await (await ask(`/watch/${sold}`, cookie)).text();
  assert.ok(locked.includes('$15.00') && locked.includes(base()));
  assert.ok((await (await ask(`/watch/${forGold}`, cookie)).text()).includes('Gold'));
  assert.ok((await (await ask(`/watch/${forTier}`, cookie)).text()).includes('master.m3u8'));

  const { payments, events, db } = app.container;
  const { payment_method: method } = await db
    .selectFrom('subscription')
    .select('payment_method')
    .where('customer_id', '=', customer.id)
    .where('payment_method', 'is not', null)
    .limit(1)
    .executeTakeFirstOrThrow();
  const bought = await events.transaction((tx, append) =>
    payments.begin(tx, append, {
      workspaceId: at.account.test,
      customerId: customer.id,
      kind: 'VIDEO',
      videoId: sold,
      amountCents: 1500,
      discountCents: 0,
      discountCode: null,
      description: 'The film',
      key: `test:${sold}`,
      method,
      onSession: null,
    }),
  );
  await payments.settle(bought.paymentId);
  await waitFor(async () => (await seen(sold, other)) === 200);
  const refund = { workspaceId: at.account.test, purchaseId: bought.purchaseId, amountCents: null };
  const back = await db
    .transaction()
    .execute((tx) => payments.refund(tx, { ...refund, reason: null, requestId: 'r' }));
  await payments.settle(back.paymentId);
  await waitFor(async () => (await seen(sold, other)) === 404);

  (await at.post(id, 'simulate', { event: 'DISPUTED' })).assertOk(200);
  await waitFor(async () => (await seen(forTier, other)) === 404);
  (await at.post(id, 'simulate', { event: 'DISPUTE_WON' })).assertOk(200);
  await waitFor(async () => (await seen(forTier, other)) === 200);
  (await at.post(id, 'cancel', { atPeriodEnd: false })).assertOk(200);
  await waitFor(async () => (await seen(forTier, other, cookie, `${FOLDER}/360p/s_00001.m4s`)) === 404);
});

test('the form of a watch page creates a checkout only for the items offered there', async () => {
  const owner = { ...at.account, live: at.account.test };
  const add = (columns: Parameters<typeof addVideo>[3]) =>
    addVideo(app.container, owner, madeUpFiles(), columns);
  const [gold, silver] = [await at.tier({ name: 'Gold' }), await at.tier({ name: 'Silver' })];
  const film = await add({ visibility: 'PURCHASE', price_cents: 1500, title: 'The film' });
  const forGold = await add({ visibility: 'TIER', tier_ids: [gold] });
  const [open, closed] = [await add({ visibility: 'PUBLIC' }), await add({ visibility: 'PRIVATE' })];
  const stream = { title: 'Concert', visibility: 'TIER', tierIds: [silver] };
  const live = (await at.call('POST', '/streams', stream)).assertOk(201).string('data.id');
  const buy = (what: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}) =>
    submit(`/watch/${what}/buy`, fields, headers);
  const bought: [string, Record<string, string>, string][] = [
    [film, {}, 'Buy The film'],
    [forGold, { tier: gold }, 'Subscribe to Gold'],
    [live, { tier: silver }, 'Subscribe to Silver'],
  ];
  for (const [what, fields, words] of bought) {
    assert.match(await (await ask(`/watch/${what}`)).text(), new RegExp(`action="/watch/${what}/buy"`));
    const answer = await buy(what, fields, { 'sec-fetch-site': 'same-origin' });
    assert.equal(answer.status, 303);
    const to = answer.headers.get('location') ?? '';
    assert.match(to, /^\/checkout\/chk_\w+$/);
    const page = await (await ask(to)).text();
    assert.ok(page.includes(words), words);
  }
  assert.match(await (await ask(`/watch/${film}?checkout_id=x`)).text(), /Just paid\?/);
  for (const [what, fields] of [
    [forGold, { tier: silver }],
    [forGold, {}],
    [film, { tier: gold }],
    [open, {}],
    [closed, {}],
    [newId('vid'), {}],
  ] as const) {
    assert.equal((await buy(what, fields)).status, 404);
  }
  assert.equal((await buy(film, {}, { 'sec-fetch-site': 'cross-site' })).status, 403);
  const many = await Promise.all(Array.from({ length: 60 }, () => buy(newId('vid'))));
  assert.ok(many.some(({ status }) => status === 429));
});

test('the member page of an unknown username gets 404', async () => {
  assert.equal((await ask('/members/nobody-of-this-name')).status, 404);
});
