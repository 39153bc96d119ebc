import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newKey } from '../../src/features/identity/api-keys/rules.ts';
import { PERMISSIONS, type Permission, type Scope } from '../../src/kernel/access.ts';
import { Browser, OWN_ORIGIN } from '../auth/browser.ts';
import { type AuthFixture, newAddress, type Person, startAuthFixture } from '../auth/fixture.ts';
import type { TestApp } from '../harness/app.ts';
import type { TestAccount } from '../harness/factories.ts';
import type { TestResponse } from '../harness/response.ts';
import { addressOf, type Operation, readOperations } from './document.ts';
import {
  CLOSED,
  EXPECTED_ENDPOINTS,
  type ExpectedEndpoint,
  STRING_BODIES,
  WITHDRAWN,
} from './expected-endpoints.ts';

let auth: AuthFixture;
let app: TestApp;
let operations: Map<string, Operation>;
let account: TestAccount;
let owner: Person;
let ownersToken: string;
let strangersToken: string;
let dashboard: Browser;
let operators: Browser;

before(async () => {
  auth = await startAuthFixture();
  app = auth.app;
  operations = new Map((await readOperations(app)).map((one) => [`${one.method} ${one.path}`, one]));
  account = await app.createAccount();
  owner = await auth.person();
  const [stranger, operator] = [await auth.person(), await auth.person()];
  [ownersToken, strangersToken] = [await auth.token(owner), await auth.token(stranger)];
  await app.container.sql`update account set role = 'ADMIN' where id = ${operator.id}`;
  [dashboard, operators] = [new Browser(app), new Browser(app)];
  await dashboard.signIn(owner);
  await operators.signIn(operator);
});
after(() => auth.close());

const methodOf = ({ endpoint }: ExpectedEndpoint) => endpoint.split(' ')[0] ?? '';
const pathOf = ({ endpoint }: ExpectedEndpoint) => endpoint.split(' ')[1] ?? '';

function operationOf({ endpoint }: ExpectedEndpoint): Operation {
  const operation = operations.get(endpoint);
  assert.ok(operation !== undefined, `${endpoint} is not in the document`);
  return operation;
}

/** Scope and permissions of a key that the table distinguishes. */
interface Grant {
  scope: Scope;
  permissions: readonly Permission[];
}

const FULL: Grant = { scope: 'FULL_ACCESS', permissions: [] };
const READER: Grant = { scope: 'READ_ONLY', permissions: [] };

const FINANCE_READING: readonly Permission[] = ['finance:read', 'finance:write', 'finance:*', '*'];
const FINANCE_WRITING: readonly Permission[] = ['finance:write', 'finance:*', '*'];

/** Permissions to read the workspace's content: a key whose list has none of these reads all of it. */
const CONTENT_READS: readonly string[] = ['videos:read', 'streams:read', 'restreams:read', 'rooms:read'];

/**
 * Returns the expected error code by docs/concepts/conventions.md#scopes-and-permissions, implemented
 * independently. Null: the key may call it.
 */
function expectedErrorCode(promised: ExpectedEndpoint, { scope, permissions }: Grant): string | null {
  const { asks } = promised;
  const isFull = scope === 'FULL_ACCESS';
  const holdsOne = (list: readonly Permission[]) => isFull || permissions.some((one) => list.includes(one));
  switch (asks) {
    case 'nothing':
    case 'nothing, but checks a key':
      return null;
    case 'person':
    case 'administrator':
      return 'ADMIN_ONLY';
    case 'minting':
    case 'revoking':
      return isFull ? null : 'OWNER_SCOPE_REQUIRED';
    case 'finance to read':
      if (!holdsOne(FINANCE_READING)) return 'FINANCIAL_SCOPE_REQUIRED';
      break;
    case 'finance to write':
      if (!holdsOne(FINANCE_WRITING)) return 'FINANCIAL_SCOPE_REQUIRED';
      break;
  }
  const isWriting = methodOf(promised) !== 'GET' && !promised.isOpenToReaders;
  if (scope === 'READ_ONLY' && isWriting) return 'INSUFFICIENT_SCOPE';
  if (!asks.includes(':') || permissions.length === 0) return null;
  const [noun = '', action] = asks.split(':');
  const opens = [asks, `${noun}:*`, '*', ...(action === 'read' ? [`${noun}:write`] : [])];
  const narrows = (one: string) => CONTENT_READS.includes(one);
  if (narrows(asks) && !permissions.some(narrows)) return null;
  return isFull || permissions.some((one) => opens.includes(one)) ? null : 'PERMISSION_DENIED';
}

/** Returns keys that differ in the aspects relevant to an endpoint. */
function grantsFor({ asks }: ExpectedEndpoint): Grant[] {
  const list = (...permissions: Permission[]): Grant => ({ scope: 'STANDARD', permissions });
  const always = [READER, FULL, list(), list('finance:read'), list('videos:read'), list('rooms:write')];
  if (asks.startsWith('finance')) {
    const reading: Grant = { scope: 'READ_ONLY', permissions: ['finance:read'] };
    return [...always, reading, list('finance:write'), list('finance:*'), list('*')];
  }
  const [noun = '', action] = asks.split(':');
  if (action === undefined) return always;
  const ofNoun = PERMISSIONS.filter((one) => one.startsWith(`${noun}:`));
  return [...always, ...['*' as const, ...ofNoun].map((one) => list(one))];
}

const keys = new Map<string, Promise<string>>();

function keyOf({ scope, permissions }: Grant): Promise<string> {
  const name = `${scope} ${permissions.join(' ')}`;
  const made =
    keys.get(name) ??
    app
      .createKey({ account, scope, permissions: [...permissions], rateLimitPerMinute: 1_000_000 })
      .then(({ key }) => key);
  keys.set(name, made);
  return made;
}

/** Returns a path whose IDs do not exist. */
function addressFor(promised: ExpectedEndpoint): string {
  const address = addressOf(pathOf(promised), {});
  return promised.asks === 'revoking' ? `${address}?id=key_of_another` : address;
}

function ask(promised: ExpectedEndpoint, headers: Record<string, string> = {}): Promise<TestResponse> {
  return app.request(methodOf(promised), addressFor(promised), {
    headers: { 'x-forwarded-for': newAddress(), origin: OWN_ORIGIN, ...headers },
  });
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

const REFUSALS = [
  ...['ADMIN_ONLY', 'OWNER_SCOPE_REQUIRED', 'FINANCIAL_SCOPE_REQUIRED', 'INSUFFICIENT_SCOPE'],
  ...['PERMISSION_DENIED', 'INVALID_USER_TOKEN', 'UNAUTHORIZED', 'CSRF_REJECTED', 'PASSWORD_REQUIRED'],
];

/** Null: the request passed the access checks; later errors are irrelevant. */
function check(answer: TestResponse, expected: string | null, what: string): void {
  const error = answer.status < 400 ? null : answer.at('error');
  const code = typeof error === 'string' ? error : answer.status < 400 ? null : answer.at('error.code');
  if (expected !== null) assert.equal(code, expected, `${what}: ${answer.text}`);
  else assert.ok(!REFUSALS.includes(String(code)), `${what}: ${answer.text}`);
  assert.ok(answer.status < 500, `${what}: ${answer.text}`);
  answer.assertCommonHeaders();
}

describe('the document', () => {
  const codesOf = (operation: Operation) =>
    JSON.stringify(Object.values(operation.responses).map(({ content }) => content));

  test('the document has every promised endpoint with its access, limits and responses', async () => {
    const grants: Grant[] = [
      { scope: 'READ_ONLY', permissions: [] },
      { scope: 'STANDARD', permissions: [] },
      { scope: 'STANDARD', permissions: ['finance:read'] },
    ];
    for (const promised of EXPECTED_ENDPOINTS) {
      const { endpoint, status, caps, isIdempotent, isOriginLocked } = promised;
      const operation = operationOf(promised);
      assert.ok(status in operation.responses, `${endpoint} answers ${Object.keys(operation.responses)}`);
      const codes = codesOf(operation);
      const declares = (code: string) => codes.includes(`"${code}"`);
      for (const grant of grants) {
        const code = expectedErrorCode(promised, grant);
        assert.ok(code === null || declares(code), `${endpoint} does not declare ${code}`);
      }
      assert.equal(declares('IDEMPOTENCY_IN_FLIGHT'), isIdempotent, endpoint);
      assert.equal(declares('origin_not_allowed'), isOriginLocked, endpoint);
      for (const cap of caps) assert.ok(operation.description.includes(cap), `${endpoint}: ${cap}`);
      assert.equal(declares('Too many requests'), STRING_BODIES.includes(endpoint), `${endpoint} as a text`);
      assert.ok(operation.headers.includes('Svc-API-Version'), endpoint);
      assert.ok(operation.headers.includes('X-SVC-Request-Id'), endpoint);
      assert.equal(operation.headers.includes('Idempotency-Key'), isIdempotent, endpoint);
    }
  });

  test('paths with a closed list of methods have no other ones', () => {
    const listed = Map.groupBy(EXPECTED_ENDPOINTS, pathOf);
    for (const [path, promised] of listed) {
      if (!CLOSED.some((prefix) => path.startsWith(prefix))) continue;
      const found = [...operations.values()].filter((one) => one.path === path).map(({ method }) => method);
      assert.deepEqual(found.sort(), promised.map(methodOf).sort(), path);
    }
  });
});

describe('every endpoint that was promised', () => {
  test('every endpoint responds to each key according to its scope and permissions', async () => {
    for (const promised of EXPECTED_ENDPOINTS) {
      const asked = grantsFor(promised).map(async (grant) => {
        const answer = await ask(promised, bearer(await keyOf(grant)));
        const what = `${promised.endpoint} ${grant.scope} [${grant.permissions}]`;
        check(answer, expectedErrorCode(promised, grant), what);
        answer.assertRateLimited(true);
      });
      await Promise.all(asked);
    }
  });

  test('an endpoint requires a known key outside of the query', async () => {
    const key = await keyOf({ scope: 'FULL_ACCESS', permissions: [] });
    for (const promised of EXPECTED_ENDPOINTS) {
      const { endpoint, asks } = promised;
      // Other endpoints use a key only to identify the caller.
      const isChecked = asks !== 'nothing';
      const code = (wrong: string) => (isChecked ? wrong : null);
      const isNeeded = !asks.startsWith('nothing');
      const bare = await ask(promised);
      check(bare, isNeeded ? 'UNAUTHORIZED' : null, endpoint);
      check(await ask(promised, bearer('sk_live')), code('INVALID_KEY_FORMAT'), endpoint);
      const unknown = await ask(promised, { 'x-api-key': newKey() });
      check(unknown, code('INVALID_KEY'), endpoint);
      for (const answer of [bare, unknown]) answer.assertRateLimited(false);
      const query = `${addressFor(promised).includes('?') ? '&' : '?'}key=${key}&api_key=${key}`;
      const headers = { 'x-forwarded-for': newAddress() };
      const inQuery = await app.request(methodOf(promised), addressFor(promised) + query, { headers });
      check(inQuery, isNeeded ? 'UNAUTHORIZED' : null, `${endpoint} with a key in the query`);
    }
  });

  test('a user token of another owner than the key’s is rejected', async () => {
    for (const promised of EXPECTED_ENDPOINTS) {
      if (promised.asks === 'nothing') continue;
      for (const token of ['garbage', strangersToken]) {
        const headers = { ...bearer(owner.key), 'x-user-token': token };
        check(await ask(promised, headers), 'INVALID_USER_TOKEN', promised.endpoint);
      }
      const headers = { ...bearer(owner.key), 'x-user-token': '' };
      check(await ask(promised, headers), expectedErrorCode(promised, FULL), promised.endpoint);
    }
  });

  test('the owner’s token and the owner’s session are accepted', async () => {
    const { key } = await app.container.apiKeys.create({ email: owner.email, scope: 'READ_ONLY' });
    for (const promised of EXPECTED_ENDPOINTS) {
      const { endpoint, asks } = promised;
      const beside = await ask(promised, { ...bearer(key), 'x-user-token': ownersToken });
      const isOwners = asks === 'minting' || asks === 'revoking';
      check(beside, isOwners ? null : expectedErrorCode(promised, READER), `${endpoint} with a token`);
      const answer = await dashboard.send(methodOf(promised), addressFor(promised));
      check(answer, asks === 'administrator' ? 'ADMIN_ONLY' : null, `${endpoint} in the dashboard`);
      if (asks !== 'administrator') continue;
      check(await operators.send(methodOf(promised), addressFor(promised)), null, endpoint);
    }
  });

  test('account settings require a live key', async () => {
    const { key } = await app.createKey({ account, mode: 'test' });
    const settings = EXPECTED_ENDPOINTS.filter(({ isLiveOnly }) => isLiveOnly);
    assert.ok(settings.length > 0);
    for (const promised of settings)
      check(await ask(promised, bearer(key)), 'PERMISSION_DENIED', 'test mode');
  });

  test('money endpoints accept only verified origins', async () => {
    const key = await keyOf({ scope: 'FULL_ACCESS', permissions: [] });
    const locked = EXPECTED_ENDPOINTS.filter(({ isOriginLocked }) => isOriginLocked);
    assert.ok(locked.length > 0);
    for (const promised of locked) {
      const origin = 'https://elsewhere.example.com';
      const answer = await ask(promised, { ...bearer(key), origin });
      assert.deepEqual(answer.json, { success: false, error: 'integration_domain_required' });
      assert.equal(answer.status, 403);
      answer.assertRateLimited(true);
    }
  });
});

test('withdrawn endpoints respond with CATALOG_DISABLED to every caller', async () => {
  const key = await keyOf(FULL);
  for (const path of WITHDRAWN) {
    for (const headers of [{}, bearer(key), bearer('x')]) {
      (await app.request('GET', path, { headers })).assertError('CATALOG_DISABLED');
    }
  }
});
