import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Type from 'typebox';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import type { TestAccount } from '../../../test/harness/factories.ts';
import { resolved } from '../../../test/harness/resolved.ts';
import type { TestResponse } from '../../../test/harness/response.ts';
import { createRouteApp, type RouteApp } from '../../../test/harness/route-app.ts';
import { openApiDocument } from '../openapi/document.ts';
import { defineRoute, NoParams, NoQuery } from '../route.ts';

const pay = defineRoute({
  auth: 'key',
  permission: 'finance:write',
  gate: null,
  idempotent: true,
  originLock: true,
  operationId: 'test.pay',
  method: 'POST',
  path: '/pay',
  summary: 'Pay',
  params: NoParams,
  query: NoQuery,
  body: Type.Object({ cents: Type.Integer() }),
  reply: { status: 200, schema: Type.Object({ paid: Type.Boolean() }) },
  errors: [],
  handler: async () => ({ paid: true }),
});

let app: TestApp;
let chain: RouteApp;

before(async () => {
  app = await startTestApp({
    env: { PUBLIC_URL: 'http://localhost:8080', PLATFORM_HOSTS: 'studio.example.net' },
  });
  chain = await createRouteApp(app.container, [pay]);
});
after(async () => {
  await chain.close();
  await app.close();
});

/** An account with these domains, already verified, and a key of the mode. */
async function partner(mode: 'live' | 'test', ...domains: { domain: string; includeSubdomains?: boolean }[]) {
  const account: TestAccount = await app.createAccount();
  const { key } = await app.createKey({ account, mode });
  for (const domain of domains) {
    (await app.request('POST', '/me/integration-domains', { key, body: domain })).assertOk(201);
  }
  if (mode === 'live') {
    await app.container.sql`
      update integration_domain set status = 'VERIFIED' where workspace_id = ${account.live}`;
  }
  return key;
}

const call = (key: string, headers: Record<string, string> = {}) =>
  chain.request('POST', '/pay', { key, headers, body: { cents: 1 } });

/**
 * Exactly the body of docs/concepts/integration-domains.md#the-origin-lock: the code as a text, with the headers of
 * a counted request.
 */
function assertRefused(answer: TestResponse, code: string): void {
  assert.equal(answer.status, 403, answer.text);
  assert.deepEqual(answer.json, { success: false, error: code });
  answer.assertCommonHeaders().assertRateLimited(true);
}

describe('a checkout call', () => {
  test('an account without a verified domain gets integration_domain_required', async () => {
    const none = await partner('live');
    assertRefused(await call(none), 'integration_domain_required');
    assertRefused(await call(none, { origin: 'https://shop.example.com' }), 'integration_domain_required');
    const account = await app.createAccount();
    const { key } = await app.createKey({ account });
    await app.request('POST', '/me/integration-domains', { key, body: { domain: 'pending.example.com' } });
    assertRefused(await call(key, { origin: 'https://pending.example.com' }), 'integration_domain_required');
  });

  test('from a verified domain passes; from anywhere else it is origin_not_allowed', async () => {
    const key = await partner('live', { domain: 'shop.example.com' });
    (await call(key, { origin: 'https://shop.example.com' })).assertOk(200);
    (await call(key, { referer: 'https://shop.example.com/basket?x=1' })).assertOk(200);
    for (const headers of [
      {},
      { origin: 'null' },
      { origin: 'http://shop.example.com' },
      { origin: 'https://evil.example.com' },
      { origin: 'https://sub.shop.example.com' },
      { origin: 'https://shop.example.com.evil.net' },
      { origin: 'https://shop.example.com@evil.net' },
      { origin: 'not a url' },
      { origin: 'https://evil.net', referer: 'https://shop.example.com/' },
      { referer: 'https://evil.net/?https://shop.example.com' },
    ]) {
      assertRefused(await call(key, headers), 'origin_not_allowed');
    }
  });

  test('subdomains pass where they are included', async () => {
    const key = await partner('live', { domain: 'example.com', includeSubdomains: true });
    (await call(key, { origin: 'https://a.b.example.com' })).assertOk(200);
    assertRefused(await call(key, { origin: 'https://badexample.com' }), 'origin_not_allowed');
  });

  test('from the platform passes for every account', async () => {
    for (const key of [await partner('live'), await partner('live', { domain: 'shop.example.com' })]) {
      (await call(key, { origin: 'http://localhost:8080' })).assertOk(200);
      (await call(key, { origin: 'https://studio.example.net' })).assertOk(200);
      (await call(key, { referer: 'https://studio.example.net/checkout' })).assertOk(200);
    }
    assertRefused(
      await call(await partner('live'), { origin: 'https://studio.example.net.evil.com' }),
      'integration_domain_required',
    );
  });

  test('a domain that lapses stops it', async () => {
    const key = await partner('live', { domain: 'lapsing.example.com' });
    const headers = { origin: 'https://lapsing.example.com' };
    (await call(key, headers)).assertOk(200);
    await app.container
      .sql`update integration_domain set status = 'LAPSED' where domain = 'lapsing.example.com'`;
    assertRefused(await call(key, headers), 'integration_domain_required');
  });

  test('domains of test mode serve only test keys, localhost without TLS', async () => {
    const account = await app.createAccount();
    const sandbox = (await app.createKey({ account, mode: 'test' })).key;
    const live = (await app.createKey({ account })).key;
    await app.request('POST', '/me/integration-domains', { key: sandbox, body: { domain: 'localhost' } });
    (await call(sandbox, { origin: 'http://localhost:3000' })).assertOk(200);
    await app.request('POST', '/me/integration-domains', {
      key: sandbox,
      body: { domain: 'dev.example.com' },
    });
    (await call(sandbox, { origin: 'https://dev.example.com' })).assertOk(200);
    assertRefused(await call(live, { origin: 'https://dev.example.com' }), 'integration_domain_required');
  });
});

test('the lock comes after scope and permission, before the body and the Idempotency-Key', async () => {
  const account = await app.createAccount();
  const reader = (await app.createKey({ account, scope: 'READ_ONLY' })).key;
  (await call(reader)).assertError('INSUFFICIENT_SCOPE');
  const narrow = (await app.createKey({ account, scope: 'STANDARD', permissions: ['videos:write'] })).key;
  (await call(narrow)).assertError('PERMISSION_DENIED');
  (await chain.request('POST', '/pay', {})).assertError('UNAUTHORIZED');
  const { key } = await app.createKey({ account });
  const broken = await chain.request('POST', '/pay', {
    key,
    headers: { 'content-type': 'application/json', 'idempotency-key': '!' },
    body: { cents: 'none' },
  });
  assertRefused(broken, 'integration_domain_required');
});

test('the document declares the error of the origin lock as a string', () => {
  const document = openApiDocument({ routes: [pay], events: [], url: 'https://video.example.com/api/v1' });
  const answer = JSON.stringify(Object(resolved(document)).paths['/pay'].post.responses['403'].content);
  assert.match(answer, /\{"type":"string","enum":\["integration_domain_required","origin_not_allowed"\]\}/);
  const codes = /"code":\{"type":"string","enum":\[([^\]]*)\]/.exec(answer)?.[1] ?? '';
  assert.match(codes, /INSUFFICIENT_SCOPE/);
  assert.doesNotMatch(codes, /origin_not_allowed/);
});
