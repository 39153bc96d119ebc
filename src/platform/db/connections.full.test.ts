import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createTestDatabase } from '../../../test/harness/database.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { waitForDatabase } from './index.ts';

const database = await createTestDatabase({ pool: 1 });
after(() => database.close());

test('the connections of a load peak are closed, even while statements arrive one after another', async () => {
  const { sql, close } = await waitForDatabase({ url: database.url, pool: 8, name: 'busy moment' });
  const open = async () => {
    const [row] = await database.sql`
      select count(*)::integer as count from pg_stat_activity where application_name = 'busy moment'`;
    return Number(row?.count);
  };
  await Promise.all(Array.from({ length: 8 }, () => sql`select pg_sleep(0.2)`));
  assert.equal(await open(), 8);
  const left = async () => {
    await sql`select 1`;
    return (await open()) <= 2;
  };
  await waitFor(left, { timeoutMs: 60_000, message: 'six of eight connections to end' });
  await close();
});
