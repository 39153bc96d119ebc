import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { type Caller, mayWrite, type Permission, type Scope } from '../../kernel/access.ts';
import { AppError, type ErrorCode } from '../../kernel/errors.ts';
import { apiRoutes } from '../../main/api.ts';
import type { Gate, Route } from '../route.ts';
import { assertAllowed } from './policy.ts';

function caller(scope: Scope, permissions: string[] = []): Caller {
  return {
    workspaceId: 'wsp_1',
    accountId: 'usr_1',
    actor: { kind: 'key', id: 'key_1', userId: 'usr_1' },
    scope,
    permissions,
    mode: 'live',
    plan: 'VIP',
    rateLimitPerMinute: 1,
    dailyQuota: null,
  };
}

type Policy = Pick<Route, 'gate' | 'permission' | 'writes' | 'onlyMode'>;

function verdict(policy: Policy, method: string, who: Caller, hasUserToken = false): ErrorCode | 'ok' {
  try {
    assertAllowed(policy, method, who, hasUserToken);
    return 'ok';
  } catch (error) {
    assert.ok(error instanceof AppError);
    return error.code;
  }
}

describe('the scope matrix', () => {
  type Row = [
    gate: Gate | null,
    permission: Permission | null,
    method: string,
    expected: (ErrorCode | 'ok')[],
  ];
  const keys = [
    caller('READ_ONLY'),
    caller('STANDARD'),
    caller('FULL_ACCESS'),
    caller('READ_ONLY', ['finance:read']),
    caller('STANDARD', ['finance:write']),
    caller('STANDARD', ['videos:write']),
    caller('STANDARD', ['*']),
  ];
  const F = 'FINANCIAL_SCOPE_REQUIRED';
  const I = 'INSUFFICIENT_SCOPE';
  const P = 'PERMISSION_DENIED';
  const O = 'OWNER_SCOPE_REQUIRED';
  const A = 'ADMIN_ONLY';
  const rows: Row[] = [
    [null, null, 'GET', ['ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok']],
    [null, null, 'POST', [I, 'ok', 'ok', I, 'ok', 'ok', 'ok']],
    [null, 'videos:read', 'GET', ['ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok']],
    [null, 'playlists:read', 'GET', ['ok', 'ok', 'ok', P, P, P, 'ok']],
    [null, 'playlists:read', 'HEAD', ['ok', 'ok', 'ok', P, P, P, 'ok']],
    [null, 'videos:write', 'POST', [I, 'ok', 'ok', I, P, 'ok', 'ok']],
    [null, 'videos:write', 'DELETE', [I, 'ok', 'ok', I, P, 'ok', 'ok']],
    ['finance-read', null, 'GET', [F, F, 'ok', 'ok', 'ok', F, 'ok']],
    ['finance-write', null, 'PATCH', [F, F, 'ok', F, 'ok', F, 'ok']],
    ['owner', null, 'POST', [O, O, 'ok', O, O, O, O]],
    ['admin', null, 'GET', [A, A, A, A, A, A, A]],
  ];
  for (const [gate, permission, method, expected] of rows) {
    test(`${method} with gate ${gate} and permission ${permission}`, () => {
      assert.deepEqual(
        keys.map((key) => verdict({ gate, permission }, method, key)),
        expected,
      );
    });
  }

  test('the gate decides before the scope, the scope before the permission', () => {
    const tiers = { gate: 'finance-write', permission: null } as const;
    assert.equal(verdict(tiers, 'POST', caller('READ_ONLY')), F);
    assert.equal(verdict(tiers, 'POST', caller('READ_ONLY', ['finance:write'])), I);
    const videos = { gate: null, permission: 'videos:write' } as const;
    assert.equal(verdict(videos, 'POST', caller('READ_ONLY', ['streams:write'])), I);
  });

  test('a user token is owner-class', () => {
    assert.equal(verdict({ gate: 'owner', permission: null }, 'POST', caller('STANDARD'), true), 'ok');
    assert.equal(verdict({ gate: 'owner', permission: null }, 'POST', caller('READ_ONLY'), true), 'ok');
    assert.equal(verdict({ gate: 'user', permission: null }, 'POST', caller('READ_ONLY'), true), I);
    assert.equal(verdict({ gate: 'admin', permission: null }, 'POST', caller('FULL_ACCESS'), true), A);
  });

  test('what writes nothing of the workspace is open to READ_ONLY', () => {
    assert.equal(verdict({ gate: null, permission: null, writes: false }, 'POST', caller('READ_ONLY')), 'ok');
  });

  test('a setting of the account needs a live key, after everything else', () => {
    const setting = { gate: null, permission: 'profile:write', onlyMode: 'live' } as const;
    const sandbox = { ...caller('FULL_ACCESS'), mode: 'test' } as const;
    assert.equal(verdict(setting, 'PUT', caller('STANDARD')), 'ok');
    assert.equal(verdict(setting, 'PUT', sandbox), P);
    assert.throws(() => assertAllowed(setting, 'PUT', sandbox, false), /live key/);
    assert.equal(verdict(setting, 'PUT', { ...sandbox, scope: 'READ_ONLY' }), I);
  });

  test('simulation endpoints need a test key', () => {
    const simulation = { gate: null, permission: 'streams:write', onlyMode: 'test' } as const;
    assert.equal(verdict(simulation, 'POST', { ...caller('STANDARD'), mode: 'test' }), 'ok');
    assert.throws(() => assertAllowed(simulation, 'POST', caller('FULL_ACCESS'), false), /test key/);
  });

  const holdings: [held: string[], needed: Permission, ok: boolean][] = [
    [['streams:read'], 'streams:read', true],
    [['streams:write'], 'streams:read', true],
    [['streams:read'], 'streams:write', false],
    [['videos:read'], 'streams:read', false],
    [['videos:write', 'rooms:read'], 'videos:read', true],
    [['finance:read'], 'rooms:read', true],
    [['none'], 'rooms:read', false],
    [['streams:*'], 'streams:write', true],
    [['*'], 'rooms:*', true],
    [['rooms:*'], 'rooms:*', true],
    [['stream:write'], 'streams:write', false],
    [['streams'], 'streams:write', false],
    [['videos:write', 'streams:write'], 'streams:write', true],
  ];
  for (const [held, needed, ok] of holdings) {
    test(`${held} ${ok ? 'has' : 'lacks'} ${needed}`, () => {
      const method = needed.endsWith('read') ? 'GET' : 'POST';
      const policy = { gate: null, permission: needed };
      assert.equal(verdict(policy, method, caller('STANDARD', held)), ok ? 'ok' : P);
      if (needed.endsWith('write')) assert.equal(mayWrite(caller('STANDARD', held), needed), ok);
    });
  }

  test('mayWrite is never true of READ_ONLY', () => {
    assert.equal(mayWrite(caller('READ_ONLY', ['*']), 'streams:write'), false);
    assert.equal(mayWrite(caller('FULL_ACCESS', []), 'streams:write'), true);
  });

  test('the rejection names the missing permission', () => {
    assert.throws(
      () => assertAllowed({ gate: null, permission: 'rooms:*' }, 'GET', caller('STANDARD', ['x:y']), false),
      /rooms:\*/,
    );
  });
});

describe('a session of the dashboard', () => {
  const session = (role: 'USER' | 'ADMIN'): Caller => ({
    ...caller('FULL_ACCESS'),
    actor: { kind: 'session', id: 'uss_1', userId: 'usr_1', isOwner: true, role, passwordCheckedMs: 0 },
  });
  const gates: readonly Gate[] = ['finance-read', 'finance-write', 'owner', 'user', 'session-owner'];
  for (const gate of gates) {
    test(`a session of the owner passes ${gate}`, () => {
      assert.equal(verdict({ gate, permission: null }, 'POST', session('USER')), 'ok');
    });
  }
  test('passes admin where its account is an administrator', () => {
    assert.equal(verdict({ gate: 'admin', permission: null }, 'GET', session('ADMIN')), 'ok');
    assert.equal(verdict({ gate: 'admin', permission: null }, 'GET', session('USER')), 'ADMIN_ONLY');
  });
  test('a key never passes gates reserved for sessions', () => {
    for (const gate of ['session-owner', 'admin'] as const) {
      assert.equal(verdict({ gate, permission: null }, 'GET', caller('FULL_ACCESS'), true), 'ADMIN_ONLY');
    }
  });
});

/** The gate decides before the scope does. */
const GATE_ERROR = {
  'finance-read': 'FINANCIAL_SCOPE_REQUIRED',
  'finance-write': 'FINANCIAL_SCOPE_REQUIRED',
  owner: 'OWNER_SCOPE_REQUIRED',
  user: 'INVALID_USER_TOKEN',
  'session-owner': 'ADMIN_ONLY',
  admin: 'ADMIN_ONLY',
} as const satisfies Record<Gate, ErrorCode>;

/** The one permission of the key that has a list. */
const ELSEWHERE = 'imports:write';
/** Permissions of that key, including implied read access to own content that its list does not name. */
const HELD_PERMISSIONS = new Set([
  ...[ELSEWHERE, 'imports:read'],
  ...['videos:read', 'streams:read', 'restreams:read', 'rooms:read'],
]);

describe('every declared endpoint', () => {
  let app: TestApp;
  let routes: Route[];
  const keys: Record<string, string> = {};

  before(async () => {
    app = await startTestApp();
    routes = apiRoutes(app.container, () => true);
    const account = await app.createAccount();
    keys.reader = (await app.createKey({ account, scope: 'READ_ONLY' })).key;
    keys.other = (await app.createKey({ account, scope: 'STANDARD', permissions: [ELSEWHERE] })).key;
  });
  after(() => app.close());

  const call = ({ method, path }: Route, key?: string) =>
    app.request(method, path.replace(/\{\w+\}/g, 'some-id'), key === undefined ? {} : { key });

  test('needs a key, unless it is declared public: 401 without any rate-limit header', async () => {
    for (const route of routes) {
      if (route.auth !== 'key') continue;
      (await call(route)).assertError('UNAUTHORIZED').assertRateLimited(false);
      (await call(route, 'sk_x')).assertError('INVALID_KEY_FORMAT').assertRateLimited(false);
    }
    assert.ok(routes.filter((route) => route.auth === 'key').length > 10);
  });

  test('a READ_ONLY key writes nowhere', async () => {
    for (const route of routes) {
      if (route.auth !== 'key' || route.method === 'GET' || route.writes === false) continue;
      // The body names the key that the request concerns, so the body is validated first.
      if (route.ownKey !== undefined) continue;
      const answer = (await call(route, keys.reader)).assertRateLimited(true);
      answer.assertError(route.gate === null ? 'INSUFFICIENT_SCOPE' : GATE_ERROR[route.gate]);
    }
  });

  test('a key with a permission list goes nowhere that asks for another', async () => {
    for (const route of routes) {
      if (route.auth !== 'key' || route.permission === null || route.gate !== null) continue;
      if (HELD_PERMISSIONS.has(route.permission)) continue;
      (await call(route, keys.other)).assertError('PERMISSION_DENIED').assertRateLimited(true);
    }
  });

  test('a key of another scope is not asked for a permission on surfaces open to any key', async () => {
    for (const route of routes) {
      if (route.auth !== 'key' || route.permission !== null || route.gate !== null) continue;
      if (route.method !== 'GET' || route.path.includes('{') || route.reply.envelope === 'events') continue;
      (await call(route, keys.reader)).assertOk(200);
    }
  });

  test('has its own operation id of the form group.verb, and honest writes', () => {
    const ids = routes.map((route) => route.operationId);
    assert.equal(new Set(ids).size, ids.length);
    for (const route of routes) {
      assert.match(route.operationId, /^[a-zA-Z0-9]+(\.[a-zA-Z0-9]+)+$/);
      assert.match(route.path, /^(\/([a-z0-9-]+|\{\w+\}))+$/, route.path);
      if (route.permission !== null) {
        assert.equal(route.permission.endsWith(':read'), route.method === 'GET', route.operationId);
      }
    }
  });

  test('asks for a permission where it changes something of the key’s own workspace', () => {
    for (const { auth, gate, method, writes, permission, operationId } of routes) {
      if (auth !== 'key' || gate !== null || method === 'GET' || writes === false) continue;
      // Every key may sell (docs/concepts/checkout.md) and follow (docs/concepts/users.md).
      if (/^(checkout\.|users\.(un)?follow$)/.test(operationId)) continue;
      assert.notEqual(permission, null, operationId);
    }
  });
});
