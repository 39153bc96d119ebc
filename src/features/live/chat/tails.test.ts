import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { createChat } from '../../../../test/streams/chat.ts';
import { systemClock } from '../../../kernel/clock.ts';

const clock = new TestClock(systemClock.ms());
let app: TestApp;
let other: TestApp;
let key: string;
let accountId: string;

before(async () => {
  app = await startTestApp({ clock });
  other = await startTestApp({ clock, beside: app });
  const made = await app.createKey();
  ({ key } = made);
  accountId = made.account.id;
});
after(async () => {
  await other.close();
  await app.close();
});

const newChat = (settings: object = {}) => createChat(app, key, settings);

describe('a tail of the chat', () => {
  test('a tail resumes on another node with the missed messages, without those deleted since', async () => {
    const chat = await newChat();
    const tail = await chat.tail();
    await tail.waitFor('ready');
    await chat.say('seen');
    await tail.waitFor('message');
    const after = tail.lastId();
    await tail.close();
    const secret = await chat.say('secret');
    await chat.say('missed');
    (await chat.request('DELETE', `/${secret}`)).assertOk(200);
    await chat.set({ slowModeSec: 30 });
    const resumed = await chat.tail({ on: other, after });
    await resumed.waitFor('settings');
    await chat.say('live');
    await resumed.waitFor('message', 3);
    assert.deepEqual(
      resumed.messages.map(({ event }) => event),
      ['ready', 'message', 'deleted', 'settings', 'message', 'message'],
    );
    assert.deepEqual(
      resumed.data('message').map(({ text }) => text),
      ['missed', 'Slow mode: guests can post once every 30 seconds.', 'live'],
    );
    assert.deepEqual(resumed.data('deleted'), [{ messageId: secret, deletedAt: clock.now().toISOString() }]);
    assert.deepEqual(resumed.data('settings'), [{ chatMode: 'OPEN', slowModeSec: 30 }]);
    await resumed.close();
    const behind = await chat.tail({ after: `${clock.ms()}-1` });
    await behind.waitFor('ready');
    assert.deepEqual(behind.data('resync'), []);
    await behind.close();
  });

  test('a position of another stream or of a pruned entry gets resync, and the tail continues', async () => {
    const chat = await newChat();
    const foreign = await newChat();
    clock.advance(1);
    await foreign.say('x');
    const there = Object((await foreign.post('y')).assertOk(201).at('data')).eventId;
    clock.advance(1);
    await chat.say('x');
    await chat.say('y');
    const first = Object((await chat.request('GET', '?order=asc&limit=1')).at('data.0')).eventId;
    for (const [after, reason] of [
      [there, 'UNKNOWN_ID'],
      ['x', 'UNKNOWN_ID'],
    ] as const) {
      const tail = await chat.tail({ after });
      await tail.waitFor('resync');
      assert.deepEqual(tail.data('resync'), [{ reason, droppedAtLeast: null }]);
      await chat.say('now');
      await tail.waitFor('message');
      assert.deepEqual(
        tail.data('message').map(({ text }) => text),
        ['now'],
      );
      await tail.close();
    }
    clock.advance(600_001);
    const late = await chat.tail({ after: first });
    await late.waitFor('resync');
    assert.equal(late.data('resync')[0]?.reason, 'EXPIRED');
    await late.close();
  });

  test('a message posted during a clear is either cleared or retained completely', async () => {
    const chat = await newChat();
    const tail = await chat.tail();
    await tail.waitFor('ready');
    await Promise.all([
      ...Array.from({ length: 10 }, (_, n) => chat.say(`m${n}`)),
      chat.request('DELETE', ''),
      ...Array.from({ length: 10 }, (_, n) => chat.say(`n${n}`)),
    ]);
    await chat.say('end');
    await tail.waitFor('cleared');
    await tail.waitFor('message', 1);
    await chat.request('GET');
    const at = tail.messages.findIndex(({ event }) => event === 'cleared');
    await tail.waitFor('message', 1);
    const shown = (await chat.texts('?order=asc&limit=100')).filter((text) => text !== 'end');
    const clearedSeq = Number(tail.messages[at]?.id?.split('-')[1]);
    const kept = (await chat.request('GET', '?limit=100')).list('data').map((one) => Object(one).eventId);
    for (const eventId of kept)
      assert.ok(Number(eventId.split('-')[1]) > clearedSeq, `${eventId} was cleared`);
    assert.ok(shown.length <= 20);
    await tail.close();
  });
});

describe('moderation', () => {
  test('a deleted message keeps its position and loses its text', async () => {
    const chat = await newChat();
    const id = await chat.say('Unkind');
    (await chat.request('DELETE', `/${id}`)).assertOk(200);
    const [message] = (await chat.request('GET')).assertOk(200).list('data');
    assert.deepEqual([Object(message).text, Object(message).deletedAt], ['', clock.now().toISOString()]);
    (await chat.request('DELETE', `/${id}`)).assertError('NOT_FOUND');
    (await chat.request('DELETE', '/msg_00000000000000000000000000')).assertError('NOT_FOUND');
  });

  test('a cleared chat is empty, also for tails that resume', async () => {
    const chat = await newChat();
    const tail = await chat.tail();
    await tail.waitFor('ready');
    const after = tail.lastId();
    await chat.say('one');
    await chat.say('two');
    await tail.waitFor('message', 2);
    const cleared = (await chat.request('DELETE')).assertOk(200);
    assert.deepEqual(cleared.at('data'), { streamId: chat.id, before: clock.now().toISOString() });
    assert.deepEqual(await chat.texts(), []);
    await tail.waitFor('cleared');
    await tail.close();
    const back = await chat.tail({ after });
    await back.waitFor('cleared');
    assert.deepEqual(back.data('message'), []);
    assert.deepEqual(back.data('cleared'), [{ before: clock.now().toISOString() }]);
    await back.close();
  });

  test('a clear separates messages by time, whatever the clocks of their nodes', async () => {
    const chat = await newChat();
    const tail = await chat.tail();
    await tail.waitFor('ready');
    const timeOf = async (text: string) => (await chat.post(text)).assertOk(201).string('data.createdAt');
    const first = await timeOf('one');
    // A tail skips the text of messages that are cleared before it has read them.
    await tail.waitFor('message');
    // Simulates a post that was delayed before it took its position.
    clock.advance(-2000);
    const cleared = (await chat.request('DELETE')).assertOk(200).string('data.before');
    const second = await timeOf('two');
    assert.ok(first <= cleared, `${first} was cleared at ${cleared}`);
    assert.ok(second >= cleared, `${second} was not cleared at ${cleared}`);
    clock.advance(2000);
    await tail.waitFor('message', 2);
    assert.deepEqual(tail.data('cleared'), [{ before: cleared }]);
    assert.deepEqual(
      tail.data('message').map(({ createdAt }) => createdAt),
      [first, second],
    );
    await tail.close();
  });

  test('bans are created, changed, listed, expired and lifted', async () => {
    const chat = await newChat();
    const authorId = 'gst_01kafe3n4pfx2v9yq6m8d7t5zr';
    const ban = (body: object) => chat.request('POST', '/bans', body);
    const made = (await ban({ authorId, seconds: 600 })).assertOk(201);
    const id = made.string('data.id');
    assert.equal(made.string('data.expiresAt'), new Date(clock.ms() + 600_000).toISOString());
    assert.equal((await ban({ authorId })).assertOk(201).at('data.expiresAt'), null);
    assert.deepEqual(
      (await chat.request('GET', '/bans'))
        .assertOk(200)
        .list('data')
        .map((one) => Object(one).id),
      [id],
    );
    (await chat.request('DELETE', `/bans/${id}`)).assertOk(200);
    (await chat.request('DELETE', `/bans/${id}`)).assertError('NOT_FOUND');
    await ban({ authorId, seconds: 10 });
    clock.advance(10_000);
    assert.deepEqual((await chat.request('GET', '/bans')).assertOk(200).list('data'), []);
    // One more than the maximum of a stream: an author who is already banned may still get another end.
    await app.container.sql`
      insert into chat_ban (id, stream_id, author_id, created_at)
      select 'ban_' || n, ${chat.id}, 'gst_' || n, now() from generate_series(1, 999) n`;
    (await ban({ authorId })).assertOk(201);
    (await ban({ authorId, seconds: 60 })).assertOk(201);
    (await ban({ authorId: 'gst_01kafe3n4pfx2v9yq6m8d7t5zs' })).assertError('CONFLICT');
    (await ban({ authorId: accountId })).assertError('BAD_REQUEST', 'authorId');
    (await ban({ authorId: 'somebody' })).assertError('BAD_REQUEST', 'authorId');
    (await ban({ authorId, seconds: 0 })).assertError('BAD_REQUEST', 'seconds');
    (await ban({})).assertError('BAD_REQUEST', 'authorId');
  });
});
