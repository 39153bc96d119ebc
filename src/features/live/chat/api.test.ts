import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { createChat } from '../../../../test/streams/chat.ts';
import { systemClock } from '../../../kernel/clock.ts';
import { counterKey } from '../../../platform/counters.ts';

const clock = new TestClock(systemClock.ms());
let app: TestApp;
let other: TestApp;
let key: string;
let keyId: string;
let accountId: string;

before(async () => {
  app = await startTestApp({ clock });
  other = await startTestApp({ clock, beside: app });
  const made = await app.createKey();
  ({ key, id: keyId } = made);
  accountId = made.account.id;
});
after(async () => {
  await other.close();
  await app.close();
});

const newChat = (settings: object = {}) => createChat(app, key, settings);

describe('a post', () => {
  test('a post returns the message as the history and the tails of every node show it', async () => {
    const chat = await newChat();
    const tails = await Promise.all([chat.tail(), chat.tail({ on: other })]);
    for (const tail of tails) await tail.waitFor('ready');
    const parent = await chat.say('Hello');
    const answer = (await chat.post({ text: 'Hello yourself', replyToId: parent })).assertOk(201);
    const { id, eventId, ...message } = Object(answer.at('data'));
    assert.match(id, /^msg_[0-9a-z]{26}$/);
    assert.match(eventId, /^\d+-2$/);
    const profile = (await app.request('GET', '/me', { key })).assertOk(200);
    assert.deepEqual(message, {
      streamId: chat.id,
      kind: 'MESSAGE',
      text: 'Hello yourself',
      author: {
        id: accountId,
        username: profile.string('data.username'),
        displayName: profile.at('data.name') ?? profile.string('data.username'),
        avatarUrl: null,
        badges: ['CREATOR'],
      },
      replyToId: parent,
      createdAt: clock.now().toISOString(),
      deletedAt: null,
    });
    const listed = (await chat.request('GET')).assertOk(200);
    assert.deepEqual(listed.at('data.0'), answer.at('data'));
    for (const tail of tails) {
      const [, second] = await tail.waitFor('message', 2);
      assert.deepEqual(JSON.parse(second?.data ?? ''), answer.at('data'));
      assert.equal(second?.id, eventId);
      await tail.close();
    }
  });

  test('a text has 1 to 500 code points, including joined ones', async () => {
    const chat = await newChat();
    const family = '👨\u200d👩\u200d👧\u200d👦';
    const text = family.repeat(71) + '🎉'.repeat(3);
    assert.equal([...text].length, 500);
    await chat.say(text);
    assert.deepEqual(await chat.texts(), [text]);
    (await chat.post(`${text}🎉`)).assertError('BAD_REQUEST', 'text');
    await chat.say('é'.repeat(500));
    for (const refused of [
      '',
      '   ',
      '\r\n',
      'a\rb',
      'a\n\rb',
      'a\u0000b',
      'a\u0007b',
      'a\u0085b',
      '\u200b\u200d',
      '\u202e',
    ]) {
      (await chat.post(refused)).assertError('BAD_REQUEST', 'text');
    }
    const rlo = 'photo\u202egpj.exe\nשלום';
    await chat.say(rlo);
    assert.equal((await chat.texts())[0], rlo, 'text is kept as it is; who shows it isolates it');
    await chat.say('one\r\ntwo\r\n');
    assert.equal((await chat.texts())[0], 'one\r\ntwo\r\n');
  });

  test('a repeated clientId within a minute returns the first message', async () => {
    const chat = await newChat();
    const same = { text: 'Once', clientId: 'c-1' };
    const ids = await Promise.all(Array.from({ length: 5 }, () => chat.say(same)));
    assert.equal(new Set(ids).size, 1);
    assert.equal(await chat.say({ ...same, text: 'Not said' }), ids[0]);
    assert.notEqual(await chat.say({ ...same, clientId: 'c-2' }), ids[0]);
    clock.advance(60_000);
    assert.notEqual(await chat.say(same), ids[0]);
    const elsewhere = await newChat();
    assert.notEqual(await elsewhere.say(same), ids[0]);
  });

  test('a message replies to an existing message of this chat', async () => {
    const chat = await newChat();
    const elsewhere = await (await newChat()).say('x');
    const gone = await chat.say('x');
    (await chat.request('DELETE', `/${gone}`)).assertOk(200);
    for (const replyToId of [elsewhere, gone, 'nonsense']) {
      (await chat.post({ text: 'x', replyToId })).assertError('BAD_REQUEST', 'replyToId');
    }
    await chat.say({ text: 'x', replyToId: null });
  });

  test('banned words are rejected in any case and with hidden characters', async () => {
    const chat = await newChat({ bannedWords: ['Spam', 'buy now', 'ﬁx', '広告', 'c++'] });
    for (const text of [
      'spam',
      'No SPAM!',
      's\u200bpam',
      'ＳＰＡＭ',
      'Buy  NOW.',
      'fix',
      'これは広告です',
      'C++',
    ]) {
      (await chat.post(text)).assertError('BAD_REQUEST', 'text');
    }
    for (const text of ['spammer', 'antispam', 'buy nowhere', 'prefix']) await chat.say(text);
    await chat.set({ bannedWords: [] });
    await chat.say('spam');
    const patch = (bannedWords: unknown) =>
      app.request('PATCH', `/streams/${chat.id}`, { key, body: { bannedWords } });
    (await patch(['!!'])).assertError('BAD_REQUEST', 'bannedWords.0');
    (await patch(['x'.repeat(51)])).assertError('BAD_REQUEST', 'bannedWords.0');
    (await patch(Array.from({ length: 201 }, () => 'x'))).assertError('BAD_REQUEST', 'bannedWords');
  });

  test('a post gets 409 while the chat is off; slow mode and chat mode do not limit keys', async () => {
    const chat = await newChat({ slowModeSec: 60, chatMode: 'TIER' });
    await chat.say('one');
    await chat.say('two');
    await chat.set({ chatMode: 'OFF' });
    (await chat.post('three')).assertError('CONFLICT');
    await chat.set({ chatMode: 'OPEN', chatEnabled: false });
    (await chat.post('three')).assertError('CONFLICT');
    assert.deepEqual(await chat.texts(), ['Chat is disabled.', 'two', 'one'], 'what was said can be read');
  });
});

test('changed settings are announced in the chat without an author', async () => {
  const chat = await newChat();
  await chat.say('one');
  await chat.set({ title: 'Another title' });
  await chat.set({ chatMode: 'FOLLOWERS', slowModeSec: 30 });
  await chat.set({ chatMode: 'OFF', slowModeSec: 5 });
  await chat.set({ chatMode: 'OPEN', slowModeSec: 0 });
  assert.deepEqual((await chat.texts()).toReversed(), [
    'one',
    'Chat is open to followers only.',
    'Slow mode: guests can post once every 30 seconds.',
    'Chat is disabled.',
    'Chat is open to everyone.',
    'Slow mode is off.',
  ]);
  const [newest] = (await chat.request('GET', '?limit=1')).assertOk(200).list('data');
  const { id, kind, author } = Object(newest);
  assert.equal(kind, 'SYSTEM');
  assert.deepEqual(author, { id: null, username: null, displayName: 'System', avatarUrl: null, badges: [] });
  (await chat.request('DELETE', `/${id}`)).assertOk(200);
});

describe('rate limits', () => {
  test('a key may post 60 messages per minute and stream', async () => {
    const chat = await newChat();
    for (let n = 0; n < 60; n++) (await chat.post('x')).assertOk(201);
    const refused = await chat.post('x');
    refused.assertError('RATE_LIMITED');
    const wait = Number(refused.headers['retry-after']);
    assert.ok(wait > 0 && wait <= 60, `${wait} s`);
    assert.ok(Number(refused.headers['x-ratelimit-remaining']) > 0);
    await (await newChat()).say('another stream');
    const second = await app.createKey({ account: { id: accountId, ...(await accountOf()) } });
    (
      await app.request('POST', `/streams/${chat.id}/chat`, { key: second.key, body: { text: 'x' } })
    ).assertOk(201);
  });

  test('a key may post 1,000 messages per day and stream, and Retry-After is the end of the nearer window', async () => {
    const chat = await newChat();
    const day = app.container.caps('day');
    const name = counterKey(`chat-day:key:${keyId}:${chat.id}`);
    for (let n = 0; n < 999; n++) await day.hit(name);
    await chat.say('the last of the day');
    const refused = await chat.post('x');
    refused.assertError('RATE_LIMITED');
    const dayEnds = Math.ceil((86_400_000 - (clock.ms() % 86_400_000)) / 1000);
    assert.equal(Number(refused.headers['retry-after']), dayEnds);
    const minute = app.container.caps(60);
    for (let n = 0; n < 60; n++) await minute.hit(counterKey(`chat:key:${keyId}:${chat.id}`));
    const both = await chat.post('x');
    both.assertError('RATE_LIMITED');
    assert.ok(Number(both.headers['retry-after']) <= Math.min(60, dayEnds));
  });
});

async function accountOf() {
  const row = await app.container.db
    .selectFrom('account')
    .select('email')
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow();
  const workspaces = await app.container.db
    .selectFrom('workspace')
    .select(['id', 'mode'])
    .where('account_id', '=', accountId)
    .execute();
  const of = (mode: string) => workspaces.find((one) => one.mode === mode)?.id ?? '';
  return { email: row.email, live: of('live'), test: of('test') };
}

describe('the history', () => {
  test('the history is paged in both orders and begins after an event or an instant', async () => {
    const chat = await newChat();
    const messages: { id: string; eventId: string; createdAt: string }[] = [];
    for (const text of ['1', '2', '3', '4', '5']) {
      clock.advance(1000);
      messages.push(Object((await chat.post(text)).assertOk(201).at('data')));
    }
    for (const order of ['desc', 'asc']) {
      const seen: string[] = [];
      let cursor = '';
      do {
        const page = (await chat.request('GET', `?limit=2&order=${order}${cursor}`)).assertOk(200);
        seen.push(...page.list('data').map((message) => Object(message).text));
        const next = page.at('pagination.nextCursor');
        cursor = typeof next === 'string' ? `&cursor=${encodeURIComponent(next)}` : '';
      } while (cursor !== '');
      assert.deepEqual(seen, order === 'asc' ? ['1', '2', '3', '4', '5'] : ['5', '4', '3', '2', '1']);
    }
    assert.deepEqual(await chat.texts(`?since=${messages[2]?.eventId}&order=asc`), ['4', '5']);
    assert.deepEqual(await chat.texts(`?since=${messages[2]?.createdAt}`), ['5', '4']);
    for (const since of [
      'yesterday',
      '2026-11-20T09:00:00',
      '0000-01-01T00:00:00Z',
      '2026-02-30T09:00:00Z',
    ]) {
      (await chat.request('GET', `?since=${since}`)).assertError('BAD_REQUEST', 'since');
    }
    (await chat.request('GET', '?limit=201')).assertError('BAD_REQUEST', 'limit');
    (await chat.request('GET', '?limit=200')).assertOk(200);
  });

  test('old messages are deleted', async () => {
    const chat = await newChat();
    await chat.say('old');
    clock.advance(31 * 86_400_000);
    await chat.say('new');
    await runTask('chat message cleanup');
    assert.deepEqual(await chat.texts(), ['new']);
  });
});

async function runTask(name: string) {
  const tasks = app.container.modules.flatMap((module) => module.tasks?.() ?? []);
  const task = tasks.find((one) => one.name === name);
  assert.ok(task !== undefined);
  await task.run();
}

test('another account can neither read nor write, and a key needs the permission', async () => {
  const chat = await newChat();
  const id = await chat.say('x');
  const stranger = await app.createKey();
  const path = `/streams/${chat.id}/chat`;
  for (const [method, more, body] of [
    ['GET', '', undefined],
    ['GET', '/tail', undefined],
    ['GET', '/bans', undefined],
    ['POST', '', { text: 'x' }],
    ['POST', '/bans', { authorId: 'gst_01kafe3n4pfx2v9yq6m8d7t5zr' }],
    ['DELETE', '', undefined],
    ['DELETE', `/${id}`, undefined],
  ] as const) {
    const options = { key: stranger.key, ...(body === undefined ? {} : { body }) };
    (await app.request(method, path + more, options)).assertError('NOT_FOUND');
  }
  const account = await accountOf();
  const reader = await app.createKey({
    account: { id: accountId, ...account },
    scope: 'STANDARD',
    permissions: ['streams:write', 'chat:read'],
  });
  const as = { key: reader.key };
  (await app.request('GET', path, as)).assertOk(200);
  (await app.request('POST', path, { ...as, body: { text: 'x' } })).assertError('PERMISSION_DENIED');
});
