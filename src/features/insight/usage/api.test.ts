import assert from 'node:assert/strict';
import { get as httpGet } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { addVideo, FOLDER, madeUpFiles } from '../../../../test/videos/fixture.ts';
import { newId } from '../../../kernel/ids.ts';
import type { UsageEvent } from '../usage-events/index.ts';

const clock = new TestClock('2026-11-20T09:05:00.000Z');
let app: TestApp;
let account: TestAccount;
let key: string;
let keyId: string;
before(async () => {
  app = await startTestApp({ clock });
  ({ account, key, id: keyId } = await app.createKey());
});
after(() => app.close());

const get = (path: string, as = key) => app.request('GET', path, { key: as });
const csv = async (path: string) =>
  (await fetch(`${app.url}/api/v1${path}`, { headers: { 'x-api-key': key, accept: 'text/csv' } })).text();
/** Waits until the condition holds, while rollups run, and returns the result. */
const summed = <T>(read: () => Promise<T | false>, message: string) =>
  waitFor(
    async () => {
      await runTask(app.container, 'analytics rollups');
      return read();
    },
    { message },
  );
const append = (facts: readonly Omit<UsageEvent, 'workspaceId'>[]) =>
  app.container.db.transaction().execute((tx) =>
    app.container.facts.append(
      tx,
      facts.map((fact) => ({ workspaceId: account.live, ...fact })),
    ),
  );
const at = (text: string) => new Date(text);

describe('GET /usage', { concurrency: false }, () => {
  before(async () => {
    const live = (from: string, amount: number): Omit<UsageEvent, 'workspaceId'> => ({
      kind: 'LIVE',
      at: at(from),
      amount,
      bitrateKbps: null,
    });
    await append([
      live('2026-11-18T23:50:00Z', 90_000),
      live('2026-11-19T00:10:00Z', 90_000),
      live('2026-11-19T12:00:00Z', 60_000),
      { kind: 'STORAGE', at: at('2026-11-18T10:00:00Z'), amount: 700 },
      { kind: 'STORAGE', at: at('2026-11-18T10:05:00Z'), amount: 900 },
      { kind: 'STORAGE', at: at('2026-11-19T10:00:00Z'), amount: 300 },
      { kind: 'ROOM', at: at('2026-11-19T10:00:00Z'), amount: 59_999 },
    ]);
    await runTask(app.container, 'analytics rollups');
  });

  test('usage has each bucket of the range, whole minutes that add up, and the maximum storage', async () => {
    const answer = (
      await get('/usage?from=2026-11-17&to=2026-11-20&metric=liveMinutes,storageBytes,roomMinutes')
    ).assertOk(200);
    assert.deepEqual(answer.at('data'), {
      from: '2026-11-17T00:00:00.000Z',
      to: '2026-11-20T00:00:00.000Z',
      timezone: 'UTC',
      granularity: 'DAY',
      series: [
        { date: '2026-11-17', storageBytes: 0, liveMinutes: 0, roomMinutes: 0 },
        { date: '2026-11-18', storageBytes: 900, liveMinutes: 1, roomMinutes: 0 },
        { date: '2026-11-19', storageBytes: 300, liveMinutes: 3, roomMinutes: 0 },
      ],
      totals: { storageBytes: 900, liveMinutes: 4, roomMinutes: 0 },
    });
  });

  test('usage in other time zones, hours and months', async () => {
    const series = async (query: string) =>
      (await get(`/usage?metric=liveMinutes&${query}`))
        .assertOk(200)
        .list('data.series')
        .map(Object)
        .map(({ date, liveMinutes }) => [date, liveMinutes]);
    // India is 5:30 ahead: minutes before midnight UTC fall on the next day.
    assert.deepEqual(await series('from=2026-11-18&to=2026-11-20&timezone=Asia/Kolkata'), [
      ['2026-11-18', 0],
      ['2026-11-19', 4],
    ]);
    const hours = await series('from=2026-11-18T23:00:00Z&to=2026-11-19T02:00:00Z&granularity=HOUR');
    assert.deepEqual(
      hours.map(([, minutes]) => minutes),
      [1, 2, 0],
    );
    assert.deepEqual(await series('from=2026-10-15&to=2026-11-20&granularity=MONTH'), [
      ['2026-10-01', 0],
      ['2026-11-01', 4],
    ]);
    assert.equal((await series('from=2025-10-20&to=2026-11-24')).length, 400);
  });

  test('usage equals the quota, also as CSV', async () => {
    const used = async (name: string) => (await get(`/quota/${name}`)).assertOk(200).at('data.used');
    const totals = (await get('/usage?from=2026-11-01&to=2026-12-01')).assertOk(200);
    assert.equal(await used('LIVE_MINUTES'), totals.at('data.totals.liveMinutes'));
    assert.equal(await used('ROOM_MINUTES'), totals.at('data.totals.roomMinutes'));
    assert.equal(
      await csv('/usage?from=2026-11-18&to=2026-11-19&metric=liveMinutes'),
      [
        'date,storageBytes,egressBytes,encodeMinutes,liveMinutes,roomMinutes,apiRequests,webhookDeliveries',
        '2026-11-18,,,,1,,,',
        '',
      ].join('\r\n'),
    );
    const { key: other } = await app.createKey();
    assert.equal((await get('/usage?from=2026-11-17&to=2026-11-20', other)).at('data.totals.liveMinutes'), 0);
  });

  test('usage rejects an invalid range, time zone or metric and names the field', async () => {
    for (const [query, field] of [
      ['from=2026-11-20&to=2026-11-19', 'to'],
      ['from=2025-10-15&to=2026-11-20', 'from'],
      ['from=2026-11-01&to=2026-11-16&granularity=HOUR', 'granularity'],
      ['granularity=WEEK', 'granularity'],
      ['timezone=Mars/Olympus', 'timezone'],
      ['metric=liveMinutes,likes', 'metric'],
      ['from=yesterday', 'from'],
    ]) {
      (await get(`/usage?${query}`)).assertError('BAD_REQUEST', field);
    }
    (await app.request('GET', '/usage')).assertError('UNAUTHORIZED');
  });
});

describe('GET /usage/requests', { concurrency: false }, () => {
  test('request usage counts every request of a key per day, including rejected ones and 429', async () => {
    const { key: one, id } = await app.createKey({ account, rateLimitPerMinute: 4 });
    (await get('/streams', one)).assertOk(200);
    (await get('/streams/none', one)).assertError('NOT_FOUND');
    (await app.request('POST', '/streams', { key: one, body: {} })).assertError('BAD_REQUEST', 'title');
    (await get('/me/requests', one)).assertOk(200);
    assert.equal((await get('/streams', one)).status, 429);
    const tail = new AbortController();
    const stream = await fetch(`${app.url}/api/v1/me/events/stream`, {
      headers: { 'x-api-key': key },
      signal: tail.signal,
    });
    assert.equal(stream.status, 200);
    const rowsOf = async (of: string) =>
      (await get(`/usage/requests?keyId=${of}`)).assertOk(200).list('data').map(Object);
    const expected = {
      date: '2026-11-20',
      keyId: id,
      requests: 5,
      errors4xx: 3,
      errors5xx: 0,
      rateLimited: 1,
    };
    const rows = await summed(async () => {
      const found = await rowsOf(id);
      return found[0]?.requests >= 5 && found;
    }, 'the requests of the key');
    assert.deepEqual(rows, [expected]);
    const before = (await rowsOf(keyId))[0]?.requests ?? 0;
    tail.abort();
    // Opening the event stream was one request; later reads are separate ones.
    assert.ok(before > 0);
    clock.advance(24 * 3_600_000);
    await get('/me');
    const days = await summed(async () => {
      const found = await rowsOf(keyId);
      return found.length >= 2 && found;
    }, 'the next day');
    assert.deepEqual(
      days.map(({ date }) => date),
      ['2026-11-21', '2026-11-20'],
    );
  });

  test('request usage is paginated, available as CSV, and limited to this workspace', async () => {
    const all = (await get('/usage/requests?order=asc')).assertOk(200).list('data').map(Object);
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = (await get(`/usage/requests?order=asc&limit=1${cursor}`)).assertOk(200);
      seen.push(...page.list('data').map((row) => `${Object(row).date} ${Object(row).keyId}`));
      const next = page.at('pagination.nextCursor');
      cursor = typeof next === 'string' ? `&cursor=${encodeURIComponent(next)}` : '';
    } while (cursor !== '' && seen.length < 10);
    assert.deepEqual(
      seen,
      all.map(({ date, keyId: id }) => `${date} ${id}`),
    );
    assert.match(await csv('/usage/requests?to=2026-11-21'), /^date,keyId,requests,.*\r\n2026-11-20,key_/);
    const newest = all.map(({ date, keyId: id }) => `${date},${id ?? ''}`).toReversed();
    const table = async (query: string) =>
      (await csv(`/usage/requests${query}`))
        .trim()
        .split('\r\n')
        .slice(1)
        .map((line) => line.split(',').slice(0, 2).join(','));
    assert.ok(newest.length > 1);
    for (const query of ['', '?order=desc', '?limit=1']) assert.deepEqual(await table(query), newest, query);
    assert.deepEqual(await table('?order=asc'), newest.toReversed());
    const { key: other } = await app.createKey();
    assert.deepEqual((await get(`/usage/requests?keyId=${keyId}`, other)).assertOk(200).list('data'), []);
    assert.deepEqual((await get(`/usage/requests?keyId=${newId('key')}`)).assertOk(200).list('data'), []);
    for (const [query, field] of [
      ['from=2026-11-20&to=2026-11-19', 'to'],
      ['from=2026-11-20T12:00:00Z', 'from'],
      ['from=2025-10-15&to=2026-11-20', 'from'],
      ['cursor=abc', 'cursor'],
    ]) {
      (await get(`/usage/requests?${query}`)).assertError('BAD_REQUEST', field);
    }
  });
});

test('egress counts bytes of media files as they are sent: whole, in ranges, aborted, and not for HEAD', async () => {
  const { key: own, account: owner } = await app.createKey();
  const file = `${FOLDER}/1080p/s_00000.m4s`;
  const id = await addVideo(app.container, owner, madeUpFiles());
  const url = `${app.url}/v/${id}/${file}`;
  const read = async (headers: Record<string, string> = {}, method = 'GET') =>
    (await (await fetch(url, { headers, method })).arrayBuffer()).byteLength;
  const length = await read();
  assert.ok(length > 10_000);
  assert.equal(await read({ range: 'bytes=100-1099' }), 1000);
  await read({}, 'HEAD');
  assert.equal((await fetch(`${app.url}/v/${id}/none/360p/s_00001.m4s`)).status, 404);
  const whole = length + 1000;
  const egress = async () =>
    Number(
      (await get('/usage?from=2026-11-01&to=2026-12-01', own)).assertOk(200).at('data.totals.egressBytes'),
    );
  await summed(async () => (await egress()) === whole, 'what was sent');
  await new Promise<void>((resolve, reject) => {
    const request = httpGet(url, (answer) => {
      answer.once('data', () => {
        answer.destroy();
        resolve();
      });
    });
    request.on('error', reject);
  });
  const broken = await summed(
    async () => (await egress()) > whole && (await egress()),
    'what was broken off',
  );
  assert.ok(broken <= whole + length, String(broken));
  assert.equal((await get('/quota/EGRESS_BYTES', own)).at('data.used'), broken);
});

test('storage is sampled once per quarter-hour', async () => {
  const { key: own, account: owner } = await app.createKey();
  const set = (bytes: number) =>
    app.container.sql`update workspace set storage_bytes = ${bytes} where id = ${owner.live}`;
  await set(1000);
  await runTask(app.container, 'storage samples');
  await set(400);
  clock.advance(900_000);
  await runTask(app.container, 'storage samples');
  await runTask(app.container, 'analytics rollups');
  const [from, to] = [clock.ms() - 3_600_000, clock.ms()].map((ms) => new Date(ms).toISOString());
  const stored = await get(`/usage?granularity=HOUR&from=${from}&to=${to}`, own);
  assert.equal(stored.assertOk(200).at('data.totals.storageBytes'), 1000);
});
