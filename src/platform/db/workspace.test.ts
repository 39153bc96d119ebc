import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { insertAccount } from '../../../test/harness/factories.ts';
import { withLockContention } from '../../../test/harness/with-lock-contention.ts';
import { lockWorkspace } from './workspace.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase({ pool: 3 });
});
after(() => database.close());

test('a transaction that waited for the workspace lock sees the current plan', async () => {
  const { db, sql } = database;
  const { live } = await insertAccount(db);
  const [owner] = await withLockContention(
    sql,
    (tx) => tx`select from workspace where id = ${live} for no key update`,
    [() => db.transaction().execute((tx) => lockWorkspace(tx, live))],
    (tx) =>
      tx`update account set plan = 'FREE' where id = (select account_id from workspace where id = ${live})`,
  );
  assert.equal(owner?.plan, 'FREE');
});
