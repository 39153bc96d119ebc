import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../harness/app.ts';
import { startTestDns, type TestDns } from '../harness/dns.ts';
import { addressOf, type Operation, readOperations, sampleOf } from './document.ts';
import {
  ACCOUNT_LEVEL,
  FROM_PLATFORM,
  makeResources,
  type PathValues,
  PUBLIC_NAMES,
  TEST_MODE_ONLY,
  valuesFor,
} from './resources.ts';

let app: TestApp;
let dns: TestDns;
let operations: Operation[];
let owner: string;
/** Keys of another account, and of the owner's other mode. */
let strangers: { name: string; key: string; sharesAccount: boolean }[];
let resources: Map<string, PathValues>;

before(async () => {
  dns = await startTestDns();
  app = await startTestApp({ env: { DNS_SERVERS: dns.address } });
  operations = await readOperations(app);
  const account = await app.createAccount();
  owner = (await app.createKey({ account })).key;
  resources = await makeResources(app, owner);
  strangers = [
    { name: 'another account', key: (await app.createKey()).key, sharesAccount: false },
    {
      name: 'the other mode',
      key: (await app.createKey({ account, mode: 'test' })).key,
      sharesAccount: true,
    },
  ];
});
after(async () => {
  await app.close();
  await dns.close();
});

/** Returns IDs of the same kinds that do not exist. */
function missing(values: PathValues): PathValues {
  const turn = (id: string) => id.slice(0, -1) + (id.endsWith('0') ? '1' : '0');
  return Object.fromEntries(Object.entries(values).map(([name, id]) => [name, turn(id)]));
}

const isAccountLevel = (path: string) => ACCOUNT_LEVEL.some((prefix) => path.startsWith(prefix));

const bodyOf = ({ body, bodyRequired }: Operation) =>
  body !== null && bodyRequired ? { body: sampleOf(body) } : {};

test('every path with parameters has a resource to try it on', () => {
  const named = operations.filter(({ pathParameters, needsKey }) => needsKey && pathParameters.length > 0);
  assert.ok(named.length > 15);
  for (const { path, pathParameters } of named) {
    if (PUBLIC_NAMES.includes(path)) continue;
    const values = valuesFor(resources, path);
    assert.ok(values !== undefined, `${path} has no resource in test/contract/resources.ts`);
    for (const name of pathParameters) assert.ok(name in values, `${path} needs a value for ${name}`);
  }
});

test('a foreign ID gets the same 404 as a missing one from every operation', async () => {
  for (const operation of operations) {
    const values = valuesFor(resources, operation.path);
    if (values === undefined || !operation.needsKey || operation.pathParameters.length === 0) continue;
    for (const { name, key, sharesAccount } of strangers) {
      if (sharesAccount && isAccountLevel(operation.path)) continue;
      const ask = (of: PathValues) =>
        app.request(operation.method, addressOf(operation.path, of), {
          key,
          headers: FROM_PLATFORM,
          ...bodyOf(operation),
        });
      const foreign = await ask(values);
      const what = `${operation.method} ${operation.path} by ${name}: ${foreign.text}`;
      // A live key is rejected before any ID is looked up.
      const code =
        TEST_MODE_ONLY.includes(operation.path) && !sharesAccount ? 'PERMISSION_DENIED' : 'NOT_FOUND';
      assert.equal(foreign.at('error.code'), code, what);
      assert.equal(foreign.assertError(code).text, (await ask(missing(values))).text, what);
    }
  }
});

test('all foreign resources are unchanged', async () => {
  for (const [path, values] of resources) {
    // Resources without a GET of their own are checked in their list, below.
    if (!operations.some((one) => one.method === 'GET' && one.path === path)) continue;
    (await app.request('GET', addressOf(path, values), { key: owner, headers: FROM_PLATFORM })).assertOk(200);
  }
});

/** Shows callers their own requests, whose paths contain the foreign IDs. */
const ECHO = '/me/requests';
/** Shows events of both modes of an account to both (docs/guides/notifications.md). */
const NEWS = '/notifications';

test('no list and no response without an ID contains resources of another workspace', async () => {
  for (const { method, path, pathParameters, isTail, needsKey } of operations) {
    if (method !== 'GET' || pathParameters.length > 0 || isTail || !needsKey || path === ECHO) continue;
    for (const { name, key, sharesAccount } of strangers) {
      if (sharesAccount && path === NEWS) continue;
      const secrets = [...resources].flatMap(([of, values]) =>
        sharesAccount && isAccountLevel(of) ? [] : Object.values(values),
      );
      const { text } = await app.request('GET', path, { key });
      for (const id of secrets) assert.ok(!text.includes(id), `${path} shows ${id} to ${name}`);
    }
  }
});

test('lists show it to its owner: the check above can fail', async () => {
  const lists = [
    '/streams',
    '/me/webhooks',
    '/me/api-keys',
    '/me/integration-domains',
    '/me/events',
    '/notifications',
    '/support/tickets',
    '/tiers',
    '/booking/discount-codes',
  ];
  for (const path of lists) {
    const { text } = (await app.request('GET', `${path}?limit=100`, { key: owner })).assertOk(200);
    const values = Object.values(
      valuesFor(resources, `${path}/{${path === '/me/events' ? 'eventId' : 'id'}}`) ?? {},
    );
    assert.ok(
      values.some((id) => text.includes(id)),
      path,
    );
  }
});
