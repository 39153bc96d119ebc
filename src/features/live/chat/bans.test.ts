import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { withLockContention } from '../../../../test/harness/with-lock-contention.ts';
import { createChat } from '../../../../test/streams/chat.ts';

const clock = new TestClock('2026-11-20T09:00:00Z');
const authorId = 'gst_01kafe3n4pfx2v9yq6m8d7t5zr';
let app: TestApp;
let key: string;

before(async () => {
  app = await startTestApp({ clock });
  ({ key } = await app.createKey());
});
after(() => app.close());

async function newChat() {
  const chat = await createChat(app, key);
  return {
    ...chat,
    ban: (body: object) => chat.request('POST', '/bans', body),
    lift: (id: string) => chat.request('DELETE', `/bans/${id}`),
  };
}

test('a ban after an expired one is new, and a ban in force gets another end', async () => {
  const chat = await newChat();
  const first = (await chat.ban({ authorId, seconds: 10 })).assertOk(201);
  clock.advance(5000);
  const longer = (await chat.ban({ authorId, seconds: 10 })).assertOk(201);
  for (const field of ['data.id', 'data.createdAt']) assert.equal(longer.at(field), first.at(field));
  clock.advance(10_000);
  const second = (await chat.ban({ authorId, seconds: 10 })).assertOk(201);
  assert.notEqual(second.at('data.id'), first.at('data.id'));
  assert.equal(second.at('data.createdAt'), clock.now().toISOString());
  (await chat.lift(first.string('data.id'))).assertError('NOT_FOUND');
  const listed = (await chat.request('GET', '/bans')).assertOk(200);
  assert.deepEqual(listed.at('data'), [second.at('data')]);
});

test('an expired ban cannot be lifted', async () => {
  const chat = await newChat();
  const made = (await chat.ban({ authorId, seconds: 10 })).assertOk(201);
  clock.advance(10_000);
  (await chat.lift(made.string('data.id'))).assertError('NOT_FOUND');
});

test('concurrent bans never exceed the maximum of a stream', async () => {
  const chat = await newChat();
  const { sql } = app.container;
  await sql`
    insert into chat_ban (id, stream_id, author_id, created_at)
    select 'ban_' || ${chat.id} || n, ${chat.id}, 'gst_' || n, now() from generate_series(1, 999) n`;
  const authors = Array.from({ length: 5 }, (_, n) => `gst_01kafe3n4pfx2v9yq6m8d7t5a${n}`);
  // All transactions have counted, or wait for one that counts, before any ban is written.
  const rows = authors.map((id) => ({ id, author_id: id, stream_id: chat.id, created_at: clock.now() }));
  const answers = await withLockContention(
    sql,
    (tx) => tx`insert into chat_ban ${tx(rows)}`,
    authors.map((authorId) => () => chat.ban({ authorId })),
    (tx) => tx`delete from chat_ban where id in ${tx(authors)}`,
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409]);
});
