import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestDatabase } from '../../../test/harness/database.ts';
import { findPoolExcess } from './state.ts';

test('pools that exceed 80 % of the connections of the server are reported', async (t) => {
  const { sql, close } = await createTestDatabase();
  t.after(close);
  const [row] = await sql<{ max: number }[]>`select current_setting('max_connections')::integer as max`;
  const max = row?.max ?? 0;
  const bound = Math.floor(0.8 * max);
  assert.equal(await findPoolExcess(sql, 10, bound), null);
  const excess = `the processes may open ${bound + 1} connections, more than 80 % of max_connections (${max})`;
  assert.equal(await findPoolExcess(sql, 10, bound + 1), excess);
  // A process is counted by the session in which it listens.
  const { unlisten } = await sql.listen('marquee', () => {});
  assert.equal(await findPoolExcess(sql, bound), excess);
  assert.equal(await findPoolExcess(sql, bound - 1), null);
  await unlisten();
});
