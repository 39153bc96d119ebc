import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { openDatabase } from './index.ts';
import { CUSTOM_PLAN } from './page.ts';
import { afterCommit, runInSharedTransaction, withSharedTransaction } from './shared-transaction.ts';

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase({ pool: 3 });
  await sql`create table note (text text primary key)`.execute(database.db);
});
after(() => database.close());

const insert = (text: string, db = database.db) => sql`insert into note values (${text})`.execute(db);

async function notes(prefix: string): Promise<string[]> {
  const rows = await database.sql<{ text: string }[]>`
    select text from note where text like ${`${prefix}%`} order by text`;
  return rows.map(({ text }) => text);
}

/** Ends every session of this database that is in a transaction, but the one that asks. */
async function endTransactions(): Promise<void> {
  await waitFor(async () => {
    const rows = await database.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and state = 'idle in transaction' and pid <> pg_backend_pid()`;
    return rows.length > 0;
  });
}

test('a transaction whose session is lost fails; the process and the pool continue', async () => {
  for (const round of [1, 2, 3, 4, 5]) {
    const work = database.db.transaction().execute(async (tx) => {
      await insert(`lost ${round}`, tx);
      await endTransactions();
      await waitFor(() =>
        sql`select 1`.execute(tx).then(
          () => false,
          () => true,
        ),
      );
      return sql`select 1`.execute(tx);
    });
    await assert.rejects(work);
  }
  assert.deepEqual(await notes('lost'), []);
  // The driver reports each loss again, to the first query of the next connection.
  await Promise.allSettled(Array.from({ length: 3 }, () => database.sql`select pg_sleep(0.05)`));
  const results = await Promise.all(Array.from({ length: 20 }, () => database.sql`select 1 as one`));
  assert.ok(results.every(([row]) => row?.one === 1));
});

test('no server compiles our statements, or takes a table for nearer than an index', async () => {
  const [row] = await database.sql`
    select current_setting('jit') as jit, current_setting('random_page_cost')::float8 as cost`;
  assert.deepEqual(row, { jit: 'off', cost: 1.1 });
});

test('a statement is prepared wherever its text begins, unless it is planned with its values', async () => {
  const own = await createTestDatabase({ pool: 1 });
  try {
    await sql`select ${'beside'}::text`.execute(own.db);
    await sql`
      select ${'below'}::text`.execute(own.db);
    await sql`
      ${CUSTOM_PLAN} select ${'with values'}::text`.execute(own.db);
    const rows =
      await own.sql`select trim(statement, E' \n') as text from pg_prepared_statements where not from_sql`;
    const texts = rows.map((row) => String(row.text)).filter((text) => text.startsWith('select $1'));
    assert.deepEqual(texts, ['select $1::text', 'select $1::text']);
  } finally {
    await own.close();
  }
});

test('an instant is read as it was written, whatever the zone of the server', async () => {
  const instants = ['0001-01-01T00:00:00.000Z', '0099-12-31T23:59:59.999Z', '1850-06-01T12:00:00.000Z'];
  instants.push('1900-01-01T00:00:00.000Z', '2026-10-25T00:30:00.000Z', '9999-12-31T23:59:59.999Z');
  await database.sql`alter database ${database.sql(new URL(database.url).pathname.slice(1))}
    set timezone = 'Europe/Amsterdam'`;
  const { sql: another, close } = openDatabase({ url: database.url, pool: 1, name: 'another' });
  const rows = await another<{ at: Date }[]>`select unnest(${instants}::timestamptz[]) as at`;
  await close();
  assert.deepEqual(
    rows.map(({ at }) => at.toISOString()),
    instants,
  );
});

test('a commit after a statement that failed is an error, not a silent rollback', async () => {
  const work = database.db.transaction().execute(async (tx) => {
    await insert('silent', tx);
    await insert('silent', tx).catch(() => {});
  });
  await assert.rejects(work, /a statement of this transaction had failed/);
  assert.deepEqual(await notes('silent'), []);
});

test('code in a shared transaction uses it without knowing, and its actions wait for the commit', async () => {
  const done: string[][] = [];
  await withSharedTransaction(database.sql, (transaction) =>
    runInSharedTransaction(transaction, async () => {
      await Promise.all([insert('shared a'), insert('shared b')]);
      await database.db.transaction().execute((tx) => insert('shared c', tx));
      afterCommit(() => done.push(['after']));
      done.push(await notes('shared'));
      return true;
    }),
  );
  assert.deepEqual(done, [[], ['after']]);
  assert.deepEqual(await notes('shared'), ['shared a', 'shared b', 'shared c']);
});

test('null rolls a shared transaction back, and nothing waits for its commit', async () => {
  let acted = false;
  const result = await withSharedTransaction(database.sql, (transaction) =>
    runInSharedTransaction(transaction, async () => {
      await insert('null');
      afterCommit(() => {
        acted = true;
      });
      return null;
    }),
  );
  assert.equal(result, null);
  assert.equal(acted, false);
  assert.deepEqual(await notes('null'), []);
});

test('transactions that overlap are not half lost in silence', async () => {
  const work = withSharedTransaction(database.sql, (transaction) =>
    runInSharedTransaction(transaction, async () => {
      const first = Promise.withResolvers<void>();
      const second = Promise.withResolvers<void>();
      const failing = database.db.transaction().execute(async (tx) => {
        await insert('overlap 1', tx);
        first.resolve();
        await second.promise;
        throw new Error('the first one fails');
      });
      await first.promise;
      const other = database.db.transaction().execute(async (tx) => {
        await insert('overlap 2', tx);
        second.resolve();
        await failing.catch(() => {});
      });
      await other;
      return true;
    }),
  );
  await assert.rejects(work, /a transaction that overlaps this one was rolled back/);
  assert.deepEqual(await notes('overlap'), []);
});

test('unawaited work runs on the pool after the shared transaction has ended', async () => {
  let late: Promise<unknown> = Promise.resolve();
  const over = Promise.withResolvers<void>();
  await withSharedTransaction(database.sql, (transaction) =>
    runInSharedTransaction(transaction, async () => {
      late = over.promise.then(() => insert('late'));
      return true;
    }),
  );
  over.resolve();
  await late;
  assert.deepEqual(await notes('late'), ['late']);
});
