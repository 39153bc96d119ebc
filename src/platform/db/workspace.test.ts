import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { insertAccount } from '../../../test/harness/factories.ts';
import { until } from '../../../test/harness/wait.ts';
import { lockWorkspace } from './workspace.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase({ pool: 3 });
});
after(() => database.close());

test('whoever waited for the workspace is told the plan of now', async () => {
  const { db, sql } = database;
  const { live } = await insertAccount(db);
  const [locked, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = db.transaction().execute(async (tx) => {
    await lockWorkspace(tx, live);
    locked.resolve();
    await changed.promise;
  });
  await locked.promise;
  const second = db.transaction().execute((tx) => lockWorkspace(tx, live));
  await until(async () => {
    const [row] = await sql`
      select count(*)::int as n from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    return row?.n === 1;
  });
  await sql`update account set plan = 'FREE' where id = (select account_id from workspace where id = ${live})`;
  changed.resolve();
  await first;
  assert.equal((await second).plan, 'FREE');
});
