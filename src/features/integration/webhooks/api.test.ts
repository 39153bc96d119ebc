import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { newId, newUuid } from '../../../kernel/ids.ts';

let app: TestApp;
let key: string;
let account: TestAccount;

before(async () => {
  app = await startTestApp({ env: { WEBHOOK_ALLOW_PRIVATE: 'hooks.allowed', DNS_SERVERS: '127.0.0.1:9' } });
  ({ key, account } = await app.createKey());
});
after(() => app.close());

const URL_OK = 'https://hooks.example.com/in';
const create = (body: object, as = key) => app.request('POST', '/me/webhooks', { key: as, body });
const createId = async (body: object = { url: URL_OK }, as = key) =>
  (await create(body, as)).assertOk(201).string('data.id');

describe('POST /me/webhooks', () => {
  test('answers 201 with the webhook and its signing secret, which is never shown again', async () => {
    const made = (await create({ url: URL_OK, events: ['stream.*'], description: 'ours' })).assertOk(201);
    const { signingSecret, ...webhook } = Object(made.at('data'));
    assert.match(signingSecret, /^whsec_[A-Za-z0-9_-]{43}$/);
    const { id, createdAt, updatedAt } = webhook;
    assert.match(id, /^wh_[0-9a-z]{26}$/);
    assert.match(createdAt, /^\d{4}-\d\d-\d\dT.*Z$/);
    assert.deepEqual(webhook, {
      id,
      url: URL_OK,
      events: ['stream.*'],
      isActive: true,
      description: 'ours',
      mode: 'live',
      apiVersion: null,
      secretRotatedAt: null,
      stats: {
        totalDeliveries: 0,
        successCount: 0,
        failureCount: 0,
        pendingCount: 0,
        consecutiveFailures: 0,
        lastSuccessAt: null,
        lastFailureAt: null,
        lastStatus: null,
        avgLatencyMs: null,
      },
      createdAt,
      updatedAt,
    });
    const read = (await app.request('GET', `/me/webhooks/${id}`, { key })).assertOk(200);
    assert.deepEqual(read.at('data'), webhook);
    const [row] = await app.container.sql`select secret from webhook where id = ${id}`;
    assert.ok(!Buffer.from(row?.secret).includes(signingSecret));
  });

  test('keeps the url as sent, `*` as every type, each pattern once, and takes isActive', async () => {
    const url = 'https://Hooks.Example.com:8443/a?b=%20#c';
    const every = (await create({ url, events: ['*', 'stream.live'], isActive: false })).assertOk(201);
    assert.equal(every.at('data.url'), url);
    assert.deepEqual(every.at('data.events'), []);
    assert.equal(every.at('data.isActive'), false);
    assert.equal(every.at('data.description'), '');
    const twice = await create({ url, events: ['stream.live', 'stream.*', 'stream.live'] });
    assert.deepEqual(twice.at('data.events'), ['stream.live', 'stream.*']);
    assert.deepEqual((await create({ url })).at('data.events'), []);
  });

  test('refuses addresses that are not public, field url', async () => {
    const refused = [
      ...[
        'http://hooks.example.com/',
        'https://127.0.0.1/',
        'https://10.0.0.1/',
        'https://[::ffff:10.0.0.1]/',
      ],
      ...['https://169.254.169.254/latest', 'https://localhost/', 'https://a.internal/', 'https://a.local./'],
      ...[
        'https://user@hooks.example.com/',
        'https://@hooks.example.com/',
        'ftp://hooks.example.com/',
        'x',
        '',
      ],
      ...['https://2130706433/', 'https://[fd00::1]/', 'https://0x7f.1/', ' https://hooks.example.com/'],
      `https://hooks.example.com/${'a'.repeat(2048)}`,
    ];
    for (const url of refused) (await create({ url })).assertError('BAD_REQUEST', 'url');
    for (const url of [undefined, null, 1, {}]) (await create({ url })).assertError('BAD_REQUEST', 'url');
    (await create({ url: `https://hooks.example.com/${'a'.repeat(2022)}` })).assertOk(201);
    (await create({ url: 'https://hooks.allowed/' })).assertOk(201);
  });

  test('refuses events that match no type, naming the entry', async () => {
    const refused = ['purchase.completed', 'stream', 'nothing.*', 'stream.live.*', 'stream.l*', ''];
    for (const event of refused) {
      (await create({ url: URL_OK, events: ['stream.live', event] })).assertError('BAD_REQUEST', 'events.1');
    }
    (await create({ url: URL_OK, events: 'stream.live' })).assertError('BAD_REQUEST', 'events');
    (await create({ url: URL_OK, events: [1] })).assertError('BAD_REQUEST', 'events.0');
    (await create({ url: URL_OK, description: 5 })).assertError('BAD_REQUEST', 'description');
    (await create({ url: URL_OK, isActive: 'yes' })).assertError('BAD_REQUEST', 'isActive');
  });

  test('that is deleted, or of the other mode, takes no place of the plan', async () => {
    const free = await app.createKey({ account: await app.createAccount({ plan: 'FREE' }) });
    const [made] = await Promise.all([1, 2, 3].map(() => create({ url: URL_OK }, free.key)));
    (await create({ url: URL_OK }, free.key)).assertError('QUOTA_EXCEEDED');
    const id = made?.assertOk(201).string('data.id');
    (await app.request('DELETE', `/me/webhooks/${id}`, { key: free.key })).assertOk(200);
    (await create({ url: URL_OK }, free.key)).assertOk(201);
    const test = await app.createKey({ account: free.account, mode: 'test' });
    assert.equal((await create({ url: URL_OK }, test.key)).assertOk(201).at('data.mode'), 'test');
  });

  test('needs a key that may write webhooks', async () => {
    (await app.request('POST', '/me/webhooks', { body: { url: URL_OK } })).assertError('UNAUTHORIZED');
    const readOnly = await app.createKey({ account, scope: 'READ_ONLY' });
    (await create({ url: URL_OK }, readOnly.key)).assertError('INSUFFICIENT_SCOPE');
    const other = await app.createKey({ account, scope: 'STANDARD', permissions: ['streams:write'] });
    (await create({ url: URL_OK }, other.key)).assertError('PERMISSION_DENIED');
    const right = await app.createKey({ account, scope: 'STANDARD', permissions: ['webhooks:write'] });
    (await create({ url: URL_OK }, right.key)).assertOk(201);
    (await app.request('GET', '/me/webhooks', { key: readOnly.key })).assertOk(200);
  });
});

describe('reading and deleting', () => {
  test('the list is complete, newest first, without secrets', async () => {
    const mine = await app.createKey();
    const ids = [];
    for (let n = 0; n < 30; n++) ids.push(await createId({ url: URL_OK, description: `${n}` }, mine.key));
    const list = (await app.request('GET', '/me/webhooks', { key: mine.key })).assertOk(200);
    const listed = list.list('data').map((item) => Object(item).id);
    assert.deepEqual(listed, ids.toReversed());
    assert.ok(!list.text.includes('whsec_'));
    assert.deepEqual(list.at('pagination'), { nextCursor: null, hasMore: false, limit: 100 });
    const first = (await app.request('GET', '/me/webhooks?limit=20&order=asc', { key: mine.key })).assertOk(
      200,
    );
    const cursor = encodeURIComponent(first.string('pagination.nextCursor'));
    const rest = await app.request('GET', `/me/webhooks?limit=20&order=asc&cursor=${cursor}`, {
      key: mine.key,
    });
    const paged = [...first.list('data'), ...rest.list('data')].map((item) => Object(item).id);
    assert.deepEqual(paged, ids);
  });

  test('the catalog is a sorted array of strings and has no other method', async () => {
    const events = (await app.request('GET', '/me/webhooks/events', { key })).assertOk(200).list('data');
    assert.deepEqual(events, events.map(String).sort());
    for (const type of ['stream.live', 'stream.ended', 'stream.broadcast_started', 'webhook.test']) {
      assert.ok(events.includes(type), type);
    }
    assert.ok(!events.includes('purchase.completed'));
    for (const method of ['POST', 'DELETE', 'PATCH', 'PUT']) {
      const answer = await app.request(method, '/me/webhooks/events', { key, body: {} });
      answer.assertError('METHOD_NOT_ALLOWED');
      assert.match(answer.headers.allow ?? '', /GET/);
      assert.doesNotMatch(answer.headers.allow ?? '', /DELETE/);
    }
  });

  test('another workspace’s webhook is as missing as one that never was', async () => {
    const id = await createId();
    await app.container.sql`
      insert into delivery_log (id, workspace_id, webhook_id, event_id, event_type, trigger, attempt, status,
        created_at)
      values (${newId('dlv')}, ${account.live}, ${id}, ${newUuid()}, 'a.b', 'EVENT', 1, 'SUCCESS', now())`;
    const foreign = await app.createKey();
    const test = await app.createKey({ account, mode: 'test' });
    for (const as of [foreign.key, test.key]) {
      for (const [method, path] of [
        ['GET', ''],
        ['DELETE', ''],
        ['GET', '/deliveries'],
      ] as const) {
        const theirs = await app.request(method, `/me/webhooks/${id}${path}`, { key: as });
        theirs.assertError('NOT_FOUND');
        const missing = await app.request(method, `/me/webhooks/${newId('wh')}${path}`, { key: as });
        assert.equal(theirs.text, missing.text);
      }
    }
    (await app.request('GET', `/me/webhooks/${'x'.repeat(3000)}`, { key })).assertError('NOT_FOUND');
    assert.equal((await app.request('GET', `/me/webhooks/${id}/deliveries`, { key })).list('data').length, 1);
  });

  test('a deleted one is gone with its deliveries', async () => {
    const id = await createId();
    const gone = (await app.request('DELETE', `/me/webhooks/${id}`, { key })).assertOk(200);
    assert.deepEqual(gone.at('data'), { id, deleted: true });
    (await app.request('GET', `/me/webhooks/${id}`, { key })).assertError('NOT_FOUND');
    (await app.request('DELETE', `/me/webhooks/${id}`, { key })).assertError('NOT_FOUND');
    (await app.request('GET', `/me/webhooks/${id}/deliveries`, { key })).assertError('NOT_FOUND');
  });

  test('statistics come from the row', async () => {
    const id = await createId();
    await app.container.sql`
      update webhook set total_deliveries = 3, success_count = 2, failure_count = 1, consecutive_failures = 1,
        last_status = 500, last_success_at = '2026-11-20T09:00:00Z', last_failure_at = '2026-11-20T09:01:00Z',
        latency_total_ms = 100, latency_count = 3 where id = ${id}`;
    await app.container.sql`
      insert into delivery_job (workspace_id, webhook_id, event_id, event_created_at)
      values (${account.live}, ${id}, ${newUuid()}, now())`;
    const read = (await app.request('GET', `/me/webhooks/${id}`, { key })).assertOk(200);
    assert.deepEqual(read.at('data.stats'), {
      totalDeliveries: 3,
      successCount: 2,
      failureCount: 1,
      pendingCount: 1,
      consecutiveFailures: 1,
      lastSuccessAt: '2026-11-20T09:00:00.000Z',
      lastFailureAt: '2026-11-20T09:01:00.000Z',
      lastStatus: 500,
      avgLatencyMs: 33,
    });
  });
});

describe('GET /me/webhooks/{id}/deliveries', () => {
  const start = Date.parse('2026-11-20T09:00:00Z');
  const eventId = newUuid();
  let id: string;
  const ids: string[] = [];

  before(async () => {
    id = await createId();
    const sorted = Array.from({ length: 30 }, (_, n) => newId('dlv', new TestClock(start + n * 1000)));
    ids.push(...sorted.toReversed());
    for (const [n, dlv] of sorted.entries()) {
      await app.container.db
        .insertInto('delivery_log')
        .values({
          id: dlv,
          workspace_id: account.live,
          webhook_id: id,
          event_id: n < 3 ? eventId : newUuid(),
          event_type: n % 2 === 0 ? 'stream.live' : 'stream.ended',
          trigger: n === 7 ? 'TEST' : 'EVENT',
          attempt: (n % 7) + 1,
          status: n % 3 === 0 ? 'FAILED' : 'SUCCESS',
          response_status: n % 3 === 0 ? null : 200,
          response_body: n % 3 === 0 ? null : 'ok',
          latency_ms: n,
          error_message: n % 3 === 0 ? 'ssrf_guard: private address' : null,
          next_attempt_at: n % 3 === 0 ? dateFromMs(start + 60_000) : null,
          replay_of: null,
          created_at: dateFromMs(start + n * 1000),
        })
        .execute();
    }
  });

  const read = (query = '') => app.request('GET', `/me/webhooks/${id}/deliveries${query}`, { key });
  const idsOf = async (query: string) =>
    (await read(query))
      .assertOk(200)
      .list('data')
      .map((item) => Object(item).id);

  test('a delivery has every field of its row, but not the sent body', async () => {
    const rows = (await read()).assertOk(200).list('data');
    assert.equal(rows.length, 25);
    const { id: first, eventId: event, ...row } = Object(rows[2]);
    assert.equal(first, ids[2]);
    assert.match(event, /^[0-9a-f-]{36}$/);
    assert.deepEqual(row, {
      webhookId: id,
      eventType: 'stream.ended',
      attempt: 7,
      status: 'FAILED',
      responseStatus: null,
      responseBody: null,
      latencyMs: 27,
      errorMessage: 'ssrf_guard: private address',
      nextAttemptAt: '2026-11-20T09:01:00.000Z',
      trigger: 'EVENT',
      replayOf: null,
      createdAt: '2026-11-20T09:00:27.000Z',
    });
  });

  test('pages through all rows, both ways, up to 200 a page', async () => {
    const seen: unknown[] = [];
    let cursor = '';
    do {
      const page = (await read(`?limit=7${cursor}`)).assertOk(200);
      seen.push(...page.list('data').map((item) => Object(item).id));
      const next = page.at('pagination.nextCursor');
      cursor = typeof next === 'string' ? `&cursor=${encodeURIComponent(next)}` : '';
    } while (cursor !== '');
    assert.deepEqual(seen, ids);
    assert.deepEqual(await idsOf('?limit=200&order=asc'), ids.toReversed());
    for (const limit of ['0', '201', 'x'])
      (await read(`?limit=${limit}`)).assertError('BAD_REQUEST', 'limit');
  });

  test('filters, alone and together, with lists', async () => {
    assert.equal((await idsOf('?status=FAILED')).length, 10);
    assert.equal((await idsOf('?status=FAILED,SUCCESS&limit=100')).length, 30);
    (await read('?status=PENDING')).assertError('BAD_REQUEST', 'status');
    assert.equal((await idsOf('?eventType=stream.live')).length, 15);
    assert.equal((await idsOf('?eventType=stream.live&status=FAILED')).length, 5);
    assert.equal((await idsOf(`?eventId=${eventId.toUpperCase()}`)).length, 3);
    assert.deepEqual(await idsOf('?eventId=none'), []);
    assert.deepEqual(await idsOf('?trigger=TEST'), [ids[22]]);
    assert.deepEqual(await idsOf('?trigger=REPLAY,RECOVER'), []);
    const times = '?createdAfter=2026-11-20T09:00:10Z&createdBefore=2026-11-20T09:00:13Z';
    assert.deepEqual(await idsOf(times), [ids[17], ids[18]]);
    (await read('?status=DONE')).assertError('BAD_REQUEST', 'status');
    (await read('?trigger=EVENT,X')).assertError('BAD_REQUEST', 'trigger');
  });

  test('a cursor is valid only for its own list and filters', async () => {
    const next = encodeURIComponent((await read('?limit=5')).string('pagination.nextCursor'));
    (await read(`?limit=5&status=FAILED&cursor=${next}`)).assertError('BAD_REQUEST', 'cursor');
    (await read('?cursor=abc')).assertError('BAD_REQUEST', 'cursor');
    const other = await createId();
    const answer = await app.request('GET', `/me/webhooks/${other}/deliveries?limit=5&cursor=${next}`, {
      key,
    });
    answer.assertError('BAD_REQUEST', 'cursor');
  });
});
