import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
let account: TestAccount;
let key: string;
let count = 0;

before(async () => {
  app = await startTestApp({ clock });
  ({ account, key } = await app.createKey());
});
after(() => app.close());

const anyone = () => `person${++count}@example.com`;
const add = (body: object, by = key) => app.request('POST', '/subscribers', { key: by, body });
const list = async (query: string, by = key) =>
  (await app.request('GET', `/subscribers?${query}`, { key: by }))
    .assertOk(200)
    .list('data')
    .map((row) => Object(row).email);
const statusOf = async (email: string, by = key) => {
  const answer = await app.request('GET', `/subscribers?q=${encodeURIComponent(email)}`, { key: by });
  return answer.at('data.0.status');
};
const eventsOf = async (id: string, by = key) =>
  (await app.request('GET', '/me/events?type=subscriber.added,subscriber.removed&limit=100', { key: by }))
    .assertOk(200)
    .list('data')
    .map((event) => ({ type: Object(event).type, ...Object(event).data }))
    .filter(({ subscriberId }) => subscriberId === id)
    .sort((a, b) => a.sequence - b.sequence)
    .map(({ type, status, sequence }) => [type, status, sequence]);

/** Returns the confirmation emails to an address, oldest first, each with its two links. */
async function mailsTo(email: string) {
  const { mailbox, db } = app.container;
  const rows = await db
    .selectFrom('mail')
    .select('id')
    .where('recipient', '=', email)
    .orderBy('id')
    .execute();
  return Promise.all(
    rows.map(async ({ id }) => {
      const text = (await mailbox.get(id)).text ?? '';
      const link = (name: string) =>
        new RegExp(`http://marquee\\.test(/subscribers/\\S+/${name}\\?token=\\S+)`).exec(text)?.[1] ?? '';
      return { text, confirm: link('confirm'), leave: link('unsubscribe') };
    }),
  );
}

async function open(path: string, init: RequestInit = {}) {
  const answer = await fetch(app.url + path, { redirect: 'manual', ...init });
  return { status: answer.status, text: await answer.text() };
}
const send = (path: string, body: string | FormData = '') =>
  open(path, {
    method: 'POST',
    body,
    ...(typeof body === 'string' ? { headers: { 'content-type': 'application/x-www-form-urlencoded' } } : {}),
  });

describe('POST /subscribers', () => {
  test('a new subscriber gets a confirmation email, and each email address has one row', async () => {
    const email = anyone();
    const first = (
      await add({ email: `  ${email.toUpperCase()} `, name: ' Grace 🎬 ', source: 'shop' })
    ).assertOk(201);
    const { id } = Object(first.at('data'));
    assert.deepEqual(first.at('data'), {
      id,
      email,
      name: 'Grace 🎬',
      status: 'PENDING',
      source: 'shop',
      consentAt: null,
      createdAt: clock.now().toISOString(),
      mode: 'live',
    });
    const again = (await add({ email, name: 'Other' })).assertOk(200);
    assert.deepEqual(again.at('data'), first.at('data'));
    assert.equal((await mailsTo(email)).length, 1, 'once a day');
    assert.deepEqual(await eventsOf(id), [['subscriber.added', 'PENDING', 1]]);
    const events = await app.request('GET', '/me/events?type=subscriber.added', { key });
    assert.ok(!events.text.includes(email), 'no event has the address');
    clock.set('2026-11-21T00:00:00.000Z');
    (await add({ email })).assertOk(200);
    (await add({ email })).assertOk(200);
    assert.equal((await mailsTo(email)).length, 2, 'once more on the next day');
  });

  test('a subscriber with consent is confirmed without an email', async () => {
    const email = anyone();
    const consentAt = '2026-11-01T10:00:00.000+02:00';
    const row = (await add({ email, consentAt })).assertOk(201);
    assert.deepEqual(
      [row.at('data.status'), row.at('data.consentAt')],
      ['CONFIRMED', '2026-11-01T08:00:00.000Z'],
    );
    assert.equal(row.at('data.source'), 'API');
    assert.deepEqual(await mailsTo(email), []);
    const waits = anyone();
    (await add({ email: waits })).assertOk(201);
    assert.equal((await add({ email: waits, consentAt })).assertOk(200).at('data.status'), 'CONFIRMED');
  });

  test('concurrent requests for one email address create one row, one email and one event', async () => {
    const email = anyone();
    const answers = await Promise.all(Array.from({ length: 12 }, () => add({ email })));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [
      ...Array.from({ length: 11 }, () => 200),
      201,
    ]);
    assert.equal(new Set(answers.map((answer) => answer.string('data.id'))).size, 1);
    assert.equal((await mailsTo(email)).length, 1);
    assert.equal((await eventsOf(answers[0]?.string('data.id') ?? '')).length, 1);
  });

  test('unusual valid email addresses are accepted, and invalid ones rejected', async () => {
    const { key: by } = await app.createKey();
    const odd = [
      "o'hara@example.com",
      'a+b=c/d@example.com',
      '!#$%&*?^_`{|}~-@example.com',
      'a@b.co',
      'very.long.local.part@sub.domain.example.museum',
      'grün@xn--bcher-kva.example',
      '用户@xn--fsqu00a.xn--55qx5d',
      `${'a'.repeat(64)}@${'b'.repeat(60)}.example`,
    ];
    for (const email of odd) assert.equal((await add({ email }, by)).assertOk(201).at('data.email'), email);
    const bad = [
      '',
      ' ',
      'a',
      'a@',
      '@b.co',
      'a@b',
      'a b@c.de',
      'a@b..co',
      'a@@b.co',
      '<a@b.co>',
      'a@b.co,c@d.co',
      'a@b.co\nBcc: x@y.z',
      `${'a'.repeat(250)}@b.co`,
      `${'a'.repeat(400)}@b.co`,
    ];
    for (const email of bad) (await add({ email }, by)).assertError('BAD_REQUEST', 'email');
    for (const [body, field] of [
      [{}, 'email'],
      [{ email: 7 }, 'email'],
      [{ email: 'a@b.co\u0000' }, 'email'],
      [{ email: 'x@y.zz', name: 'x'.repeat(121) }, 'name'],
      [{ email: 'x@y.zz', name: 'a\nb' }, 'name'],
      [{ email: 'x@y.zz', source: 'x'.repeat(101) }, 'source'],
      [{ email: 'x@y.zz', consentAt: 'yesterday' }, 'consentAt'],
      [{ email: 'x@y.zz', consentAt: '2027-01-01T00:00:00Z' }, 'consentAt'],
    ] as const) {
      (await add(body, by)).assertError('BAD_REQUEST', field);
    }
    (await add({ email: 'x@y.zz', name: 'x'.repeat(1_100_000) }, by)).assertError('PAYLOAD_TOO_LARGE');
    assert.equal((await list('', by)).length, odd.length);
  });

  test('a key with the permission may add 100 subscribers per hour', async () => {
    const { key: by, account: owner } = await app.createKey();
    const email = anyone();
    await Promise.all(Array.from({ length: 100 }, () => add({ email }, by)));
    (await add({ email }, by)).assertError('RATE_LIMITED');
    const other = (await app.createKey({ account: owner })).key;
    (await add({ email }, other)).assertOk(200);
    const reader = (
      await app.createKey({ account: owner, scope: 'STANDARD', permissions: ['subscribers:read'] })
    ).key;
    (await add({ email }, reader)).assertError('PERMISSION_DENIED');
    assert.deepEqual(await list('', reader), [email]);
    const none = (await app.createKey({ account: owner, scope: 'STANDARD', permissions: ['videos:read'] }))
      .key;
    (await app.request('GET', '/subscribers', { key: none })).assertError('PERMISSION_DENIED');
  });
});

test('the list is filtered, searched and paged, and test mode has a separate one', async () => {
  const { key: by, account: owner } = await app.createKey();
  const consentAt = '2026-11-01T10:00:00Z';
  await add({ email: 'ada_l@example.com', name: 'Ada', consentAt }, by);
  await add({ email: 'grace@example.com', name: 'Grace Hopper', consentAt }, by);
  await add({ email: 'eve@other.example' }, by);
  assert.deepEqual(await list('', by), ['eve@other.example', 'grace@example.com', 'ada_l@example.com']);
  assert.deepEqual(await list('status=CONFIRMED,UNSUBSCRIBED', by), [
    'grace@example.com',
    'ada_l@example.com',
  ]);
  assert.deepEqual(await list('q=HOPPER', by), ['grace@example.com']);
  assert.deepEqual(await list(`q=${encodeURIComponent('a_l')}`, by), ['ada_l@example.com']);
  assert.deepEqual(await list('q=%25', by), []);
  (await app.request('GET', '/subscribers?status=GONE', { key: by })).assertError('BAD_REQUEST', 'status');
  const page = (await app.request('GET', '/subscribers?limit=2', { key: by })).assertOk(200);
  const cursor = encodeURIComponent(page.string('pagination.nextCursor'));
  assert.deepEqual(await list(`limit=2&cursor=${cursor}`, by), ['ada_l@example.com']);
  const test = (await app.createKey({ account: owner, mode: 'test' })).key;
  assert.deepEqual(await list('', test), []);
  const made = (await add({ email: 'ada_l@example.com' }, test)).assertOk(201);
  assert.equal(made.at('data.mode'), 'test');
  (await app.request('DELETE', `/subscribers/${made.string('data.id')}`, { key: by })).assertError(
    'NOT_FOUND',
  );
});

describe('links in emails', () => {
  test('a confirmation link confirms by a button only', async () => {
    const email = anyone();
    const id = (await add({ email })).string('data.id');
    const [mail] = await mailsTo(email);
    assert.ok(mail !== undefined);
    const page = await open(mail.confirm);
    assert.equal(page.status, 200);
    assert.ok(page.text.includes(email) && page.text.includes('<form'));
    assert.equal(await statusOf(email), 'PENDING', 'a GET changes nothing');
    for (const wrong of [
      mail.confirm.replace(/.$/, ''),
      mail.confirm.replace('token=', 'token=x'),
      mail.confirm.replace(id, 'sbr_00000000000000000000000000'),
      mail.leave.replace('unsubscribe', 'confirm'),
    ]) {
      assert.deepEqual([(await open(wrong)).status, (await send(wrong)).status], [404, 404], wrong);
    }
    const foreign = await open(mail.confirm, { method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } });
    assert.equal(foreign.status, 403);
    assert.equal(await statusOf(email), 'PENDING');
    for (const _ of [1, 2]) assert.equal((await send(mail.confirm)).status, 200);
    assert.equal(await statusOf(email), 'CONFIRMED');
    assert.deepEqual(await eventsOf(id), [['subscriber.added', 'PENDING', 1]]);
  });

  test('a confirmation link is valid for seven days', async () => {
    const email = anyone();
    await add({ email });
    const [mail] = await mailsTo(email);
    const began = clock.ms();
    clock.set(new Date(began + 7 * 86_400_000 - 1).toISOString());
    assert.equal((await open(mail?.confirm ?? '')).status, 200);
    clock.set(new Date(began + 7 * 86_400_000).toISOString());
    assert.equal((await send(mail?.confirm ?? '')).status, 404);
    assert.equal((await open(mail?.leave ?? '')).status, 200, 'whoever has a mail can leave');
  });

  test('an unsubscribe link works with one click, and a returning subscriber must confirm', async () => {
    for (const oneClick of ['List-Unsubscribe=One-Click', new FormData()]) {
      const email = anyone();
      const id = (await add({ email })).string('data.id');
      const [mail] = await mailsTo(email);
      assert.ok(mail !== undefined);
      if (typeof oneClick !== 'string') oneClick.append('List-Unsubscribe', 'One-Click');
      assert.ok((await open(mail.leave)).text.includes(email));
      assert.equal(await statusOf(email), 'PENDING', 'a GET changes nothing');
      assert.equal((await send(mail.leave.replace(/.$/, ''), oneClick)).status, 404);
      for (const _ of [1, 2]) assert.equal((await send(mail.leave, oneClick)).status, 200);
      assert.equal(await statusOf(email), 'UNSUBSCRIBED');
      assert.equal((await send(mail.confirm)).status, 404, 'the older link is void');
      const consentAt = clock.now().toISOString();
      assert.equal((await add({ email, consentAt })).assertOk(200).at('data.status'), 'PENDING');
      assert.equal((await mailsTo(email)).length, 1, 'it was asked today');
      assert.equal((await send(mail.confirm)).status, 404, 'and is void for ever');
      clock.set(new Date(clock.ms() + 86_400_000).toISOString());
      (await add({ email, consentAt })).assertOk(200);
      const [, second] = await mailsTo(email);
      assert.equal((await send(second?.confirm ?? '')).status, 200);
      assert.equal(await statusOf(email), 'CONFIRMED');
      assert.deepEqual(await eventsOf(id), [
        ['subscriber.added', 'PENDING', 1],
        ['subscriber.removed', 'UNSUBSCRIBED', 2],
        ['subscriber.added', 'PENDING', 3],
      ]);
    }
  });

  test('an unsubscribe is remembered after the row is deleted', async () => {
    const email = anyone();
    const id = (await add({ email })).string('data.id');
    const [mail] = await mailsTo(email);
    await send(mail?.leave ?? '');
    (await app.request('DELETE', `/subscribers/${id}`, { key })).assertOk(200);
    (await app.request('DELETE', `/subscribers/${id}`, { key })).assertError('NOT_FOUND');
    assert.equal((await eventsOf(id)).length, 2, 'it had left before');
    assert.equal((await send(mail?.leave ?? '')).status, 200);
    const anew = (await add({ email, consentAt: '2026-11-01T10:00:00Z' })).assertOk(201);
    assert.equal(anew.at('data.status'), 'PENDING');
    assert.equal((await mailsTo(email)).length, 1, 'nor is it asked twice a day');
    (await app.request('DELETE', `/subscribers/${anew.string('data.id')}`, { key })).assertOk(200);
    assert.deepEqual(
      (await eventsOf(anew.string('data.id'))).map(([type]) => type),
      ['subscriber.added', 'subscriber.removed'],
    );
    const rows = await app.container.db
      .selectFrom('subscriber_address')
      .selectAll()
      .where('unsubscribed_at', 'is not', null)
      .execute();
    assert.ok(rows.every((row) => !Buffer.from(row.email_hash).includes(email)));
  });

  test('links of a suspended account unsubscribe, but confirm nothing', async () => {
    const { key: by, account: owner } = await app.createKey();
    const email = anyone();
    await add({ email }, by);
    const [mail] = await mailsTo(email);
    await app.container.accounts.suspend(owner.email);
    assert.equal((await open(mail?.confirm ?? '')).status, 404);
    assert.equal((await send(mail?.leave ?? '')).status, 200);
    await app.container.accounts.unsuspend(owner.email);
    assert.equal(await statusOf(email, by), 'UNSUBSCRIBED');
  });
});

test('pending addresses are deleted after two days, and unsubscribed ones are retained', async () => {
  const { db } = app.container;
  const [asked, left] = [anyone(), anyone()];
  await add({ email: asked });
  await add({ email: left });
  await send((await mailsTo(left))[0]?.leave ?? '');
  clock.set(new Date(clock.ms() + 3 * 86_400_000).toISOString());
  const task = app.container.modules
    .flatMap((module) => module.tasks?.() ?? [])
    .find(({ name }) => name === 'unconfirmed subscribers');
  await task?.run();
  const rows = await db
    .selectFrom('subscriber_address')
    .select('unsubscribed_at')
    .where('workspace_id', '=', account.live)
    .execute();
  assert.ok(rows.length > 0 && rows.every((row) => row.unsubscribed_at !== null));
});
