import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Type from 'typebox';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { TestClock } from '../../../test/harness/clock.ts';
import { createRouteApp, type RouteApp } from '../../../test/harness/route-app.ts';
import type { Deprecation } from '../../kernel/release.ts';
import { listQuery } from '../pagination.ts';
import { defineRoute, NoBody, NoParams, type Route } from '../route.ts';
import { assertDeprecationPolicy } from './deprecation.ts';

const deprecated: Deprecation = {
  since: '2027-01-01',
  sunset: '2028-01-01',
  successor: '/new-things',
  code: 'CATALOG_DISABLED',
};

const things = (path: string, ending?: Deprecation): Route => ({
  ...defineRoute({
    auth: 'key',
    permission: null,
    gate: null,
    idempotent: false,
    originLock: false,
    operationId: `test.${path.slice(1).replace('-', '')}`,
    method: 'GET',
    path,
    summary: 'Things',
    params: NoParams,
    query: listQuery({}),
    body: NoBody,
    reply: { status: 200, schema: Type.Object({ id: Type.String() }), list: true },
    errors: [],
    handler: async () => ({ items: [{ id: 'a' }], nextCursor: 'more', limit: 1 }),
  }),
  ...(ending === undefined ? {} : { deprecated: ending }),
});

const clock = new TestClock('2027-06-01T00:00:00Z');
let app: TestApp;
let chain: RouteApp;
let key: string;

before(async () => {
  app = await startTestApp({ clock });
  chain = await createRouteApp(app.container, [
    things('/old-things', deprecated),
    things('/lonely-things', { ...deprecated, successor: null }),
    things('/new-things'),
  ]);
  ({ key } = await app.createKey());
});
after(async () => {
  await chain.close();
  await app.close();
});

const SINCE = `@${Date.UTC(2027, 0, 1) / 1000}`;
const SUNSET = 'Sat, 01 Jan 2028 00:00:00 GMT';

describe('before its sunset', () => {
  test('a deprecated endpoint works, and every answer announces its end (RFC 9745, RFC 8594)', async () => {
    clock.set('2027-12-31T23:59:59.999Z');
    const answers = [
      (await chain.request('GET', '/old-things', { key })).assertOk(200),
      (await chain.request('GET', '/old-things')).assertError('UNAUTHORIZED'),
      (await chain.request('GET', '/old-things?limit=0', { key })).assertError('BAD_REQUEST', 'limit'),
    ];
    for (const { headers } of answers) {
      assert.equal(headers.deprecation, SINCE);
      assert.equal(headers.sunset, SUNSET);
      const links = headers.link ?? '';
      assert.match(links, /^<\/api\/v1\/changelog>; rel="deprecation"/);
      assert.match(links, /<\/api\/v1\/new-things>; rel="successor-version"/);
    }
    assert.match(answers[0]?.headers.link ?? '', /, <\/api\/v1\/old-things\?cursor=more>; rel="next"$/);
  });

  test('no other endpoint announces anything', async () => {
    const { headers } = (await chain.request('GET', '/new-things', { key })).assertOk(200);
    assert.deepEqual([headers.deprecation, headers.sunset], [undefined, undefined]);
    assert.equal(headers.link, '</api/v1/new-things?cursor=more>; rel="next"');
    const lonely = (await chain.request('GET', '/lonely-things', { key })).assertOk(200);
    assert.doesNotMatch(lonely.headers.link ?? '', /successor/);
  });
});

test('from its sunset on it is 410 with its code, with or without a key; a valid key is counted', async () => {
  clock.set('2028-01-01T00:00:00Z');
  for (const options of [{}, { key: `pk_${'0'.repeat(40)}` }]) {
    (await chain.request('GET', '/old-things', options))
      .assertError('CATALOG_DISABLED')
      .assertRateLimited(false);
  }
  const keyed = (await chain.request('GET', '/old-things', { key })).assertError('CATALOG_DISABLED');
  keyed.assertRateLimited(true);
  assert.match(keyed.string('error.message'), /2028-01-01.*\/api\/v1\/new-things/);
  assert.equal(keyed.headers.sunset, SUNSET);
  (await chain.request('GET', '/new-things', { key })).assertOk(200);
});

test('twelve months are the least, and the end is a 410', () => {
  const check = (change: Partial<Deprecation>) =>
    assertDeprecationPolicy({ operationId: 'x.y', deprecated: { ...deprecated, ...change } });
  check({});
  assert.throws(() => check({ sunset: '2027-12-31' }), /12 months/);
  assert.throws(() => check({ since: '2028-02-29', sunset: '2029-02-27' }), /12 months/);
  assert.throws(() => check({ code: 'NOT_FOUND' }), /410/);
});
