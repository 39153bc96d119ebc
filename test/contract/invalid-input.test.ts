import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formatsPlugin from 'ajv-formats';
import fc from 'fast-check';
import { Agent, request } from 'undici';
import { startTestApp, type TestApp } from '../harness/app.ts';
import { startTestDns, type TestDns } from '../harness/dns.ts';
import { addressOf, type Operation, readOperations, type Schema, sampleOf } from './document.ts';
import { makeResourceOf, type PathValues } from './resources.ts';

/** Time for all operations together, shared equally. */
const TIME_MS = 6000;
const RUNS = 120;

let app: TestApp;
let dns: TestDns;
let agent: Agent;
let operations: Operation[];
let account: Awaited<ReturnType<TestApp['createAccount']>>;

before(async () => {
  dns = await startTestDns();
  app = await startTestApp({ env: { DNS_SERVERS: dns.address } });
  agent = new Agent({ connections: 8 });
  operations = await readOperations(app);
  account = await app.createAccount();
});
after(async () => {
  await agent.destroy();
  await app.close();
  await dns.close();
});

const ajv = new Ajv2020({ strict: false, allErrors: false });
formatsPlugin.default(ajv);
const compiled = new WeakMap<object, ValidateFunction>();

function validatorOf(schema: Schema): ValidateFunction {
  const known = compiled.get(schema) ?? ajv.compile(schema);
  compiled.set(schema, known);
  return known;
}

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    '\0',
    '\ud800',
    '../..',
    '%00',
    "'; drop table account; --",
    '{}',
    'null',
    'true',
    '-1',
    '1e999',
  ),
  fc.constantFrom('x'.repeat(300), '2026-11-20T09:00:00Z', 'https://example.com', '999999999999999999999'),
);
const anything = fc.oneof(
  text,
  fc.jsonValue({ maxDepth: 3 }),
  fc.integer(),
  fc.constant(Number.MAX_SAFE_INTEGER),
);

/** Generates values close to a schema: valid, invalid in one place, or entirely invalid. */
function near(schema: Schema): fc.Arbitrary<unknown> {
  const right = fc.constant(sampleOf(schema));
  if (schema.enum !== undefined) {
    return fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...schema.enum) }, anything);
  }
  if (schema.properties === undefined) {
    const inside = schema.items === undefined ? [] : [fc.array(near(schema.items), { maxLength: 3 })];
    return fc.oneof({ weight: 4, arbitrary: right }, ...inside, anything);
  }
  const members = Object.entries(schema.properties).map(([name, member]) => [name, near(member)] as const);
  const some = fc.record(Object.fromEntries(members), { requiredKeys: [] });
  const merged = some.map((values) => ({ ...Object(sampleOf(schema)), ...values }));
  return fc.oneof({ weight: 6, arbitrary: merged }, { weight: 2, arbitrary: some }, anything);
}

function bodyOf({ body }: Operation): fc.Arbitrary<string | null> {
  const json = (body === null ? anything : near(body)).map((value) => JSON.stringify(value) ?? '');
  return fc.oneof(
    { weight: 6, arbitrary: json },
    fc.constant(null),
    text,
    fc.constantFrom(
      '{',
      '[',
      '{"a":1,"a":2}',
      '{"__proto__":{"x":1}}',
      '['.repeat(5000),
      '"\\ud800"',
      '\ufeff{}',
    ),
  );
}

function queryOf({ queryParameters }: Operation): fc.Arbitrary<string> {
  const names = [...queryParameters.map(({ name }) => name), 'other'];
  return fc.array(fc.tuple(fc.constantFrom(...names), text), { maxLength: 3 }).map((pairs) => {
    const query = new URLSearchParams(pairs.map(([name, value]) => [name, value.toWellFormed()]));
    return pairs.length === 0 ? '' : `?${query}`;
  });
}

const headers = fc.record(
  {
    'content-type': fc.constantFrom(
      'application/json',
      'application/json; charset=utf-8',
      'text/plain',
      'x',
      '',
    ),
    'idempotency-key': fc.constantFrom('short', 'a-good-key-of-some-length', '!'.repeat(20)),
    'svc-api-version': fc.constantFrom('1', '2', '2026-11-01', 'x'),
    'x-user-token': fc.constantFrom('', 'garbage', 'a.b.c'),
    origin: fc.constantFrom('null', 'https://example.com', 'x'),
    'last-event-id': text.map((id) => encodeURIComponent(id.toWellFormed())),
  },
  { requiredKeys: [] },
);

interface Call {
  path: PathValues;
  query: string;
  body: string | null;
  headers: Record<string, string | undefined>;
  keyed: boolean;
}

function callOf(operation: Operation, known: PathValues): fc.Arbitrary<Call> {
  const value = (name: string) =>
    fc.oneof(
      { weight: 3, arbitrary: fc.constant(known[name] ?? 'none') },
      text.filter((id) => id.isWellFormed()),
    );
  const path = fc.record(Object.fromEntries(operation.pathParameters.map((name) => [name, value(name)])));
  return fc.record({
    path,
    query: queryOf(operation),
    body: operation.method === 'GET' ? fc.constant(null) : bodyOf(operation),
    headers: fc.oneof({ weight: 5, arbitrary: fc.constant({}) }, { weight: 2, arbitrary: headers }),
    keyed: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
  });
}

/** The status and the code are declared, and the body has the shape that is declared for them. */
async function assertDeclared(operation: Operation, call: Call, key: string): Promise<number> {
  const response = await request(`${app.url}/api/v1${addressOf(operation.path, call.path)}${call.query}`, {
    dispatcher: agent,
    method: operation.method,
    headers: {
      ...(call.keyed ? { authorization: `Bearer ${key}` } : {}),
      ...(call.body === null ? {} : { 'content-type': 'application/json' }),
      ...Object.fromEntries(Object.entries(call.headers).filter(([, value]) => value !== undefined)),
    },
    body: call.body,
  });
  const { statusCode: status } = response;
  assert.notEqual(status, 500);
  const declared = operation.responses[status];
  const type = String(response.headers['content-type']).split(';', 1)[0] ?? '';
  if (type === 'text/event-stream') {
    response.body.on('error', () => {}).destroy();
    assert.ok(operation.isTail);
    return status;
  }
  const body = await response.body.text();
  assert.ok(declared !== undefined, `${status} is not declared: ${body}`);
  const schema = declared.content[type]?.schema;
  assert.ok(schema !== undefined, `${status} as ${type} is not declared`);
  const validate = validatorOf(schema);
  assert.ok(validate(JSON.parse(body)), `${status} ${body}: ${ajv.errorsText(validate.errors)}`);
  return status;
}

test('invalid input gets a declared response from every operation, and never a 500', async (t) => {
  const answers = new Map<number, number>();
  for (const operation of operations) {
    // A separate account: a valid request may revoke or delete resources, and plans have limits.
    const { key } = await app.createKey({ rateLimitPerMinute: 1_000_000 });
    const isOfOne = operation.pathParameters.length > 0;
    const known = isOfOne ? await makeResourceOf(app, key, operation.path) : undefined;
    const call = callOf(operation, known ?? {});
    // The first response of an operation may take long, for example when it starts a program; it is not
    // counted.
    if (operation.method === 'GET' && operation.pathParameters.length === 0) {
      await assertDeclared(operation, { path: {}, query: '', body: null, headers: {}, keyed: true }, key);
    }
    const deadline = performance.now() + TIME_MS / operations.length;
    let runs = 0;
    await fc
      .assert(
        fc.asyncProperty(call, async (one) => {
          // Used instead of fast-check's own limit, which fails an operation whose first run took all of its
          // time.
          if (runs > 0 && performance.now() > deadline) return;
          runs += 1;
          const status = await assertDeclared(operation, one, key);
          answers.set(status, (answers.get(status) ?? 0) + 1);
        }),
        { numRuns: RUNS },
      )
      .catch((error: unknown) => {
        throw new Error(`${operation.method} ${operation.path}`, { cause: error });
      });
  }
  t.diagnostic(
    [...answers]
      .sort()
      .map(([status, count]) => `${status}: ${count}`)
      .join(', '),
  );
  for (const status of [200, 201, 400, 401, 404, 415])
    assert.ok(answers.has(status), `no ${status} among the answers`);
});

test('an undeclared response is detected', async () => {
  const [operation] = operations.filter(({ id }) => id === 'streams.create');
  assert.ok(operation !== undefined);
  const { key } = await app.createKey({ account });
  const call: Call = { path: {}, query: '', body: '{}', headers: {}, keyed: true };
  assert.equal(await assertDeclared(operation, call, key), 400);
  const { 400: _, ...others } = operation.responses;
  await assert.rejects(assertDeclared({ ...operation, responses: others }, call, key), /400 is not declared/);
});
