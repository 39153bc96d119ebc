import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import type { StoredBody, TestAccount } from '../../../../test/harness/factories.ts';
import { insertVideo } from '../../../../test/harness/videos.ts';
import { newId } from '../../../kernel/ids.ts';

let app: TestApp;
let account: TestAccount;
let key: string;
let videoId: string;

before(async () => {
  app = await startTestApp();
  account = await app.createAccount();
  ({ key } = await app.createKey({ account, rateLimitPerMinute: 100_000 }));
  videoId = await insertVideo(app.container.db, account.live);
});
after(() => app.close());

async function createPlaylist(items: number): Promise<{ id: string; items: string[] }> {
  const created = await app.request('POST', '/playlists', { key, body: { title: 'Long' } });
  const id = created.assertOk(201).string('data.id');
  const ids = Array.from({ length: items }, () => newId('pli'));
  await app.container.sql`
    insert into playlist_item (id, playlist_id, video_id, position)
    select item, ${id}, ${videoId}, place - 1 from unnest(${ids}::text[]) with ordinality as given (item, place)`;
  return { id, items: ids };
}

/** Every item by position; positions have no gap. */
async function stored(id: string): Promise<string[]> {
  const rows = await app.container.sql<{ id: string; position: number }[]>`
    select id, position from playlist_item where playlist_id = ${id} order by position`;
  assert.deepEqual(
    rows.map(({ position }) => position),
    rows.map((_, index) => index),
  );
  return rows.map((row) => row.id);
}

const call = (method: string, path: string, body?: unknown) =>
  app.request(method, path, body === undefined ? { key } : { key, body });

describe('concurrent changes', () => {
  test('concurrent inserts at the front, the middle and the end are all stored', async () => {
    const { id } = await createPlaylist(2);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        call('POST', `/playlists/${id}/items`, {
          videoId,
          ...(index % 3 === 2 ? {} : { position: index % 3 }),
        }),
      ),
    );
    for (const answer of answers) answer.assertOk(201);
    assert.equal(new Set(await stored(id)).size, 52);
  });

  test('moves, removals, inserts and new orders never leave a gap or lose an item', async () => {
    const { id, items } = await createPlaylist(30);
    const path = `/playlists/${id}/items`;
    const answers = await Promise.all(
      items.map((item, index) => {
        if (index % 5 === 0) return call('DELETE', `${path}/${item}`);
        if (index % 5 === 1) return call('POST', path, { videoId, position: index % 4 });
        if (index % 5 === 2) return call('PUT', `${path}/order`, { itemIds: items.toReversed() });
        return call('PATCH', `${path}/${item}`, { position: (index * 7) % 20 });
      }),
    );
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    assert.equal(count(201), 6);
    // An order fails when items were removed or added in the interim.
    assert.ok(answers.every(({ status }) => [200, 201, 400, 409].includes(status)));
    const left = await stored(id);
    assert.equal(left.length, 30);
    const kept = items.filter((_, index) => index % 5 !== 0);
    assert.deepEqual(
      kept.filter((item) => !left.includes(item)),
      [],
    );
    const [last] = await app.container.sql<{ body: StoredBody }[]>`
      select body::json as body from event where body::json->'data'->>'playlistId' = ${id}
      order by seq desc limit 1`;
    assert.equal(last?.body.data.itemCount, 30);
  });

  test('an order of 5000 items is stored in one request, and no further item can be added', async () => {
    const { id, items } = await createPlaylist(5000);
    const turned = items.toReversed();
    (await call('PUT', `/playlists/${id}/items/order`, { itemIds: turned })).assertOk(200);
    assert.deepEqual(await stored(id), turned);
    (await call('POST', `/playlists/${id}/items`, { videoId })).assertError('CONFLICT');
    (await call('PATCH', `/playlists/${id}/items/${turned[4999]}`, { position: 0 })).assertOk(200);
    (await call('DELETE', `/playlists/${id}/items/${turned[0]}`)).assertOk(200);
    (await call('POST', `/playlists/${id}/items`, { videoId, position: 0 })).assertOk(201);
    assert.equal((await stored(id)).length, 5000);
  });
});

describe('GET /playlists/{id}/items', () => {
  /** Walks the pages; `between` runs after each. */
  async function walk(
    id: string,
    query: string,
    between: (page: number) => Promise<unknown> = async () => {},
  ) {
    const seen: string[] = [];
    let path: string | undefined = `/playlists/${id}/items?${query}`;
    for (let page = 0; path !== undefined; page++) {
      const answer = (await call('GET', path)).assertOk(200);
      seen.push(...answer.list('data').map((_, index) => answer.string(`data.${index}.id`)));
      path = /^<\/api\/v1([^>]+)>; rel="next"$/.exec(answer.headers.link ?? '')?.[1];
      if (path !== undefined) await between(page);
    }
    return seen;
  }

  test('pages in the order of the playlist, and backwards', async () => {
    const { id, items } = await createPlaylist(11);
    assert.deepEqual(await walk(id, 'limit=4'), items);
    assert.deepEqual(await walk(id, 'limit=4&order=desc'), items.toReversed());
    assert.deepEqual(await walk(id, 'limit=11'), items);
    assert.deepEqual(await walk(id, 'createdAfter=2999-01-01T00:00:00Z'), []);
  });

  test('pagination returns each item once while items are inserted before it and the last one seen is removed', async () => {
    const { id, items } = await createPlaylist(9);
    for (const order of ['asc', 'desc']) {
      const before = await stored(id);
      const changes = [
        () => call('POST', `/playlists/${id}/items`, { videoId, position: order === 'asc' ? 0 : 9 }),
        () => call('DELETE', `/playlists/${id}/items/${order === 'asc' ? items[5] : items[2]}`),
      ];
      const seen = await walk(id, `limit=3&order=${order}`, async (page) => changes[page]?.());
      assert.deepEqual(seen, order === 'asc' ? before : before.toReversed());
    }
  });

  test('a cursor of another playlist or order is rejected', async () => {
    const [one, other] = [await createPlaylist(3), await createPlaylist(3)];
    const first = (await call('GET', `/playlists/${one.id}/items?limit=1`)).assertOk(200);
    const cursor = first.string('pagination.nextCursor');
    for (const path of [`${other.id}/items?limit=1`, `${one.id}/items?order=desc`]) {
      (await call('GET', `/playlists/${path}&cursor=${cursor}`)).assertError('BAD_REQUEST', 'cursor');
    }
  });
});
