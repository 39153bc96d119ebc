import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import postgres from 'postgres';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { ROOT } from '../root.ts';
import { isConcurrent, runConcurrently } from './concurrent-indexes.ts';
import { knownMigrations, migrate } from './migrate.ts';
import { readPhase } from './migration-phase.ts';
import { readDatabaseState } from './state.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase({ empty: true });
});
after(() => database.close());

const MIGRATION = `
-- Lists of notes.
create index concurrently note_text on note (text, id desc)
  where text <> '';
create unique index concurrently note_number on note (number);
drop index concurrently note_old;
create index concurrently line_text on line (text);
`;

const indexes = async () => {
  const rows = await database.sql<{ name: string; valid: boolean }[]>`
    select relname as name, indisvalid as valid from pg_index join pg_class on pg_class.oid = indexrelid
    where relname ~ '^(note|line)_' and relname !~ 'pkey' order by relname`;
  return rows.map(({ name, valid }) => `${name} ${valid ? 'is whole' : 'is not'}`);
};
const WHOLE = [
  ...['line_text is whole', 'line_text_a is whole', 'line_text_b is whole'],
  ...['note_number is whole', 'note_text is whole'],
];

test('indexes are built concurrently, however often that was broken off', async () => {
  const { sql, url } = database;
  await sql.unsafe(`
    create table note (id integer primary key, number integer, text text);
    create index note_old on note (text);
    insert into note values (1, 1, 'a'), (2, 1, 'b');
    create table line (at integer, text text) partition by list (at);
    create table line_a partition of line for values in (1);
    create table line_b partition of line for values in (2);`);
  assert.ok(isConcurrent(MIGRATION));
  const session = await sql.reserve();
  try {
    // Two rows share a number, so the remaining index is invalid.
    await assert.rejects(runConcurrently(session, MIGRATION), /could not create unique index/);
    assert.ok((await indexes()).includes('note_number is not'));
    await sql`delete from note where id = 2`;

    const [writer, other] = [postgres(url, { max: 1 }), postgres(url, { max: 1 })];
    let ran: Promise<void> | null = null;
    await writer.begin(async (tx) => {
      await tx`insert into note values (3, 3, 'c')`;
      ran = runConcurrently(session, MIGRATION);
      await waitFor(async () => (await sql`select from pg_locks where not granted`).length > 0);
      // The index build waits for this transaction, and no other transaction waits for the build.
      await other`set lock_timeout = '5s'`;
      await other`insert into note values (4, 4, 'd')`;
    });
    await ran;
    await Promise.all([writer.end(), other.end()]);
    assert.deepEqual(await indexes(), WHOLE);
    await sql`create table line_c partition of line for values in (3)`;
    await runConcurrently(session, MIGRATION);
    assert.deepEqual(
      (await indexes()).filter((one) => !one.startsWith('line_c')),
      WHOLE,
    );
    await assert.rejects(runConcurrently(session, 'delete from note;'), /cannot be repeated/);
  } finally {
    session.release();
  }
});

test('an index that has replaced another one is not built again', async (t) => {
  const { sql, close } = await createTestDatabase({ empty: true });
  t.after(close);
  await sql.unsafe(`
    create table note (id integer primary key, number integer);
    create index note_list on note (number);
    create table line (at integer, number integer) partition by list (at);
    create table line_a partition of line for values in (1);
    create index line_list on line (number);`);
  const replacing = (table: string) => `
    create index concurrently ${table}_list_new on ${table} (number desc);
    drop index concurrently ${table}_list;
    alter index ${table}_list_new rename to ${table}_list;`;
  const known = () => sql`
    select relname, relfilenode, pg_get_indexdef(oid) as made from pg_class where relname ~ '^(note|line).*list' order by 1`;
  const migration = replacing('note') + replacing('line');
  const session = await sql.reserve();
  try {
    // Run only up to this statement, as if the process had been killed.
    await runConcurrently(session, migration.slice(0, migration.lastIndexOf('drop index')));
    await runConcurrently(session, migration);
    const once = await known();
    assert.match(once.find(({ relname }) => relname === 'line_list')?.made, /number DESC/);
    assert.match(once.find(({ relname }) => relname === 'note_list')?.made, /number DESC/);
    await runConcurrently(session, migration);
    assert.deepEqual(await known(), once);
  } finally {
    session.release();
  }
});

test('nodes that start together wait for the one that migrates', async (t) => {
  const { sql, url, close } = await createTestDatabase({ empty: true });
  t.after(close);
  const other = postgres(url, { max: 1, onnotice: () => {} });
  const [first, second] = await Promise.all([migrate(sql), migrate(other)]);
  assert.equal(Math.min(first.length, second.length), 0);
  assert.ok(first.length + second.length > 0);
  await other.end();
});

describe('a database of a newer version', () => {
  let newer: TestDatabase;
  before(async () => {
    newer = await createTestDatabase();
    await newer.sql`insert into migration (name, phase) values ('9998_later.sql', 'expand')`;
  });
  after(() => newer.close());
  const tooNew =
    'the database is too new for this version: it has 9999_later.sql; start the version that applied it or a newer one, or restore a backup';

  test('is accepted while its unknown migrations only expand', async () => {
    assert.deepEqual(await migrate(newer.sql), []);
    const { newerObstacle, unknown } = await readDatabaseState(newer.sql);
    assert.deepEqual([newerObstacle, unknown], [null, ['9998_later.sql']]);
  });

  for (const phase of ['contract', null])
    test(`is rejected with an unknown migration of phase ${phase}, and stays unchanged`, async () => {
      const { sql } = newer;
      await sql`insert into migration (name, phase) values ('9999_later.sql', ${phase})`;
      await assert.rejects(migrate(sql), { message: tooNew });
      // Something is pending as well.
      await sql`update migration set name = '9997_other.sql', phase = 'expand' where name = '0010_insight.sql'`;
      const applied = await sql`select * from migration order by name`;
      await assert.rejects(migrate(sql), { message: tooNew });
      assert.deepEqual(await sql`select * from migration order by name`, applied);
      await sql`update migration set name = '0010_insight.sql', phase = null where name = '9997_other.sql'`;
      await sql`delete from migration where name = '9999_later.sql'`;
      assert.deepEqual(await migrate(sql), []);
    });
});

test('a database without recorded phases is current, and records those of its next migrations', async (t) => {
  const { sql, close } = await createTestDatabase({ empty: true });
  t.after(close);
  const known = await knownMigrations();
  await migrate(sql);
  const phases = await Promise.all(
    known.map(async (name) => ({
      name,
      phase: readPhase(await readFile(join(ROOT, 'migrations', name), 'utf8')),
    })),
  );
  assert.deepEqual([...(await sql`select name, phase from migration order by name`)], phases);
  await sql`alter table migration drop column phase`;
  assert.deepEqual(await migrate(sql), []);
  assert.deepEqual((await readDatabaseState(sql)).newerObstacle, null);
});
