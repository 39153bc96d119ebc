import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import type { TestResponse } from '../../../../test/harness/response.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { maintainPartitions } from '../../../events/partitions.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import { newId, newUuid } from '../../../kernel/ids.ts';

let app: TestApp;
const clock = new TestClock('2026-11-20T09:00:00Z');
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

const idOf = (answer: TestResponse) => answer.headers['x-svc-request-id'] ?? '';
const send = (key: string, path: string, method = 'GET', body?: unknown) =>
  app.request(method, path, body === undefined ? { key } : { key, body });
const list = async (key: string, query = '') =>
  (await send(key, `/me/requests${query}`)).assertOk(200).list('data').map(Object);

/** The row of one request, once it is written. */
const rowOf = (key: string, requestId: string) =>
  waitFor(async () => (await list(key, `?requestId=${requestId}`))[0], {
    message: `the row of ${requestId}`,
  });

/** Waits until a key's workspace has the given number of rows and returns them, newest first. */
const rowsOf = (key: string, count: number, query = '?limit=100') =>
  waitFor(
    async () => {
      const rows = await list(key, query);
      return rows.length >= count && rows;
    },
    { message: `${count} rows` },
  );

describe('scope of a recording', { concurrency: true }, () => {
  test('a refusal with its code, a success, and which key it was', async () => {
    const { key, id } = await app.createKey();
    const missing = await send(key, '/streams/str_none?token=abc');
    const row = await rowOf(key, idOf(missing));
    assert.deepEqual(row, {
      requestId: idOf(missing),
      method: 'GET',
      path: '/api/v1/streams/str_none',
      status: 404,
      code: 'NOT_FOUND',
      keyId: id,
      ms: row.ms,
      at: '2026-11-20T09:00:00.000Z',
    });
    assert.ok(row.ms > 0 && row.ms < 60_000);
    const made = await send(key, '/streams', 'POST', { title: 'A stream' });
    const success = await rowOf(key, idOf(made));
    assert.deepEqual([success.method, success.status, success.code], ['POST', 201, null]);
  });

  test('every error, also those before a handler and those of a replay', async () => {
    const { key } = await app.createKey();
    const { key: poor } = await app.createKey({ scope: 'STANDARD', permissions: ['videos:read'] });
    const headers = { 'idempotency-key': newUuid() };
    const bad = { key, headers, body: { title: '' } };
    const answers: [TestResponse, string][] = [
      [await send(key, '/nowhere'), 'NOT_FOUND'],
      [await send(key, '/%zz'), 'BAD_REQUEST'],
      [await send(key, '/streams', 'PUT', {}), 'METHOD_NOT_ALLOWED'],
      [await send(key, '/search'), 'CATALOG_DISABLED'],
      [await send(key, '/streams', 'POST', '{'), 'BAD_REQUEST'],
      [await app.request('POST', '/streams', bad), 'BAD_REQUEST'],
      [
        await app.request('POST', '/streams', { ...bad, headers: { 'idempotency-key': 'x' } }),
        'INVALID_IDEMPOTENCY_KEY',
      ],
      [await send(key, '/me/requests?requestId=1'), 'BAD_REQUEST'],
    ];
    for (const [answer, code] of answers) {
      const row = await rowOf(key, idOf(answer));
      assert.deepEqual([row.status, row.code], [answer.status, code]);
    }
    const denied = await send(poor, '/streams');
    // The key may not read the log either: another one of its workspace does.
    await waitFor(async () => {
      const rows = await app.container.db
        .selectFrom('request_log')
        .select(['code'])
        .where('request_id', '=', idOf(denied))
        .execute();
      return rows[0]?.code === 'PERMISSION_DENIED';
    });
    const unknown = await app.request('GET', '/streams', { key: `pk_${'0'.repeat(40)}` });
    unknown.assertError('INVALID_KEY');
    assert.deepEqual(await list(key, `?requestId=${idOf(unknown)}`), []);
  });

  test('150 concurrent errors are all recorded', async () => {
    const { key } = await app.createKey();
    const answers = await Promise.all(Array.from({ length: 150 }, () => send(key, '/streams/none')));
    const sent = new Set(answers.map(idOf));
    await rowsOf(key, 100, '?status=404&limit=100');
    const seen = new Set<string>();
    await waitFor(async () => {
      let cursor = '';
      do {
        const page = (await send(key, `/me/requests?status=404&limit=60${cursor}`)).assertOk(200);
        for (const row of page.list('data')) seen.add(Object(row).requestId);
        const next = page.at('pagination.nextCursor');
        cursor = typeof next === 'string' ? `&cursor=${encodeURIComponent(next)}` : '';
      } while (cursor !== '');
      return seen.size === 150;
    });
    assert.deepEqual(seen, sent);
  });

  test('no success of what programs ask for over and over', async () => {
    const { key } = await app.createKey();
    await send(key, '/health');
    await send(key, '/health/ready');
    await send(key, '/me/requests');
    const last = await send(key, '/me');
    await rowOf(key, idOf(last));
    assert.deepEqual(
      (await list(key)).map(({ path }) => path),
      ['/api/v1/me'],
    );
  });

  test('an event stream when it is opened', async () => {
    const { key } = await app.createKey();
    const controller = new AbortController();
    const tail = await fetch(`${app.url}/api/v1/me/events/stream`, {
      headers: { 'x-api-key': key },
      signal: controller.signal,
    });
    const row = await rowOf(key, tail.headers.get('x-svc-request-id') ?? '');
    assert.deepEqual([row.path, row.status], ['/api/v1/me/events/stream', 200]);
    controller.abort();
    const last = await send(key, '/me');
    await rowOf(key, idOf(last));
    assert.equal((await list(key, '?path=/me/events/*')).length, 1);
  });

  test('no secret of the path or the query', async () => {
    const { key } = await app.createKey();
    const secret = 'mCemoFIGyL0jhfqtNCnkx4Vsei1Pw8OaU8meDtO9_ho';
    const paths = [
      `/upload/${secret}`,
      `/${key}/x`,
      `/streams/none?token=${secret}&key=${key}`,
      `/%zz${secret}`,
    ];
    const answers: TestResponse[] = [];
    for (const path of paths) answers.push(await send(key, path));
    for (const answer of answers) {
      const row = await rowOf(key, idOf(answer));
      assert.doesNotMatch(JSON.stringify(row), new RegExp(`${secret}|${key}|[?]`));
    }
    const long = await rowOf(key, idOf(await send(key, `/${'a/'.repeat(1000)}`)));
    assert.equal(long.path.length, 500);
  });
});

test('successes are sampled: ten of a key, then every tenth, until ten seconds have passed', async () => {
  const { key } = await app.createKey();
  for (let n = 0; n < 40; n++) (await send(key, '/streams')).assertOk(200);
  const last = await send(key, '/streams/none');
  await rowOf(key, idOf(last));
  assert.equal((await list(key, '?status=2xx&limit=100')).length, 13);
  clock.advance(10_000);
  const next = await send(key, '/streams');
  assert.equal((await rowOf(key, idOf(next))).status, 200);
});

describe('GET /me/requests', () => {
  test('filters, alone and together', async () => {
    const { key, id, account } = await app.createKey();
    const other = await app.createKey({ account });
    const start = clock.ms();
    const at = (ms: number) => encodeURIComponent(new Date(start + ms).toISOString());
    const missing = idOf(await send(key, '/streams/none'));
    clock.advance(1000);
    const videos = idOf(await send(key, '/videos'));
    clock.advance(1000);
    const bad = idOf(await send(other.key, '/videos?limit=0'));
    await rowsOf(key, 3);
    const ids = async (query: string) => (await list(key, `?${query}`)).map(({ requestId }) => requestId);
    const expected: [string, string[]][] = [
      ['', [bad, videos, missing]],
      ['order=asc', [missing, videos, bad]],
      ['status=404', [missing]],
      ['status=4xx', [bad, missing]],
      ['status=errors', [bad, missing]],
      ['status=400,2xx', [bad, videos]],
      ['path=/videos', [bad, videos]],
      ['path=/api/v1/streams/none', [missing]],
      ['path=/streams', []],
      ['path=/streams/*', [missing]],
      [`keyId=${id}`, [videos, missing]],
      [`keyId=${newId('key')}`, []],
      [`requestId=${videos.toUpperCase()}`, [videos]],
      [`requestId=${newUuid()}`, []],
      [`from=${at(1000)}`, [bad, videos]],
      [`to=${at(1000)}`, [missing]],
      [`from=${at(0)}&to=${at(2000)}&status=errors`, [missing]],
      [`createdAfter=${at(0)}&createdBefore=${at(2000)}`, [videos]],
    ];
    for (const [query, wanted] of expected) assert.deepEqual(await ids(query), wanted, query);
  });

  test('requests are paged by a cursor that is valid only for its filters', async () => {
    const { key } = await app.createKey();
    const sent: string[] = [];
    for (let n = 0; n < 7; n++) sent.unshift(idOf(await send(key, `/streams/none${n}`)));
    await rowsOf(key, 7);
    const seen: unknown[] = [];
    let page = (await send(key, '/me/requests?limit=3&status=errors')).assertOk(200);
    for (let n = 0; n < 3; n++) {
      seen.push(...page.list('data').map((row) => Object(row).requestId));
      const cursor = page.at('pagination.nextCursor');
      if (typeof cursor !== 'string') break;
      (await send(key, `/me/requests?limit=3&cursor=${cursor}`)).assertError('BAD_REQUEST', 'cursor');
      page = (await send(key, `/me/requests?limit=3&status=errors&cursor=${cursor}`)).assertOk(200);
    }
    assert.deepEqual(
      seen.filter((id) => sent.includes(String(id))),
      sent,
    );
  });

  test('wrong filters are named', async () => {
    const { key } = await app.createKey();
    for (const [query, field] of [
      ['requestId=req_1', 'requestId'],
      ['status=4', 'status'],
      ['status=404,teapot', 'status'],
      ['path=', 'path'],
      [`path=/${'a'.repeat(500)}`, 'path'],
      ['from=yesterday', 'from'],
      ['to=2026-13-01T00:00:00Z', 'to'],
      ['from=2026-11-20T09:00:00Z&to=2026-11-20T09:00:00Z', 'to'],
      ['limit=101', 'limit'],
    ]) {
      (await send(key, `/me/requests?${query}`)).assertError('BAD_REQUEST', field);
    }
  });

  test('a workspace sees only its own requests, with keys that have events:read', async () => {
    const { key, account } = await app.createKey();
    const { key: testKey } = await app.createKey({ account, mode: 'test' });
    const { key: foreign } = await app.createKey();
    const mine = idOf(await send(key, '/streams/none'));
    await rowOf(key, mine);
    for (const one of [testKey, foreign]) {
      assert.deepEqual(await list(one, `?requestId=${mine}`), []);
      assert.deepEqual(await list(one), []);
    }
    // When another account sends this request ID, that request belongs to the other account.
    await app.request('GET', '/streams/none', { key: foreign, headers: { 'x-svc-request-id': mine } });
    assert.equal((await rowOf(foreign, mine)).status, 404);
    assert.equal((await list(key, `?requestId=${mine}`)).length, 1);
    const reader = await app.createKey({ account, scope: 'READ_ONLY', permissions: ['events:read'] });
    assert.equal((await list(reader.key, `?requestId=${mine}`)).length, 1);
    const without = await app.createKey({ account, scope: 'STANDARD', permissions: ['streams:write'] });
    (await send(without.key, '/me/requests')).assertError('PERMISSION_DENIED');
    (await app.request('GET', '/me/requests')).assertError('UNAUTHORIZED');
  });
});

test('recorded requests are written before the program ends', async () => {
  const { key } = await app.createKey();
  const node = await startTestApp({ beside: app, clock });
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => node.request('GET', '/streams/none', { key })),
  );
  await node.close();
  const rows = await list(key, '?limit=100');
  assert.deepEqual(new Set(rows.map(({ requestId }) => requestId)), new Set(answers.map(idOf)));
});

test('nothing is recorded where REQUEST_LOG is off', async () => {
  const { key } = await app.createKey();
  const node = await startTestApp({ beside: app, clock, env: { REQUEST_LOG: 'false' } });
  (await node.request('GET', '/streams/none', { key })).assertError('NOT_FOUND');
  await node.close();
  assert.deepEqual(await list(key), []);
});

test('a log that cannot be written holds no request up', async () => {
  const { key } = await app.createKey();
  const locked = Promise.withResolvers<void>();
  const free = Promise.withResolvers<void>();
  const holder = app.container.sql.begin(async (tx) => {
    await tx`lock table request_log in access exclusive mode`;
    locked.resolve();
    await free.promise;
  });
  await locked.promise;
  const answers: TestResponse[] = [];
  try {
    for (let n = 0; n < 30; n++) answers.push(await send(key, '/streams/none'));
  } finally {
    free.resolve();
    await holder;
  }
  for (const answer of answers) answer.assertError('NOT_FOUND');
  assert.equal((await rowsOf(key, 30)).length, 30);
});

test('rows are readable for 7 days, and then dropped', async () => {
  const { key } = await app.createKey();
  const { sql, config } = app.container;
  const sent = idOf(await send(key, '/streams/none'));
  await rowOf(key, sent);
  await maintainPartitions(sql, clock, config);
  const stored = async () => (await sql`select 1 from request_log where request_id = ${sent}`).length;
  clock.advance(7 * DAY_MS);
  await maintainPartitions(sql, clock, config);
  assert.equal((await list(key, `?requestId=${sent}`)).length, 1);
  clock.advance(1);
  assert.deepEqual(await list(key, `?requestId=${sent}`), []);
  assert.equal(await stored(), 1);
  clock.advance(DAY_MS);
  await maintainPartitions(sql, clock, config);
  assert.equal(await stored(), 0);
});
