import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { ingestSession } from '../../../../test/harness/factories.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
let key: string;
/** Seven streams, oldest first, a minute apart: the second is live, the third has a signal. */
const ids: string[] = [];
const VISIBILITIES = ['PUBLIC', 'UNLISTED', 'PRIVATE', 'PUBLIC', 'PUBLIC', 'UNLISTED', 'TIER'];

before(async () => {
  app = await startTestApp({ clock });
  ({ key } = await app.createKey());
  for (const [index, visibility] of VISIBILITIES.entries()) {
    clock.set(`2026-11-20T09:0${index}:00Z`);
    const body = { title: `Stream ${index}`, visibility };
    const created = await app.request('POST', '/streams', { key, body });
    ids.push(created.assertOk(201).string('data.id'));
  }
  (await app.request('POST', `/streams/${ids[1]}/start`, { key })).assertOk(200);
  await app.container.signals.publishStarted(ingestSession(ids[2] ?? ''));
});
after(() => app.close());

const list = (query: string, by = key) => app.request('GET', `/streams?${query}`, { key: by });

/** Returns the positions (0 = oldest) that a query lists. */
async function positions(query: string): Promise<number[]> {
  return positionsOf((await list(query)).assertOk(200).list('data'));
}

function positionsOf(rows: unknown[]): number[] {
  return rows.map((row) => ids.findIndex((id) => JSON.stringify(row).includes(`"id":"${id}"`)));
}

describe('GET /streams', () => {
  test('newest first, with the pagination of one whole page', async () => {
    const answer = (await app.request('GET', '/streams', { key })).assertOk(200);
    assert.deepEqual(positionsOf(answer.list('data')), [6, 5, 4, 3, 2, 1, 0]);
    assert.deepEqual(answer.at('pagination'), { nextCursor: null, hasMore: false, limit: 25 });
    assert.equal(answer.headers.link, undefined);
  });

  test('an empty list is an empty array', async () => {
    const answer = await list('', (await app.createKey()).key);
    assert.deepEqual(answer.assertOk(200).json, {
      success: true,
      data: [],
      pagination: { nextCursor: null, hasMore: false, limit: 25 },
    });
  });

  test('lists never contain a stream key', async () => {
    for (const row of (await list('')).list('data')) assert.match(JSON.stringify(row), /"streamKey":null/);
  });

  for (const [order, all] of [
    ['desc', [6, 5, 4, 3, 2, 1, 0]],
    ['asc', [0, 1, 2, 3, 4, 5, 6]],
  ] as const) {
    test(`paging in ${order} order returns each row once, and Link is the next page`, async () => {
      const seen: number[] = [];
      let path: string | undefined = `/streams?limit=3&order=${order}&isLive=false`;
      let pages = 0;
      while (path !== undefined) {
        const page = (await app.request('GET', path, { key })).assertOk(200);
        seen.push(...positionsOf(page.list('data')));
        pages += 1;
        const link: string | undefined = page.headers.link;
        assert.equal(page.at('pagination.hasMore'), link !== undefined);
        path = /^<\/api\/v1(\/streams\?[^>]+)>; rel="next"$/.exec(link ?? '')?.[1];
        if (path !== undefined) {
          const cursor = new URL(path, app.url).searchParams.get('cursor');
          assert.equal(cursor, page.at('pagination.nextCursor'));
        }
      }
      assert.deepEqual(
        seen,
        all.filter((position) => position !== 1),
      );
      assert.equal(pages, 2);
    });
  }

  test('a full last page has no next cursor', async () => {
    const page = (await list('limit=7')).assertOk(200);
    assert.deepEqual(page.at('pagination'), { nextCursor: null, hasMore: false, limit: 7 });
  });

  const filters: [query: string, expected: number[]][] = [
    ['isLive=true', [1]],
    ['hasSignal=true', [2]],
    ['isLive=true&hasSignal=true', []],
    ['isLive=false&hasSignal=false', [6, 5, 4, 3, 0]],
    ['visibility=UNLISTED', [5, 1]],
    ['visibility=UNLISTED,TIER', [6, 5, 1]],
    ['visibility=PUBLIC,PUBLIC&limit=2', [4, 3]],
    ['visibility=FOLLOWERS', []],
    ['createdAfter=2026-11-20T09:04:00Z', [6, 5]],
    ['createdBefore=2026-11-20T09:02:00Z', [1, 0]],
    ['createdAfter=2026-11-20T09:00:00Z&createdBefore=2026-11-20T09:03:00Z', [2, 1]],
    ['createdAfter=2026-11-20T10:04:00%2B01:00', [6, 5]],
    ['createdAfter=2026-11-21T05:04:00%2B20:00', [6, 5]],
    ['unknown=1&limit=2', [6, 5]],
  ];
  for (const [query, expected] of filters) {
    test(`?${query}`, async () => assert.deepEqual(await positions(query), expected));
  }

  const refused: [query: string, field: string][] = [
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=2.5', 'limit'],
    ['limit=', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['order=up', 'order'],
    ['isLive=yes', 'isLive'],
    ['hasSignal=1', 'hasSignal'],
    ['visibility=public', 'visibility'],
    ['visibility=', 'visibility'],
    ['createdAfter=yesterday', 'createdAfter'],
    ['createdAfter=2026-11-20', 'createdAfter'],
    ['createdBefore=0000-01-01T00:00:00Z', 'createdBefore'],
    ['cursor=', 'cursor'],
    ['cursor=abc', 'cursor'],
    ['cursor=%00', 'cursor'],
    [`cursor=${'A'.repeat(2000)}`, 'cursor'],
  ];
  for (const [query, field] of refused) {
    test(`?${query.slice(0, 40)} gets 400 with field ${field}`, async () => {
      (await list(query)).assertError('BAD_REQUEST', field);
    });
  }
});

describe('a cursor', () => {
  const cursorOf = async (query: string) => (await list(query)).string('pagination.nextCursor');

  test('a cursor continues where the page ended, whatever the limit and other query parameters', async () => {
    const cursor = await cursorOf('limit=2');
    const next = (await list(`limit=4&cursor=${cursor}&utm_source=x`)).assertOk(200);
    assert.deepEqual(positionsOf(next.list('data')), [4, 3, 2, 1]);
  });

  test('a cursor is rejected with other filters, another order, list, account or mode', async () => {
    const cursor = await cursorOf('limit=2&visibility=PUBLIC');
    const { key: stranger } = await app.createKey();
    const refused = [
      await list(`limit=2&cursor=${cursor}`),
      await list(`limit=2&visibility=PUBLIC,TIER&cursor=${cursor}`),
      await list(`limit=2&visibility=PUBLIC&order=asc&cursor=${cursor}`),
      await list(`limit=2&visibility=PUBLIC&cursor=${cursor}`, stranger),
      await app.request('GET', `/streams/${ids[0]}/sessions?limit=2&cursor=${cursor}`, { key }),
    ];
    for (const answer of refused) answer.assertError('BAD_REQUEST', 'cursor');
    (await list(`limit=2&visibility=PUBLIC&cursor=${cursor}`)).assertOk(200);
  });

  test('a cursor with one changed character is rejected', async () => {
    const cursor = await cursorOf('limit=2');
    for (const position of [0, 8, cursor.length - 2]) {
      const other = cursor[position] === 'A' ? 'B' : 'A';
      const forged = cursor.slice(0, position) + other + cursor.slice(position + 1);
      (await list(`limit=2&cursor=${forged}`)).assertError('BAD_REQUEST', 'cursor');
    }
  });

  test('a cursor survives the deletion of its row', async () => {
    const { key: other } = await app.createKey();
    const made: string[] = [];
    for (const title of ['a', 'b', 'c']) {
      const created = await app.request('POST', '/streams', { key: other, body: { title } });
      made.push(created.string('data.id'));
    }
    const first = await list('limit=2', other);
    (await app.request('DELETE', `/streams/${made[1]}`, { key: other })).assertOk(200);
    const rest = await list(`limit=2&cursor=${first.string('pagination.nextCursor')}`, other);
    assert.deepEqual(rest.assertOk(200).list('data').length, 1);
    assert.equal(rest.at('data.0.id'), made[0]);
  });
});
