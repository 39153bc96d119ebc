import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import type { TestAccount } from '../../../test/harness/factories.ts';
import { PERMISSIONS, type Permission } from '../../kernel/access.ts';
import { apiRoutes } from '../../main/api.ts';
import type { Route } from '../route.ts';

let app: TestApp;
let account: TestAccount;
let routes: Route[];
/** One of each kind: that every route keeps its policy is seen by `features/team/roles.test.ts`. */
let kinds: Route[];
let owner: string;

before(async () => {
  app = await startTestApp();
  account = await app.createAccount();
  owner = (await app.createKey({ account })).key;
  routes = apiRoutes(app.container, () => true).filter(
    ({ auth, gate, onlyMode }) =>
      auth === 'key' &&
      (gate === null || gate === 'owner' || gate === 'user') &&
      // The keys below are live ones.
      onlyMode !== 'test',
  );
  kinds = [...new Map(routes.map((route) => [kindOf(route), route])).values()];
});
after(() => app.close());

const kindOf = ({ gate, permission, method, ownKey }: Route) =>
  JSON.stringify([gate, permission, method === 'GET', ownKey ?? null]);

/** Asks the endpoint for nothing that exists. An event stream is asked for a type that does not, so it ends. */
function call({ method, path, reply }: Route, key: string) {
  const query = reply.envelope === 'events' ? '?type=no.such' : '';
  return app.request(method, path.replace(/\{\w+\}/g, 'some-id') + query, { key });
}

/** What `held` includes, written out once more. */
function included(held: Permission, asked: Permission | null): boolean {
  if (asked === null || held === '*' || held === asked) return true;
  const [noun, action] = asked.split(':');
  return held === `${noun}:*` || (held === `${noun}:write` && action === 'read');
}

describe('a key that holds one permission', () => {
  for (const held of PERMISSIONS) {
    test(`${held} opens what it names and what asks for none`, async () => {
      const body = { name: held, permissions: [held] };
      const made = (await app.request('POST', '/me/api-keys', { key: owner, body })).assertOk(201);
      const key = made.string('data.key');
      for (const route of kinds) {
        const answer = await call(route, key);
        const code = answer.status < 400 ? null : answer.at('error.code');
        if (route.gate === 'owner' && route.ownKey === undefined) assert.equal(code, 'OWNER_SCOPE_REQUIRED');
        else if (route.gate === 'user') assert.equal(code, 'INVALID_USER_TOKEN');
        else if (included(held, route.permission)) {
          assert.notEqual(code, 'PERMISSION_DENIED', route.operationId);
          assert.ok(answer.status < 500, route.operationId);
        } else assert.equal(code, 'PERMISSION_DENIED', route.operationId);
      }
    });
  }

  test('what changes the profile, shows events, webhooks or domains asks for one', () => {
    const asked = new Map(routes.map(({ method, path, permission }) => [`${method} ${path}`, permission]));
    const expected = {
      'GET /me': null,
      'PATCH /me': 'profile:write',
      'PUT /me/avatar': 'profile:write',
      'DELETE /me/avatar': 'profile:write',
      'PUT /me/embed-allowlist': 'profile:write',
      'PUT /notifications/preferences': 'profile:write',
      'POST /notifications/read-all': 'profile:write',
      'GET /me/events': 'events:read',
      'GET /me/events/stream': 'events:read',
      'GET /me/events/{eventId}': 'events:read',
      'GET /me/webhooks': 'webhooks:read',
      'GET /me/webhooks/events': null,
      'GET /me/webhooks/{id}/deliveries': 'webhooks:read',
      'GET /me/integration-domains': 'domains:read',
      'GET /me/api-keys': null,
    };
    for (const [endpoint, permission] of Object.entries(expected)) {
      assert.equal(asked.get(endpoint), permission, endpoint);
    }
  });
});

test('settings of the whole account are not for keys of the test mode', async () => {
  const sandbox = (await app.createKey({ account, mode: 'test' })).key;
  const settings = [
    ['PUT', '/me/embed-allowlist', { mode: 'ALLOWLIST', domains: ['evil.example'] }],
    ['PUT', '/notifications/preferences', { channels: {} }],
  ] as const;
  for (const [method, path, body] of settings) {
    const before = await app.request('GET', path, { key: owner });
    const refused = await app.request(method, path, { key: sandbox, body });
    refused.assertError('PERMISSION_DENIED').assertRateLimited(true);
    const seen = (await app.request('GET', path, { key: sandbox })).assertOk(200);
    assert.deepEqual(seen.at('data'), before.at('data'));
  }
});
