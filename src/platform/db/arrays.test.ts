import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { ARRAY_OIDS } from './arrays.ts';
import { openDatabase } from './index.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase({ pool: 1 });
});
after(() => database.close());

/** What the server makes of a parameter, and we of what it answers. */
async function roundTrip(type: string, value: readonly (string | number | null)[]): Promise<unknown> {
  const [row] = await database.sql.unsafe<{ value: unknown }[]>(`select $1::${type}[] as value`, [
    [...value],
  ]);
  return row?.value;
}

test('arrays come back as they went', async () => {
  const texts = ['', ' ', 'a', 'NULL', 'null', '{}', 'a,b', '"', '\\', '\\"', "'", 'ä ليلة 🎬', '\n\t', null];
  assert.deepEqual(await roundTrip('text', texts), texts);
  assert.deepEqual(await roundTrip('text', []), []);
  assert.deepEqual(await roundTrip('int', [1, -2, 2_147_483_647]), [1, -2, 2_147_483_647]);
  assert.deepEqual(await roundTrip('bigint', [0, 2 ** 53 - 1]), [0, 2 ** 53 - 1]);
  assert.deepEqual(await roundTrip('float8', [0.5, 1e300, -1e-7]), [0.5, 1e300, -1e-7]);
  assert.deepEqual(await roundTrip('timestamptz', ['2026-11-20T09:00:00.125Z']), [
    new Date('2026-11-20T09:00:00.125Z'),
  ]);
  const uuid = '5b1c1d1e-0000-4000-8000-000000000000';
  assert.deepEqual(await roundTrip('uuid', [uuid]), [uuid]);
  assert.deepEqual(await roundTrip('jsonb', ['{"a": "x,\\"y\\""}', 'null']), [{ a: 'x,"y"' }, null]);
  assert.deepEqual(await roundTrip('bytea', ['\\x00ff']), [Buffer.from([0, 255])]);
  const [row] = await database.sql`select array[true, false] as flags, array[array[1]]::text as nested`;
  assert.deepEqual(row, { flags: [true, false], nested: '{{1}}' });
});

test('every array of the schema has a type that is known', async () => {
  const rows = await database.sql<{ oid: number; name: string }[]>`
    select distinct t.oid, a.attrelid::regclass || '.' || a.attname as name
    from pg_attribute a join pg_type t on t.oid = a.atttypid
    join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
    where t.typcategory = 'A' and n.nspname = 'public' and c.relkind in ('r', 'p')`;
  assert.ok(rows.length > 3);
  const unknown = rows.filter(({ oid }) => !ARRAY_OIDS.includes(oid)).map(({ name }) => name);
  assert.deepEqual(unknown, []);
});

/** Of the server, with nothing but a code: https://www.postgresql.org/docs/18/protocol-message-formats.html */
function message(kind: string, ...content: number[]): Buffer {
  return Buffer.from([kind.charCodeAt(0), 0, 0, 0, 4 + content.length, ...content]);
}

test('a server that hangs up on a new connection fails its query, and nothing else', async (t) => {
  const hangUp = (socket: Socket) => {
    let asked = 0;
    socket.on('error', () => {});
    socket.on('data', () => {
      asked += 1;
      // AuthenticationOk, ReadyForQuery.
      if (asked === 1)
        socket.write(Buffer.concat([message('R', 0, 0, 0, 0), message('Z', 'I'.charCodeAt(0))]));
      else socket.destroy();
    });
  };
  const server = createServer(hangUp).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const { sql } = openDatabase({ url: `postgres://x:y@127.0.0.1:${port}/x`, pool: 1, name: 'test' });
  t.after(() => sql.end({ timeout: 0 }));
  // A rejection that nobody handles would fail the test, too.
  await assert.rejects(sql`select 1`, { code: 'CONNECTION_CLOSED' });
});
