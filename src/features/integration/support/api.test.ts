import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import type { StoredBody, TestAccount } from '../../../../test/harness/factories.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { createSupport } from './service.ts';

const NOW = '2026-11-20T09:00:00.000Z';
const DAY = 86_400_000;
const REQUEST_ID = '7c0b4f2e-3c1a-4c53-9a55-0c6f7a1c9d11';
const clock = new TestClock(NOW);
let app: TestApp;
let account: TestAccount;
let key: string;
/** The operator's side. */
let desk: ReturnType<typeof createSupport>;

before(async () => {
  app = await startTestApp({ clock });
  desk = createSupport(app.container);
});
after(() => app.close());
beforeEach(async () => {
  clock.set(NOW);
  account = await app.createAccount();
  ({ key } = await app.createKey({ account }));
});

const call = (method: string, path: string, options: { by?: string; body?: unknown } = {}) => {
  const { by = key, ...rest } = options;
  return app.request(method, `/support/tickets${path}`, { key: by, ...rest });
};
const post = (path: string, body: unknown = {}, by = key) => call('POST', path, { by, body });
const open = async (more: object = {}, by = key) =>
  (await post('', { subject: 'A question', message: 'Why?', ...more }, by)).assertOk(201).string('data.id');
const get = async (id: string, by = key) => (await call('GET', `/${id}`, { by })).assertOk(200);
const statusOf = async (id: string) => (await get(id)).at('data.status');
const ids = async (query = '', by = key) =>
  (await call('GET', query, { by }))
    .assertOk(200)
    .list('data')
    .map((row) => Object(row).id);

async function events(id: string): Promise<[string, Record<string, unknown>, string][]> {
  const rows = await app.container.sql<{ body: StoredBody; workspace_id: string }[]>`
    select body::json as body, workspace_id from event where body::json->'data'->>'ticketId' = ${id} order by seq`;
  return rows.map(({ body: { type, data }, workspace_id: workspace }) => [type, data, workspace]);
}

describe('a ticket', () => {
  test('a new ticket gets 201 with the whole resource and its defaults; its message is a separate resource', async () => {
    const made = (await post('', { subject: 'A question', message: 'Why?' })).assertOk(201);
    const id = made.string('data.id');
    assert.match(id, /^tkt_[0-9a-hjkmnp-tv-z]{26}$/);
    const ticket = {
      id,
      number: 1,
      subject: 'A question',
      category: 'OTHER',
      priority: 'NORMAL',
      status: 'OPEN',
      requestId: null,
      lastMessageAt: NOW,
      createdAt: NOW,
    };
    assert.deepEqual(made.at('data'), ticket);
    assert.deepEqual((await call('GET', '')).assertOk(200).list('data'), [ticket]);
    const read = await get(id);
    const message = { id: read.string('data.messages.0.id'), author: 'PARTNER', message: 'Why?' };
    assert.match(message.id, /^tkm_/);
    assert.deepEqual(read.at('data'), { ...ticket, messages: [{ ...message, createdAt: NOW }] });
    assert.deepEqual(await events(id), []);
  });

  test('takes category, priority and the id of a request; numbers count by account', async () => {
    await open();
    const body = { subject: 's', message: 'm', category: 'ABUSE', priority: 'HIGH' };
    const made = (await post('', { ...body, requestId: REQUEST_ID.toUpperCase() })).assertOk(201);
    const { number, category, priority, requestId } = Object(made.at('data'));
    assert.deepEqual([number, category, priority, requestId], [2, 'ABUSE', 'HIGH', REQUEST_ID]);
    const other = await app.createKey();
    assert.equal((await get(await open({}, other.key), other.key)).at('data.number'), 1);
  });

  const wrong: [body: object, field: string][] = [
    [{}, 'subject'],
    [{ subject: 's' }, 'message'],
    [{ subject: ' ', message: 'm' }, 'subject'],
    [{ subject: 'x'.repeat(201), message: 'm' }, 'subject'],
    [{ subject: 's', message: '\n ' }, 'message'],
    [{ subject: 's', message: 'x'.repeat(10_001) }, 'message'],
    [{ subject: 's', message: 'm', category: 'NONE' }, 'category'],
    [{ subject: 's', message: 'm', priority: 'URGENT' }, 'priority'],
    [{ subject: 's', message: 'm', requestId: 'mine' }, 'requestId'],
  ];
  for (const [body, field] of wrong) {
    test(`${JSON.stringify(body).slice(0, 60)} is 400 for ${field}`, async () => {
      (await post('', body)).assertError('BAD_REQUEST', field);
      assert.deepEqual(await ids(), []);
    });
  }

  test('a message of a megabyte is rejected, and one of maximum length is stored unchanged', async () => {
    (await post('', { subject: 's', message: 'x'.repeat(2 ** 20) })).assertError('PAYLOAD_TOO_LARGE');
    const message = `${'ä'.repeat(9_998)}\n<`;
    assert.equal((await get(await open({ message }))).at('data.messages.0.message'), message);
  });
});

describe('the conversation', () => {
  test('replies go in both directions and emit events', async () => {
    const id = await open();
    clock.advance(1000);
    const answered = await desk.answer(id, 'Because.');
    assert.equal(await statusOf(id), 'PENDING');
    clock.advance(1000);
    const reply = (await post(`/${id}/messages`, { message: 'I see.' })).assertOk(201);
    const said = { author: 'PARTNER', message: 'I see.', createdAt: clock.now().toISOString() };
    assert.deepEqual(reply.at('data'), { id: reply.string('data.id'), ...said });
    const read = await get(id);
    assert.deepEqual([read.at('data.status'), read.at('data.lastMessageAt')], ['OPEN', said.createdAt]);
    assert.deepEqual(
      read.list('data.messages').map((row) => [Object(row).author, Object(row).message]),
      [
        ['PARTNER', 'Why?'],
        ['STAFF', 'Because.'],
        ['PARTNER', 'I see.'],
      ],
    );
    assert.equal(read.at('data.messages.1.id'), answered.id);
    assert.deepEqual(await events(id), [
      ['support.ticket_replied', { ticketId: id, number: 1, sequence: 1 }, account.live],
    ]);
    const notices = (await app.request('GET', '/notifications', { key })).assertOk(200);
    assert.equal(notices.list('data').length, 1);
    assert.equal(notices.at('data.0.title'), 'Support ticket 1 has a reply');
    assert.deepEqual(notices.at('data.0.resource'), { type: 'SUPPORT_TICKET', id });
  });

  test('a reply reopens a resolved ticket and is rejected on a closed one', async () => {
    const id = await open();
    await desk.change(id, { status: 'RESOLVED' });
    assert.equal(await statusOf(id), 'RESOLVED');
    (await post(`/${id}/messages`, { message: 'No.' })).assertOk(201);
    assert.equal(await statusOf(id), 'OPEN');
    assert.equal((await post(`/${id}/close`)).assertOk(200).at('data.status'), 'CLOSED');
    (await post(`/${id}/messages`, { message: 'One more.' })).assertError('CONFLICT');
    await assert.rejects(desk.answer(id, 'One more.'), { code: 'CONFLICT' });
    await assert.rejects(desk.change(id, { status: 'RESOLVED' }), { code: 'CONFLICT' });
    assert.equal((await get(id)).list('data.messages').length, 2);
  });

  test('closing emits one event and is idempotent', async () => {
    const id = await open();
    await desk.answer(id, 'Because.');
    (await post(`/${id}/close`)).assertOk(200);
    assert.equal((await post(`/${id}/close`)).assertOk(200).at('data.status'), 'CLOSED');
    assert.deepEqual(
      (await events(id)).map(([type, { sequence }]) => [type, sequence]),
      [
        ['support.ticket_replied', 1],
        ['support.ticket_closed', 2],
      ],
    );
  });

  test('the worker closes tickets resolved for seven days, except reopened ones', async () => {
    const [kept, reopened] = [await open(), await open()];
    for (const id of [kept, reopened]) await desk.change(id, { status: 'RESOLVED' });
    clock.advance(DAY);
    // Repeating the change does not restart the seven days.
    await desk.change(kept, { status: 'RESOLVED' });
    (await post(`/${reopened}/messages`, { message: 'No.' })).assertOk(201);
    clock.advance(6 * DAY - 1);
    await runTask(app.container, 'resolved tickets');
    assert.equal(await statusOf(kept), 'RESOLVED');
    clock.advance(1);
    await runTask(app.container, 'resolved tickets');
    await runTask(app.container, 'resolved tickets');
    assert.deepEqual([await statusOf(kept), await statusOf(reopened)], ['CLOSED', 'OPEN']);
    assert.deepEqual(
      (await events(kept)).map(([type]) => type),
      ['support.ticket_closed'],
    );
  });

  for (const message of [undefined, '', ' ', 5, 'x'.repeat(10_001)]) {
    test(`the reply ${JSON.stringify(message)?.slice(0, 20)} is 400 for message`, async () => {
      const id = await open();
      (await post(`/${id}/messages`, { message })).assertError('BAD_REQUEST', 'message');
      if (typeof message === 'string') {
        await assert.rejects(desk.answer(id, message), { code: 'BAD_REQUEST', field: 'message' });
      }
      assert.equal((await get(id)).list('data.messages').length, 1);
    });
  }

  test('an answer that fails leaves no message and no event', async () => {
    const id = await open();
    const { sql } = app.container;
    await sql`create function refuse_notification() returns trigger language plpgsql
      as $$ begin raise exception 'no notifications today'; end $$`;
    await sql`create trigger refuse before insert on notification execute function refuse_notification()`;
    try {
      await assert.rejects(desk.answer(id, 'Because.'), /no notifications today/);
    } finally {
      await sql`drop trigger refuse on notification`;
      await sql`drop function refuse_notification`;
    }
    const read = await get(id);
    assert.deepEqual([read.at('data.status'), read.list('data.messages').length], ['OPEN', 1]);
    assert.deepEqual(await events(id), []);
    await desk.answer(id, 'Because.');
    assert.deepEqual(
      (await events(id)).map(([, { sequence }]) => sequence),
      [1],
    );
  });
});

describe('the list', () => {
  test('pages, newest first, and filters by status and category', async () => {
    const bill = await open({ category: 'BILLING' });
    const abuse = await open({ category: 'ABUSE' });
    const other = await open();
    await desk.change(abuse, { status: 'RESOLVED' });
    (await post(`/${bill}/close`)).assertOk(200);
    const first = (await call('GET', '?limit=2')).assertOk(200);
    assert.deepEqual(
      first.list('data').map((row) => Object(row).id),
      [other, abuse],
    );
    const cursor = first.string('pagination.nextCursor');
    assert.deepEqual(await ids(`?limit=2&cursor=${cursor}`), [bill]);
    (await call('GET', `?status=OPEN&cursor=${cursor}`)).assertError('BAD_REQUEST', 'cursor');
    assert.deepEqual(await ids('?status=RESOLVED,CLOSED'), [abuse, bill]);
    assert.deepEqual(await ids('?category=BILLING,OTHER&order=asc'), [bill, other]);
    assert.deepEqual(await ids('?category=BILLING&status=OPEN'), []);
    for (const field of ['status', 'category']) {
      (await call('GET', `?${field}=NONE`)).assertError('BAD_REQUEST', field);
    }
  });
});

describe('whose it is', () => {
  test('both modes of the account share it, and its events go where it was opened', async () => {
    const sandbox = (await app.createKey({ account, mode: 'test' })).key;
    const id = await open({}, sandbox);
    assert.deepEqual([await ids(), await ids('', sandbox)], [[id], [id]]);
    assert.equal((await get(id)).text, (await get(id, sandbox)).text);
    (await post(`/${id}/close`)).assertOk(200);
    assert.deepEqual(
      (await events(id)).map(([, , workspace]) => workspace),
      [account.test],
    );
  });

  test('another account sees nothing, and changes nothing', async () => {
    const id = await open();
    const foreign = (await app.createKey()).key;
    assert.deepEqual(await ids('', foreign), []);
    (await call('GET', `/${id}`, { by: foreign })).assertError('NOT_FOUND');
    (await post(`/${id}/messages`, { message: 'm' }, foreign)).assertError('NOT_FOUND');
    (await post(`/${id}/close`, {}, foreign)).assertError('NOT_FOUND');
    const read = await get(id);
    assert.deepEqual([read.at('data.status'), read.list('data.messages').length], ['OPEN', 1]);
  });

  test('a key needs the permission, and a scope that writes', async () => {
    const id = await open();
    const holding = async (...permissions: string[]) =>
      (await app.createKey({ account, scope: 'STANDARD', permissions })).key;
    const [none, reader] = [await holding('videos:write'), await holding('support:read')];
    const readOnly = (await app.createKey({ account, scope: 'READ_ONLY' })).key;
    (await call('GET', '', { by: none })).assertError('PERMISSION_DENIED');
    for (const [by, code] of [
      [reader, 'PERMISSION_DENIED'],
      [readOnly, 'INSUFFICIENT_SCOPE'],
    ] as const) {
      await get(id, by);
      (await post('', { subject: 's', message: 'm' }, by)).assertError(code);
      (await post(`/${id}/messages`, { message: 'm' }, by)).assertError(code);
      (await post(`/${id}/close`, {}, by)).assertError(code);
    }
    const writer = await holding('support:write');
    await get(await open({}, writer), writer);
  });
});

describe('limits', () => {
  test('10 new tickets an hour for each key, 25 that are not closed for each account', async () => {
    const newKey = async () => (await app.createKey({ account })).key;
    const made: string[] = [];
    for (let count = 0; count < 10; count++) made.push(await open());
    const refused = (await post('', { subject: 's', message: 'm' })).assertError('RATE_LIMITED');
    assert.match(refused.headers['retry-after'] ?? '', /^\d+$/);
    const second = await newKey();
    for (let count = 0; count < 10; count++) made.push(await open({}, second));
    // Five of eight concurrent requests get a slot.
    const third = await newKey();
    const crowd = await Promise.all(
      Array.from({ length: 8 }, () => post('', { subject: 's', message: 'm' }, third)),
    );
    assert.deepEqual(crowd.map(({ status }) => status).sort(), [201, 201, 201, 201, 201, 409, 409, 409]);
    (await post('', { subject: 's', message: 'm' }, third)).assertError('CONFLICT');
    const numbers = (await call('GET', '?limit=100&order=asc')).list('data').map((row) => Object(row).number);
    assert.deepEqual(
      numbers.toSorted((a, b) => a - b),
      Array.from({ length: 25 }, (_, index) => index + 1),
    );
    (await post(`/${made[0]}/close`)).assertOk(200);
    await open({}, third);
  });

  test('more tickets can be opened concurrently than there are database connections', async () => {
    const node = await startTestApp({ beside: app, clock, env: { DATABASE_POOL: '2' } });
    try {
      const body = { subject: 's', message: 'm' };
      const crowd = Array.from({ length: 8 }, () => node.request('POST', '/support/tickets', { key, body }));
      for (const answer of await Promise.all(crowd)) answer.assertOk(201);
    } finally {
      await node.close();
    }
  });

  test('200 messages of a ticket, then the partner opens another one', async () => {
    const id = await open();
    await app.container.sql`insert into support_message (id, ticket_id, author, message, created_at)
      select 'tkm_' || n, ${id}, 'PARTNER', 'm', now() from generate_series(1, 199) n`;
    (await post(`/${id}/messages`, { message: 'm' })).assertError('CONFLICT');
    await desk.answer(id, 'Please open another one.');
    assert.equal((await get(id)).list('data.messages').length, 201);
  });
});
