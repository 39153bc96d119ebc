import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { insertReadyVideo, insertVideo } from '../../../../test/harness/videos.ts';

let app: TestApp;
let key: string;
/** Seven videos, oldest first, a minute apart. */
const ids: string[] = [];
const MADE = [
  { status: 'READY', title: 'Opening Night', tags: ['music', 'live'] },
  { status: 'FAILED', title: '100% wool', external_id: 'ext-1' },
  { status: 'READY', title: 'snake_case', visibility: 'PRIVATE', tags: ['music'] },
  { status: 'UPLOADING', title: 'Night train', stream_id: 'str_1', source: 'RECORDING' },
  { status: 'READY', title: 'back\\slash', visibility: 'UNLISTED', tags: ['Music'] },
  { status: 'QUEUED', title: 'Überfahrt', external_id: 'ext-1' },
  { status: 'READY', title: 'goodnight', visibility: 'TIER', stream_id: 'str_1' },
] as const;

before(async () => {
  app = await startTestApp();
  const made = await app.createKey();
  ({ key } = made);
  const { db } = app.container;
  for (const [index, video] of MADE.entries()) {
    const columns = { ...video, created_at: new Date(`2026-11-20T09:0${index}:00Z`) };
    const tags = 'tags' in video ? [...video.tags] : [];
    const insert = video.status === 'READY' ? insertReadyVideo : insertVideo;
    ids.push(await insert(db, made.account.live, { ...columns, tags }));
  }
  const foreign = await app.createAccount();
  await insertReadyVideo(db, foreign.live, { title: 'Foreign night', tags: ['music'], external_id: 'ext-1' });
  await insertReadyVideo(db, made.account.test, {
    title: 'Test night',
    tags: ['music'],
    external_id: 'ext-1',
  });
  await insertReadyVideo(db, made.account.live, { title: 'Deleted night', deleted_at: new Date() });
});
after(() => app.close());

const list = (query: string, by = key) => app.request('GET', `/videos?${query}`, { key: by });

/** Returns the positions (0 = oldest) that a query lists. */
async function positions(query: string): Promise<number[]> {
  return positionsOf((await list(query)).assertOk(200).list('data'));
}

function positionsOf(rows: unknown[]): number[] {
  return rows.map((row) => ids.findIndex((id) => JSON.stringify(row).includes(`"id":"${id}"`)));
}

describe('GET /videos', () => {
  test('the list is newest first, with the pagination of one whole page', async () => {
    const answer = (await list('')).assertOk(200);
    assert.deepEqual(positionsOf(answer.list('data')), [6, 5, 4, 3, 2, 1, 0]);
    assert.deepEqual(answer.at('pagination'), { nextCursor: null, hasMore: false, limit: 25 });
  });

  test('each row equals the response of GET for the video', async () => {
    const rows = (await list('')).list('data');
    for (const [index, id] of ids.toReversed().entries()) {
      const one = await app.request('GET', `/videos/${id}`, { key });
      assert.deepEqual(rows[index], one.at('data'));
    }
  });

  test('pagination in both orders returns each row once', async () => {
    for (const [order, all] of [
      ['desc', [6, 5, 4, 3, 2, 1, 0]],
      ['asc', [0, 1, 2, 3, 4, 5, 6]],
    ] as const) {
      const seen: number[] = [];
      let path: string | undefined = `/videos?limit=3&order=${order}&createdAfter=2026-11-20T00:00:00Z`;
      while (path !== undefined) {
        const page = (await app.request('GET', path, { key })).assertOk(200);
        seen.push(...positionsOf(page.list('data')));
        path = /^<\/api\/v1(\/videos\?[^>]+)>; rel="next"$/.exec(page.headers.link ?? '')?.[1];
      }
      assert.deepEqual(seen, all);
    }
  });

  test('the link to the next page contains all parameters, including question marks and signs', async () => {
    const { account, key: other } = await app.createKey();
    for (const title of ['why? 1 + 1 & more', 'why? 1 + 1 & less']) {
      await insertReadyVideo(app.container.db, account.live, { title });
    }
    const page = (await list('limit=1&q=why?+1+%2B+1+%26+', other)).assertOk(200);
    assert.equal(page.list('data').length, 1);
    const next = /^<\/api\/v1(\/videos\?[^>]+)>; rel="next"$/.exec(page.headers.link ?? '')?.[1] ?? '';
    const rest = (await app.request('GET', next, { key: other })).assertOk(200);
    assert.equal(rest.list('data').length, 1);
    assert.notDeepEqual(rest.list('data'), page.list('data'));
  });

  const filters: [query: string, expected: number[]][] = [
    ['status=READY', [6, 4, 2, 0]],
    ['status=FAILED,UPLOADING', [3, 1]],
    ['status=PROCESSING', []],
    ['visibility=PRIVATE', [2]],
    ['visibility=UNLISTED,TIER', [6, 4]],
    ['tag=music', [2, 0]],
    ['tag=Music', [4]],
    ['tag=music,live', []],
    ['externalId=ext-1', [5, 1]],
    ['externalId=ext', []],
    ['tag=music&createdAfter=2026-11-20T09:00:30Z&createdBefore=2026-11-20T09:02:30Z', [2]],
    ['tag=music&status=READY,READY&limit=1', [2]],
    ['streamId=str_1', [6, 3]],
    ['streamId=str_1&status=READY', [6]],
    ['q=night', [6, 3, 0]],
    ['q=NIGHT', [6, 3, 0]],
    ['q=ni', [6, 3, 0]],
    [`q=${encodeURIComponent('überfahrt')}`, [5]],
    [`q=${encodeURIComponent('100%')}`, [1]],
    [`q=${encodeURIComponent('%')}`, [1]],
    ['q=_', [2]],
    [`q=${encodeURIComponent('\\')}`, [4]],
    [`q=${encodeURIComponent("'; drop table video; --")}`, []],
    ['q=night&status=READY&visibility=PUBLIC', [0]],
    ['createdAfter=2026-11-20T09:04:00Z', [6, 5]],
    ['createdBefore=2026-11-20T09:01:00%2B00:00', [0]],
  ];
  for (const [query, expected] of filters) {
    test(query, async () => assert.deepEqual(await positions(query), expected));
  }

  const refused: [query: string, field: string][] = [
    ['status=ready', 'status'],
    ['status=READY,', 'status'],
    ['visibility=SECRET', 'visibility'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['q=', 'q'],
    [`q=${'x'.repeat(201)}`, 'q'],
    ['cursor=abc', 'cursor'],
    ['createdAfter=yesterday', 'createdAfter'],
  ];
  for (const [query, field] of refused) {
    test(`400 for ${query.slice(0, 30)}`, async () => {
      (await list(query)).assertError('BAD_REQUEST', field);
    });
  }

  test('a cursor belongs to its filters', async () => {
    const cursor = (await list('limit=1&status=READY')).assertOk(200).string('pagination.nextCursor');
    (await list(`limit=2&status=READY&cursor=${cursor}`)).assertOk(200);
    (await list(`limit=1&status=FAILED&cursor=${cursor}`)).assertError('BAD_REQUEST', 'cursor');
    const other = await app.createKey();
    (await list(`limit=1&status=READY&cursor=${cursor}`, other.key)).assertError('BAD_REQUEST', 'cursor');
  });

  test('a tag lists the videos that have it now, regardless of their changes', async () => {
    const { key: by } = await app.createKey();
    const make = async (body: object) =>
      (await app.request('POST', '/videos', { key: by, body })).assertOk(201).string('data.id');
    const patch = async (id: string, body: object) =>
      (await app.request('PATCH', `/videos/${id}`, { key: by, body })).assertOk(200);
    const having = async (query: string) =>
      (await list(query, by))
        .assertOk(200)
        .list('data')
        .map((row) => JSON.stringify(row).match(/vid_\w+/)?.[0]);
    const first = await make({ title: 'First', tags: ['a', 'b'] });
    const second = await make({ title: 'Second' });
    assert.deepEqual(await having('tag=a'), [first]);
    await patch(second, { tags: ['a'] });
    assert.deepEqual(await having('tag=a'), [second, first]);
    await patch(first, { tags: ['b', 'c'], visibility: 'PRIVATE' });
    assert.deepEqual(await having('tag=a'), [second]);
    assert.deepEqual(await having('tag=c&visibility=PRIVATE'), [first]);
    assert.deepEqual(await having('tag=b&visibility=PUBLIC'), []);
    (await app.request('DELETE', `/videos/${first}`, { key: by })).assertOk(200);
    assert.deepEqual(await having('tag=b'), []);
  });
});
