import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { readByIds } from './read-by-ids.ts';

const IDS = Array.from({ length: 130 }, (_, n) => `id_${String(n).padStart(3, '0')}`);

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase({ pool: 1 });
  await database.sql`create table thing (id text primary key)`;
  await database.sql`insert into thing ${database.sql(IDS.map((id) => ({ id })))}`;
  await database.sql`analyze thing`;
});
after(() => database.close());

test('each of the ids gives its row once, however many there are', async () => {
  const read = readByIds<{ id: string }>(database.db, (db, among) => ({
    compile: () =>
      sql<{ id: string }>`select id from thing where ${among('id')} and id <> ${'id_001'}`.compile(db),
  }));
  for (const count of [0, 1, 2, 3, 5, 8, 33, 64, 65, 130]) {
    const rows = await read(IDS.slice(0, count).toReversed());
    const expected = IDS.slice(0, count).filter((id) => id !== 'id_001');
    assert.deepEqual(rows.map(({ id }) => id).sort(), expected, `${count} ids`);
  }
  assert.equal((await read(['missing'])).length, 0);
});

test('the server plans them once', async () => {
  const read = readByIds<{ id: string }>(database.db, (db, among) => ({
    compile: () => sql<{ id: string }>`select id from thing where ${among('id')}`.compile(db),
  }));
  for (let n = 0; n < 20; n++) await read([IDS[n] ?? '']);
  const [plans] = await database.sql`
    select generic_plans::int as generic, custom_plans::int as custom from pg_prepared_statements
    where statement = 'select id from thing where "id" = any(array[$1]::text[])'`;
  assert.deepEqual(plans, { generic: 15, custom: 5 });
});
