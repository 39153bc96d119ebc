import assert from 'node:assert/strict';
import { hash, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { TestClock } from '../../../test/harness/clock.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { insertAccount } from '../../../test/harness/factories.ts';
import type { TestResponse } from '../../../test/harness/response.ts';
import { createThings, post, startTestNode, type TestNode } from '../../../test/idempotency/node.ts';
import { systemClock } from '../../kernel/clock.ts';

const clock = new TestClock(systemClock.ms());
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

const newKey = async (grant: { rateLimitPerMinute?: number } = {}) =>
  (await node.container.apiKeys.create({ email, scope: 'STANDARD', ...grant })).key;

const send = (body: unknown, idempotencyKey: string, path = '/things') =>
  post(node.url, body, { key, idempotencyKey, path });

const isReplay = ({ headers }: TestResponse) => headers['x-svc-idempotent-replay'] === 'true';

/** Stores the response to a body. @returns the idempotency key, which is the name of the thing. */
async function storedFor(bodyOf: (name: string) => unknown, path?: string): Promise<string> {
  const name = randomUUID();
  (await send(bodyOf(name), name, path)).assertOk(201);
  return name;
}

describe('the body of a repetition', () => {
  const same: [name: string, text: (name: string) => string][] = [
    ['whitespace', (name) => ` {\n"name" : "${name}",\t"ms":1,"x":{"b":[1,2],"a":"é"}} \n`],
    ['the order of members', (name) => `{"x":{"a":"é","b":[1,2]},"ms":1,"name":"${name}"}`],
    ['the spelling of numbers', (name) => `{"name":"${name}","ms":1.0,"x":{"b":[10e-1,0.2e1],"a":"é"}}`],
    ['escapes', (name) => `{"n\\u0061me":"${name}","ms":1,"x":{"b":[1,2],"a":"\\u00E9"}}`],
    [
      'a member that a later one replaces',
      (name) => `{"ms":7,"name":"${name}","ms":1,"x":{"b":[1,2],"a":"é"}}`,
    ],
  ];
  const bodyOf = (name: string) => ({ name, ms: 1, x: { b: [1, 2], a: 'é' } });

  test('C23.2: whitespace, key order, number notation and escapes do not change the body', async () => {
    const name = await storedFor(bodyOf);
    for (const [difference, text] of same) assert.ok(isReplay(await send(text(name), name)), difference);
    assert.equal(node.runs.filter((run) => run === name).length, 1);
  });

  test('C23.2: another JSON value is another body', async () => {
    const name = await storedFor(bodyOf);
    const others = [
      { ...bodyOf(name), ms: 2 },
      { ...bodyOf(name), ms: '1' },
      { ...bodyOf(name), x: { b: [2, 1], a: 'é' } },
      // An equivalent letter in another Unicode normalization form.
      { ...bodyOf(name), x: { b: [1, 2], a: 'e\u0301' } },
      { ...bodyOf(name), y: null },
      [bodyOf(name)],
    ];
    for (const body of others)
      (await send(body, name)).assertError('IDEMPOTENCY_KEY_REUSE', 'Idempotency-Key');
    assert.ok(isReplay(await send(bodyOf(name), name)));
  });

  test('C23.2: a number beyond the range of doubles is not null', async () => {
    const name = await storedFor((of) => ({ name: of, x: null }));
    (await send(`{"name":"${name}","x":1e400}`, name)).assertError(
      'IDEMPOTENCY_KEY_REUSE',
      'Idempotency-Key',
    );
  });
});

for (const path of ['/things', '/leased']) {
  describe(`an invalid body at ${path}`, () => {
    test('C23.2: a stored idempotency key with a different invalid body returns 422', async () => {
      const name = await storedFor((of) => ({ name: of }), path);
      const invalid = [
        { name: 5 },
        {},
        '',
        '{"name":',
        `{"name":"${name}"} x`,
        '{"name":"\\u0000"}',
        '['.repeat(65) + ']'.repeat(65),
      ];
      for (const body of invalid) {
        const answer = await send(body, name, path);
        answer.assertError('IDEMPOTENCY_KEY_REUSE', 'Idempotency-Key').assertRateLimited(true);
        assert.equal(answer.headers['x-svc-idempotency'], 'not_stored');
      }
      assert.ok(isReplay(await send({ name }, name, path)));
    });

    test('C23.2: a new idempotency key with an invalid body returns 400 and stays free', async () => {
      const name = randomUUID();
      (await send({ name: 5 }, name, path)).assertError('BAD_REQUEST', 'name');
      (await send('{"name":', name, path)).assertError('BAD_REQUEST', 'body');
      (await send({ name }, name, path)).assertOk(201);
    });
  });
}

test('C23.2: the key is looked up after authentication, permission and the rate limit', async () => {
  const name = await storedFor((of) => ({ name: of }));
  const by = (credential: string) => post(node.url, { name: 5 }, { key: credential, idempotencyKey: name });
  (await by('pk_unknown')).assertError('INVALID_KEY');
  const reader = await node.container.apiKeys.create({ email, scope: 'READ_ONLY' });
  (await by(reader.key)).assertError('INSUFFICIENT_SCOPE');
  const slow = await newKey({ rateLimitPerMinute: 1 });
  const once = randomUUID();
  (await post(node.url, { name: once }, { key: slow, idempotencyKey: once })).assertOk(201);
  (await post(node.url, {}, { key: slow, idempotencyKey: once })).assertError('RATE_LIMITED');
});

describe('records that earlier releases have stored', () => {
  const digest = (content: string) => hash('sha256', `application/json\n${content}`, 'buffer');
  /** Puts the digest of the bytes, which earlier releases stored, in the place of that of the value. */
  const makeLegacy = (canonical: string, text: string) =>
    sql`update idempotency_record set fingerprint = ${digest(text)} where fingerprint = ${digest(canonical)}`.execute(
      database.db,
    );

  test('C23.2: they are replayed for the same bytes, and are 422 for another body', async () => {
    const name = await storedFor((of) => ({ name: of }));
    const text = `{ "name": "${name}" }`;
    const { numAffectedRows } = await makeLegacy(`{"name":"${name}"}`, text);
    assert.equal(numAffectedRows, 1n);
    assert.ok(isReplay(await send(text, name)));
    (await send({ name, ms: 1 }, name)).assertError('IDEMPOTENCY_KEY_REUSE', 'Idempotency-Key');
    (await send({ name: 5 }, name)).assertError('IDEMPOTENCY_KEY_REUSE', 'Idempotency-Key');
  });

  test('C23.2: an operation that they left unfinished is continued by the same bytes', async () => {
    const name = randomUUID();
    const first = (await send({ name }, name, '/leased')).assertOk(201);
    const text = `{ "name": "${name}" }`;
    await makeLegacy(`{"name":"${name}"}`, text);
    await sql`update idempotency_record set status = null, body = null, leased_until = ${new Date(clock.ms() + 30_000)}
      where operation_id = ${first.string('data.operationId')}`.execute(database.db);
    clock.advance(30_000);
    assert.equal((await send(text, name, '/leased')).assertOk(201).text, first.text);
  });
});
