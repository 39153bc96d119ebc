import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { after, test } from 'node:test';
import { createTestDatabase } from '../../../test/harness/database.ts';
import { waitForDatabase } from './index.ts';

const database = await createTestDatabase();
after(() => database.close());

test('only the first connection queries the array types, and all connections use them', async () => {
  const target = new URL(database.url);
  const port = Number(target.port);
  let connections = 0;
  let asked = 0;
  const proxy = createServer((client) => {
    connections += 1;
    const server = connect(port, target.hostname);
    client.on('data', (bytes) => {
      if (bytes.includes('pg_catalog.pg_type')) asked += 1;
    });
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const)
      from.on('error', () => {}).pipe(to);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  target.port = String(typeof address === 'object' ? address?.port : 0);

  const { sql, close } = await waitForDatabase({ url: target.href, pool: 4, name: 'reach test' });
  const rows = await Promise.all(
    [1, 2, 3, 4].map((n) => sql`select pg_sleep(0.2), ${[n, n + 1]}::int[] as numbers, array['a'] as texts`),
  );
  assert.deepEqual(
    rows.map(([row]) => [row?.numbers, row?.texts]),
    [1, 2, 3, 4].map((n) => [[n, n + 1], ['a']]),
  );
  assert.equal(connections, 4);
  assert.equal(asked, 1);
  await close();
  proxy.close();
});
