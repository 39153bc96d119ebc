import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql as text } from 'kysely';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import type { TestResponse } from '../../../test/harness/response.ts';
import { runInSharedTransaction, withSharedTransaction } from './shared-transaction.ts';

let app: TestApp;
let key: string;

before(async () => {
  // Few connections, so that each has prepared each statement.
  app = await startTestApp({ env: { DATABASE_POOL: '3' } });
  ({ key } = await app.createKey());
});
after(() => app.close());

let made = 0;

/** Reads, writes and idempotent writes, several times. */
async function useEverything(): Promise<void> {
  const { db } = app.container;
  const answers: TestResponse[] = [];
  for (let round = 0; round < 4; round++) {
    made += 1;
    const idempotent = { 'idempotency-key': `stale-plan-${made}` };
    const created = await app.request('POST', '/streams', { key, body: { title: `Plain ${made}` } });
    const id = created.string('data.id');
    const body = { title: `Renamed ${made}` };
    answers.push(
      created,
      ...(await Promise.all([
        app.request('GET', `/streams/${id}`, { key }),
        app.request('GET', '/streams', { key }),
        app.request('PATCH', `/streams/${id}`, { key, body }),
        app.request('POST', '/streams', { key, body, headers: idempotent }),
        app.request('POST', '/webhooks', { key, body: { url: `https://x.example/${made}`, events: ['*'] } }),
      ])),
      await app.request('PATCH', `/streams/${id}`, {
        key,
        body,
        headers: { 'idempotency-key': `${id}-rename` },
      }),
      await app.request('DELETE', `/streams/${id}`, { key }),
    );
    await db.transaction().execute((tx) => tx.selectFrom('stream').selectAll().limit(1).execute());
  }
  for (const answer of answers) assert.ok(answer.status < 500, answer.text);
}

async function addColumns(): Promise<void> {
  for (const table of ['account', 'api_key', 'event', 'job', 'stream', 'webhook', 'workspace'])
    await app.container.sql.unsafe(`alter table ${table} add column stale_${made} text`);
}

test('a column that is added while the program runs fails no request', async () => {
  await useEverything();
  await addColumns();
  await useEverything();
});

test('a transaction whose prepared statement is stale runs again, with what it changed before', async () => {
  const { db, sql } = app.container;
  await text`create table stale_note (text text)`.execute(db);
  let runs = 0;
  const work = () =>
    db.transaction().execute(async (tx) => {
      runs += 1;
      await text`insert into stale_note values (${`run ${runs}`})`.execute(tx);
      const { rows } = await text`select * from stale_note where text <> ${''}`.execute(tx);
      return rows.length;
    });
  const shared = () => withSharedTransaction(sql, (transaction) => runInSharedTransaction(transaction, work));
  for (let i = 0; i < 9; i++) await work();
  for (const [column, run] of [work, shared].entries()) {
    const before = await sql`select from stale_note`;
    await sql.unsafe(`alter table stale_note add column column_${column} text`);
    runs = 0;
    const all = await Promise.all(Array.from({ length: 9 }, run));
    assert.ok(runs > 9, `${runs} runs`);
    const rows = await sql`select from stale_note`;
    assert.equal(rows.length, before.length + 9);
    assert.equal(all.length, 9);
  }
});
