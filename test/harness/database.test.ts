import assert from 'node:assert/strict';
import { test } from 'node:test';
import postgres from 'postgres';
import { createTestDatabase } from './database.ts';
import { waitFor } from './wait-for.ts';

test('a test database is migrated, separate from others, and gone after close', async () => {
  const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  await one.sql`insert into account (id, email, password_hash, username) values ('a', 'a@b.c', '-', 'a')`;
  assert.equal((await one.db.selectFrom('account').select('id').execute()).length, 1);
  assert.equal((await two.db.selectFrom('account').select('id').execute()).length, 0);
  await one.close();
  const probe = postgres(two.url, { max: 1 });
  const name = new URL(one.url).pathname.slice(1);
  assert.deepEqual([...(await probe`select 1 from pg_database where datname = ${name}`)], []);
  await probe.end();
  await two.close();
});

test('an empty database has no tables', async () => {
  const t = await createTestDatabase({ empty: true });
  assert.deepEqual([...(await t.sql`select 1 from pg_tables where schemaname = 'public'`)], []);
  await t.close();
});

test('waitFor returns the value it found, and its timeout names the condition', async () => {
  let looks = 0;
  assert.equal(await waitFor(() => (++looks === 3 ? 'there' : null)), 'there');
  await assert.rejects(
    waitFor(() => false, { timeoutMs: 20, message: 'a miracle' }),
    /60 ms in vain for: a miracle/,
  );
});
