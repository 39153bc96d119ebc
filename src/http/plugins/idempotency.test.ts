import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { TestClock } from '../../../test/harness/clock.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { insertAccount } from '../../../test/harness/factories.ts';
import type { TestResponse } from '../../../test/harness/response.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import {
  countThings,
  createThings,
  post,
  startTestNode,
  type TestNode,
} from '../../../test/idempotency/node.ts';
import { systemClock } from '../../kernel/clock.ts';

const clock = new TestClock(systemClock.ms());
const HOUR_MS = 3_600_000;
let database: TestDatabase;
let node: TestNode;
let email: string;
let key: string;

before(async () => {
  database = await createTestDatabase({ pool: 2 });
  await createThings(database.db);
  node = await startTestNode({ databaseUrl: database.url, clock });
  email = (await insertAccount(database.db)).email;
  key = await newKey();
});
after(async () => {
  await node.close();
  await database.close();
});

async function newKey(): Promise<string> {
  return (await node.container.apiKeys.create({ email, scope: 'FULL_ACCESS' })).key;
}

const send = (
  body: object,
  idempotencyKey?: string | string[],
  options: { key?: string; path?: string } = {},
) =>
  post(node.url, body, {
    key,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...options,
  });

/** The state that the response names, and whether it is a replay. */
function state({ headers }: TestResponse): [string | undefined, string | undefined] {
  return [headers['x-svc-idempotency'], headers['x-svc-idempotent-replay']];
}

const runsOf = (name: string) => node.runs.filter((run) => run === name).length;
const stored = (name: string) => countThings(database.db, name);

describe('the format of the key', () => {
  const bad = [
    '',
    'short-7',
    'x'.repeat(256),
    'has space in it',
    'umlaut-ü-key',
    'dots.are.out',
    'semi;colon',
  ];
  for (const idempotencyKey of bad) {
    test(`${JSON.stringify(idempotencyKey.slice(0, 20))} is refused before the handler`, async () => {
      const response = await send({ name: randomUUID() }, Buffer.from(idempotencyKey).toString('latin1'));
      response.assertError('INVALID_IDEMPOTENCY_KEY', 'Idempotency-Key').assertRateLimited(true);
      assert.deepEqual(state(response), [undefined, undefined]);
    });
  }
  for (const idempotencyKey of ['12345678', 'x'.repeat(255), 'AZaz09_-']) {
    test(`${idempotencyKey.slice(0, 8)} with ${idempotencyKey.length} characters is taken`, async () => {
      (await send({ name: randomUUID() }, idempotencyKey)).assertOk(201);
    });
  }
  test('a repeated header is refused, even with equal values', async () => {
    const name = randomUUID();
    (await send({ name }, ['abcdefgh', 'abcdefgh'])).assertError(
      'INVALID_IDEMPOTENCY_KEY',
      'Idempotency-Key',
    );
    assert.equal(runsOf(name), 0);
  });
});

describe('the Idempotency-Key header', () => {
  test('a request without the header is not deduplicated and gets no idempotency headers', async () => {
    const name = randomUUID();
    const first = (await send({ name })).assertOk(201);
    assert.deepEqual(state(first), [undefined, undefined]);
    (await send({ name })).assertError('CONFLICT');
    assert.equal(runsOf(name), 2);
  });

  test('the same key and body replay status and bytes, with headers of their own', async () => {
    const name = randomUUID();
    const first = (await send({ name }, name)).assertOk(201);
    assert.deepEqual(state(first), ['stored', undefined]);
    const second = (await send({ name }, name)).assertOk(201).assertRateLimited(true);
    assert.deepEqual(state(second), ['replayed', 'true']);
    assert.equal(second.text, first.text);
    assert.equal(second.headers['content-type'], first.headers['content-type']);
    assert.notEqual(second.headers['x-svc-request-id'], first.headers['x-svc-request-id']);
    const left = (response: TestResponse) => Number(response.headers['x-ratelimit-remaining']);
    assert.equal(left(second), left(first) - 1);
    assert.equal(runsOf(name), 1);
    assert.equal(await stored(name), 1);
  });

  test('the same key and another body are refused; the first response stays', async () => {
    const name = randomUUID();
    const first = await send({ name }, name);
    const reuse = (await send({ name, ms: 0 }, name)).assertError('IDEMPOTENCY_KEY_REUSE', 'Idempotency-Key');
    assert.deepEqual(state(reuse), ['not_stored', undefined]);
    assert.equal((await send({ name }, name)).text, first.text);
  });

  test('parameters of the media type do not make it another body', async () => {
    const name = randomUUID();
    await send({ name }, name);
    const headers = { 'content-type': 'Application/JSON; charset=utf-8' };
    const again = await post(node.url, { name }, { key, idempotencyKey: name, headers });
    assert.deepEqual(state(again), ['replayed', 'true']);
  });

  test('another API key and another path have keys of their own', async () => {
    const names = [randomUUID(), randomUUID(), randomUUID()] as const;
    const idempotencyKey = randomUUID();
    (await send({ name: names[0] }, idempotencyKey)).assertOk(201);
    (await send({ name: names[1] }, idempotencyKey, { key: await newKey() })).assertOk(201);
    (await send({ name: names[2] }, idempotencyKey, { path: '/others' })).assertOk(201);
    assert.deepEqual(names.map(runsOf), [1, 1, 1]);
  });

  test('a query string does not make it another path', async () => {
    const name = randomUUID();
    await send({ name }, name);
    assert.deepEqual(state(await send({ name }, name, { path: '/things?trace=1' })), ['replayed', 'true']);
  });

  test('a record is valid for 24 hours by the clock, swept or not', async () => {
    const name = randomUUID();
    await send({ name }, name);
    clock.advance(24 * HOUR_MS - 1000);
    assert.deepEqual(state(await send({ name }, name)), ['replayed', 'true']);
    clock.advance(1000);
    (await send({ name: `${name}, later` }, name)).assertOk(201);
    assert.deepEqual(state(await send({ name: `${name}, later` }, name)), ['replayed', 'true']);
  });

  test('the sweep deletes only expired records', async () => {
    const [old, fresh] = [randomUUID(), randomUUID()];
    await send({ name: old }, old);
    clock.advance(23 * HOUR_MS);
    await send({ name: fresh }, fresh);
    clock.advance(2 * HOUR_MS);
    assert.ok((await node.container.idempotency.sweep()) >= 1);
    assert.deepEqual(state(await send({ name: fresh }, fresh)), ['replayed', 'true']);
    assert.equal(await node.container.idempotency.sweep(), 0);
  });

  test('a stored response is not readable in the database', async () => {
    const name = randomUUID();
    await send({ name }, name);
    const [row] = await database.sql`
      select count(*)::int as count from idempotency_record
      where position(${Buffer.from(name)}::bytea in body) > 0`;
    assert.equal(row?.count, 0);
  });
});

describe('stored responses', () => {
  for (const [next, code] of [
    ['notFound', 'NOT_FOUND'],
    ['conflict', 'CONFLICT'],
  ] as const) {
    test(`the handler's ${code} is, and what its transaction changed is not`, async () => {
      const name = randomUUID();
      const first = (await send({ name, next }, name)).assertError(code);
      assert.deepEqual(state(first), ['stored', undefined]);
      const second = (await send({ name, next }, name)).assertError(code);
      assert.deepEqual(state(second), ['replayed', 'true']);
      assert.equal(second.text, first.text);
      assert.equal(runsOf(name), 1);
      // Changes of an earlier transaction of the handler persist, as without a key.
      assert.equal(await stored(name), 1);
      assert.equal(await stored(`${name}, refused`), 0);
    });
  }

  test('a crash is not: nothing of it stays and the key is free', async () => {
    const name = randomUUID();
    const crash = (await send({ name, next: 'crash' }, name)).assertError('INTERNAL_ERROR');
    assert.deepEqual(state(crash), ['not_stored', undefined]);
    assert.equal(await stored(name), 0);
    // Free for another body too.
    (await send({ name }, name)).assertOk(201);
    assert.equal(await stored(name), 1);
  });

  test("the handler's 429 is not: time heals it", async () => {
    const name = randomUUID();
    for (const runs of [1, 2]) {
      const limited = (await send({ name, next: 'limited' }, name)).assertError('RATE_LIMITED');
      assert.equal(limited.headers['retry-after'], '7');
      assert.deepEqual(state(limited), ['not_stored', undefined]);
      assert.equal(runsOf(name), runs);
    }
  });

  test('a rejection before the handler is not stored', async () => {
    const name = randomUUID();
    (await send({ name: 5 }, name)).assertError('BAD_REQUEST', 'name');
    (await post(node.url, { name }, { key: 'pk_unknown', idempotencyKey: name })).assertError('INVALID_KEY');
    const readOnly = await node.container.apiKeys.create({ email, scope: 'READ_ONLY' });
    (await send({ name }, name, { key: readOnly.key })).assertError('INSUFFICIENT_SCOPE');
    const limited = await node.container.apiKeys.create({ email, scope: 'STANDARD', rateLimitPerMinute: 1 });
    const other = randomUUID();
    (await send({ name: other }, other, { key: limited.key })).assertOk(201);
    (await send({ name: other }, other, { key: limited.key })).assertError('RATE_LIMITED');
    assert.deepEqual(state((await send({ name }, name)).assertOk(201)), ['stored', undefined]);
  });
});

describe('the transaction of the handler', () => {
  test('it sees its own changes outside of its transactions', async () => {
    const name = randomUUID();
    (await send({ name, next: 'readBack' }, name)).assertOk(201);
  });

  test('a write that fails outside of any undoes only itself', async () => {
    const name = randomUUID();
    (await send({ name, next: 'recover' }, name)).assertOk(201);
    assert.equal(await stored(`${name}, recovered`), 1);
  });

  test('transactions within each other undo only their own changes', async () => {
    const name = randomUUID();
    (await send({ name, next: 'nested' }, name)).assertOk(201);
    assert.deepEqual([await stored(`${name}, outer`), await stored(`${name}, inner`)], [1, 0]);
  });

  test('an unawaited transaction fails the request instead of committing half of it', async () => {
    const name = randomUUID();
    (await send({ name, next: 'dangling' }, name)).assertError('INTERNAL_ERROR');
    assert.deepEqual([await stored(name), await stored(`${name}, dangling`)], [0, 0]);
  });

  test('hints go out after the commit, and not at all after a crash', async () => {
    const seen: { name: string; committed: boolean }[] = [];
    const end = node.container.bus.subscribe('things', async (name) => {
      seen.push({ name, committed: (await stored(name)) === 1 });
    });
    const crashed = randomUUID();
    await send({ name: crashed, next: 'hintAndCrash' }, crashed);
    const name = randomUUID();
    await send({ name, next: 'hint' }, name);
    await waitFor(() => seen.length > 0);
    end();
    assert.deepEqual(seen, [{ name, committed: true }]);
  });
});

describe('a handler that runs without a transaction', () => {
  const path = '/leased';
  const lease = (body: object, idempotencyKey?: string) => send(body, idempotencyKey, { path });

  test('its answer is stored and replayed, refusals too; another body is refused', async () => {
    const name = randomUUID();
    const first = (await lease({ name }, name)).assertOk(201);
    const second = (await lease({ name }, name)).assertOk(201);
    assert.equal(second.text, first.text);
    assert.deepEqual(
      [state(first), state(second)],
      [
        ['stored', undefined],
        ['replayed', 'true'],
      ],
    );
    (await lease({ name, ms: 1 }, name)).assertError('IDEMPOTENCY_KEY_REUSE', 'Idempotency-Key');
    const refused = `refused-${name}`;
    const body = { name: refused, next: 'conflict' };
    (await lease(body, refused)).assertError('CONFLICT');
    assert.deepEqual(state((await lease(body, refused)).assertError('CONFLICT')), ['replayed', 'true']);
    assert.equal(runsOf(refused), 1);
    assert.equal((await lease({ name })).assertOk(201).string('data.operationId'), 'none');
  });

  test('one of several concurrent requests runs, and no connection waits for it', async () => {
    const name = randomUUID();
    const body = { name, ms: 400 };
    const all = Array.from({ length: 8 }, () => lease(body, name));
    await waitFor(async () => runsOf(name) === 1);
    const { rows } = await sql<{ count: number }>`
      select count(*)::int from pg_stat_activity where datname = current_database() and state like 'idle in%'`.execute(
      database.db,
    );
    assert.equal(rows[0]?.count, 0);
    const texts = (await Promise.all(all)).map((answer) => answer.assertOk(201).text);
    assert.equal(new Set(texts).size, 1);
    assert.equal(runsOf(name), 1);
  });

  test('when whom it asks is away, the same request is tried again as the same operation', async () => {
    const name = randomUUID();
    const body = { name, next: 'away' };
    const failed = await lease(body, name);
    assert.deepEqual(state(failed.assertError('SERVICE_UNAVAILABLE')), ['not_stored', undefined]);
    assert.deepEqual(state((await lease(body, name)).assertOk(201)), ['stored', undefined]);
    assert.equal(runsOf(name), 2);
  });

  test('after a crash the request runs again when its lease expires, as the same operation', async () => {
    const name = randomUUID();
    const first = (await lease({ name }, name)).assertOk(201);
    const leasedUntil = new Date(clock.ms() + 30_000);
    // State after a process died between its changes and its response.
    await sql`update idempotency_record set status = null, body = null, leased_until = ${leasedUntil}
      where operation_id = ${first.string('data.operationId')}`.execute(database.db);
    (await lease({ name }, name)).assertError('IDEMPOTENCY_IN_FLIGHT', 'Idempotency-Key');
    clock.advance(30_000);
    (await lease({ name, ms: 1 }, name)).assertError('IDEMPOTENCY_KEY_REUSE', 'Idempotency-Key');
    assert.equal((await lease({ name }, name)).assertOk(201).text, first.text);
    assert.equal(runsOf(name), 2);
    clock.advance(24 * HOUR_MS);
    const anew = (await lease({ name, ms: 1 }, name)).assertOk(201);
    assert.notEqual(anew.string('data.operationId'), first.string('data.operationId'));
  });
});
