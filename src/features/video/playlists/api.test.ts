import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import type { StoredBody, TestAccount } from '../../../../test/harness/factories.ts';
import { insertReadyVideo, insertVideo } from '../../../../test/harness/videos.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
let account: TestAccount;
let key: string;

before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());
beforeEach(async () => {
  account = await app.createAccount();
  ({ key } = await app.createKey({ account }));
});

const call = (method: string, path: string, body?: unknown) =>
  app.request(method, path, body === undefined ? { key } : { key, body });

async function createPlaylist(body: object = {}): Promise<string> {
  return (await call('POST', '/playlists', { title: 'A playlist', ...body })).assertOk(201).string('data.id');
}
/** Inserts a READY video of one minute, without images by default. */
const video = (columns: Parameters<typeof insertReadyVideo>[2] = {}, workspace = account.live) =>
  insertReadyVideo(app.container.db, workspace, { image_folder: null, ...columns });
/** Inserts a video that is not playable. */
const unready = (columns: Parameters<typeof insertVideo>[2]) =>
  insertVideo(app.container.db, account.live, columns);
async function add(list: string, videoId: string, more: object = {}): Promise<string> {
  const added = await call('POST', `/playlists/${list}/items`, { videoId, ...more });
  return added.assertOk(201).string('data.id');
}
const get = async (id: string) => (await call('GET', `/playlists/${id}`)).assertOk(200);

/** The member `name` of each item, in order; the positions are checked on the way. */
async function column(list: string, name: string): Promise<unknown[]> {
  const answer = (await call('GET', `/playlists/${list}/items?limit=100`)).assertOk(200);
  return answer.list('data').map((_, index) => {
    assert.equal(answer.at(`data.${index}.position`), index);
    return answer.at(`data.${index}.${name}`);
  });
}
const order = (list: string) => column(list, 'id');

async function events(id: string): Promise<[string, Record<string, unknown>][]> {
  const rows = await app.container.sql<{ body: StoredBody }[]>`
    select body::json as body from event where body::json->'data'->>'playlistId' = ${id} order by seq`;
  return rows.map(({ body: { type, data } }) => [type, data]);
}

describe('/playlists', () => {
  test('201 with the whole resource and its defaults; the playlist can be read, and is listed', async () => {
    const created = (await call('POST', '/playlists', { title: 'First' })).assertOk(201);
    const id = created.string('data.id');
    assert.match(id, /^pls_[0-9a-hjkmnp-tv-z]{26}$/);
    const at = clock.now().toISOString();
    const data = {
      id,
      title: 'First',
      description: null,
      visibility: 'PUBLIC',
      thumbnailUrl: null,
      thumbnailVideoId: null,
      itemCount: 0,
      totalDurationSec: 0,
      createdAt: at,
      updatedAt: at,
      mode: 'live',
    };
    assert.deepEqual(created.json, { success: true, data });
    assert.deepEqual((await get(id)).json, { success: true, data });
    const listed = (await call('GET', '/playlists')).assertOk(200);
    assert.deepEqual(listed.at('data'), [data]);
  });

  test('each invalid input is named', async () => {
    for (const [body, field] of [
      [{}, 'title'],
      [{ title: ' ' }, 'title'],
      [{ title: 'x'.repeat(201) }, 'title'],
      [{ title: 'x', visibility: 'TIER' }, 'visibility'],
      [{ title: 'x', description: 1 }, 'description'],
    ] as const) {
      (await call('POST', '/playlists', body)).assertError('BAD_REQUEST', field);
    }
    (await call('GET', '/playlists?visibility=TIER')).assertError('BAD_REQUEST', 'visibility');
  });

  test('a change is stored and advances updatedAt; an update that changes no field does not', async () => {
    const id = await createPlaylist();
    const created = (await get(id)).string('data.updatedAt');
    const body = { title: 'Other', description: 'Words', visibility: 'UNLISTED' };
    const changed = (await call('PATCH', `/playlists/${id}`, body)).assertOk(200);
    assert.deepEqual(
      ['title', 'description', 'visibility'].map((name) => changed.at(`data.${name}`)),
      ['Other', 'Words', 'UNLISTED'],
    );
    assert.ok(changed.string('data.updatedAt') > created);
    const again = (await call('PATCH', `/playlists/${id}`, { ...body, unknown: 1 })).assertOk(200);
    assert.deepEqual(again.json, changed.json);
    const cleared = (await call('PATCH', `/playlists/${id}`, { description: null })).assertOk(200);
    assert.equal(cleared.at('data.description'), null);
    assert.deepEqual((await call('GET', '/playlists?visibility=PUBLIC,PRIVATE')).at('data'), []);
    assert.equal((await call('GET', '/playlists?visibility=UNLISTED')).list('data').length, 1);
  });

  test('a deleted playlist is gone, its videos remain', async () => {
    const id = await createPlaylist();
    const videoId = await video();
    await add(id, videoId);
    const gone = (await call('DELETE', `/playlists/${id}`)).assertOk(200);
    assert.deepEqual(gone.at('data'), { id, deleted: true });
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['GET', '/items'],
    ] as const) {
      const body = method === 'PATCH' ? {} : undefined;
      (await call(method, `/playlists/${id}${path}`, body)).assertError('NOT_FOUND');
    }
    await add(await createPlaylist(), videoId);
  });

  test('reading requires playlists:read; writing requires playlists:write and a key with write access', async () => {
    const id = await createPlaylist();
    const reader = await app.createKey({ account, scope: 'READ_ONLY' });
    const stranger = await app.createKey({ account, scope: 'STANDARD', permissions: ['streams:write'] });
    (await app.request('GET', '/playlists', { key: stranger.key })).assertError('PERMISSION_DENIED');
    const other = await app.createKey({ account, scope: 'STANDARD', permissions: ['playlists:read'] });
    const writer = await app.createKey({ account, scope: 'STANDARD', permissions: ['playlists:write'] });
    for (const { key: by } of [reader, other, writer]) {
      (await app.request('GET', `/playlists/${id}/items`, { key: by })).assertOk(200);
    }
    const body = { title: 'New' };
    const patch = (by: string) => app.request('PATCH', `/playlists/${id}`, { key: by, body });
    (await patch(reader.key)).assertError('INSUFFICIENT_SCOPE');
    (await patch(other.key)).assertError('PERMISSION_DENIED');
    (await patch(writer.key)).assertOk(200);
  });

  test('every change emits an event with its sequence number', async () => {
    const id = await createPlaylist({ title: 'One' });
    const item = await add(id, await video());
    await call('PATCH', `/playlists/${id}`, { title: 'Two' });
    await call('PATCH', `/playlists/${id}`, { title: 'Two' });
    await call('PATCH', `/playlists/${id}/items/${item}`, { position: 0, note: null });
    await call('PUT', `/playlists/${id}/items/order`, { itemIds: [item] });
    await call('DELETE', `/playlists/${id}/items/${item}`);
    await add(id, await video());
    await call('DELETE', `/playlists/${id}`);
    const told = (type: string, title: string, itemCount: number, sequence: number) => [
      `playlist.${type}`,
      { playlistId: id, title, itemCount, sequence },
    ];
    assert.deepEqual(await events(id), [
      told('created', 'One', 0, 1),
      told('updated', 'One', 1, 2),
      told('updated', 'Two', 1, 3),
      told('updated', 'Two', 0, 4),
      told('updated', 'Two', 1, 5),
      told('deleted', 'Two', 1, 6),
    ]);
  });
});

describe('/playlists/{id}/items', () => {
  test('an item has its position, its playback range and the details of its video', async () => {
    const id = await createPlaylist();
    const videoId = await video({ title: 'Talk', duration_sec: 90.5 });
    const body = { videoId, note: 'From here', startSec: 10, stopSec: 40.5 };
    const added = (await call('POST', `/playlists/${id}/items`, body)).assertOk(201);
    const shown = { title: 'Talk', status: 'READY', durationSec: 90.5, thumbnailUrl: null, available: true };
    assert.deepEqual(added.at('data'), {
      id: added.string('data.id'),
      videoId,
      position: 0,
      note: 'From here',
      startSec: 10,
      stopSec: 40.5,
      video: shown,
      addedAt: clock.now().toISOString(),
    });
    const items = (await call('GET', `/playlists/${id}/items`)).assertOk(200);
    assert.deepEqual(items.at('data'), [added.at('data')]);
    const playlist = await get(id);
    // 30.5 seconds of the talk.
    assert.deepEqual([playlist.at('data.itemCount'), playlist.at('data.totalDurationSec')], [1, 31]);
  });

  test('inserting at a position moves later items back; a playlist may contain a video twice', async () => {
    const id = await createPlaylist();
    const videoId = await video();
    const b = await add(id, videoId);
    const d = await add(id, videoId, { position: 1 });
    const a = await add(id, videoId, { position: 0 });
    const c = await add(id, videoId, { position: 2 });
    assert.deepEqual(await order(id), [a, b, c, d]);
    const move = async (item: string, position: number) =>
      (await call('PATCH', `/playlists/${id}/items/${item}`, { position })).assertOk(200);
    assert.equal((await move(a, 2)).at('data.position'), 2);
    assert.deepEqual(await order(id), [b, c, a, d]);
    await move(d, 0);
    assert.deepEqual(await order(id), [d, b, c, a]);
    await move(b, 1);
    assert.deepEqual(await order(id), [d, b, c, a]);
    (await call('DELETE', `/playlists/${id}/items/${b}`)).assertOk(200);
    assert.deepEqual(await order(id), [d, c, a]);
    (await call('DELETE', `/playlists/${id}/items/${b}`)).assertError('NOT_FOUND');
  });

  test('each invalid input is named, and nothing is changed', async () => {
    const id = await createPlaylist();
    const videoId = await video();
    const item = await add(id, videoId, { startSec: 5, stopSec: 9 });
    const before = await events(id);
    for (const [body, field] of [
      [{}, 'videoId'],
      [{ videoId, position: 2 }, 'position'],
      [{ videoId, position: -1 }, 'position'],
      [{ videoId, startSec: -1 }, 'startSec'],
      [{ videoId, startSec: 7, stopSec: 7 }, 'stopSec'],
      [{ videoId, stopSec: 0 }, 'stopSec'],
      [{ videoId, note: 'x'.repeat(1001) }, 'note'],
    ] as const) {
      (await call('POST', `/playlists/${id}/items`, body)).assertError('BAD_REQUEST', field);
    }
    for (const [body, field] of [
      [{ position: 1 }, 'position'],
      [{ position: 0.5 }, 'position'],
      [{ startSec: 9 }, 'stopSec'],
      [{ stopSec: 5 }, 'stopSec'],
    ] as const) {
      (await call('PATCH', `/playlists/${id}/items/${item}`, body)).assertError('BAD_REQUEST', field);
    }
    const changed = { startSec: 9, stopSec: null, note: 'To the end' };
    assert.deepEqual(await events(id), before);
    const answer = (await call('PATCH', `/playlists/${id}/items/${item}`, changed)).assertOk(200);
    assert.deepEqual([answer.at('data.startSec'), answer.at('data.stopSec')], [9, null]);
  });

  test('missing, deleted and foreign videos get 404; so do items of another playlist', async () => {
    const id = await createPlaylist();
    const other = await app.createAccount();
    const deleted = await video();
    await app.container.sql`update video set deleted_at = now() where id = ${deleted}`;
    for (const videoId of ['none', deleted, await video({}, other.live), await video({}, account.test)]) {
      (await call('POST', `/playlists/${id}/items`, { videoId })).assertError('NOT_FOUND', 'videoId');
    }
    const item = await add(await createPlaylist(), await video());
    for (const method of ['PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { position: 0 } : undefined;
      (await call(method, `/playlists/${id}/items/${item}`, body)).assertError('NOT_FOUND');
    }
    assert.deepEqual(await order(id), []);
  });

  test('a deleted video leaves an empty item; one that is being processed is not available yet', async () => {
    const id = await createPlaylist();
    const gone = await video({ title: 'Gone' });
    for (const videoId of [gone, await unready({ status: 'PROCESSING', duration_sec: 30 })])
      await add(id, videoId);
    await add(id, await unready({ status: 'FAILED', duration_sec: 50 }));
    await add(id, await unready({ status: 'UPLOADING' }), { startSec: 5 });
    await app.container.sql`update video set deleted_at = now() where id = ${gone}`;
    const nothing = { title: null, status: null, durationSec: null, thumbnailUrl: null, available: false };
    const shown = await column(id, 'video');
    assert.deepEqual(shown[0], nothing);
    assert.deepEqual(await column(id, 'video.available'), [false, false, false, false]);
    assert.deepEqual(await column(id, 'video.status'), [null, 'PROCESSING', 'FAILED', 'UPLOADING']);
    const playlist = await get(id);
    assert.deepEqual([playlist.at('data.itemCount'), playlist.at('data.totalDurationSec')], [4, 30]);
  });

  test('the thumbnail is the selected video’s while it is in the list, otherwise the first available one', async () => {
    const id = await createPlaylist();
    const [plain, first, second] = [
      await video(),
      await video({ image_folder: 'r0a1' }),
      await video({ image_folder: 'r0a1' }),
    ];
    for (const videoId of [plain, first]) await add(id, videoId);
    const last = await add(id, second);
    const cover = async () => String((await get(id)).at('data.thumbnailUrl'));
    assert.ok((await cover()).includes(first));
    const choose = (thumbnailVideoId: string | null) =>
      call('PATCH', `/playlists/${id}`, { thumbnailVideoId });
    (await choose(second)).assertOk(200);
    assert.ok((await cover()).includes(second));
    const listed = (await call('GET', '/playlists')).assertOk(200);
    assert.equal(listed.at('data.0.thumbnailUrl'), await cover());
    (await call('DELETE', `/playlists/${id}/items/${last}`)).assertOk(200);
    assert.ok((await cover()).includes(first));
    (await choose(second)).assertOk(200);
    (await choose(await video())).assertError('BAD_REQUEST', 'thumbnailVideoId');
    assert.equal((await choose(null)).assertOk(200).at('data.thumbnailVideoId'), null);
  });
});

describe('PUT /playlists/{id}/items/order', () => {
  test('the items take the given order; the response is the playlist', async () => {
    const id = await createPlaylist();
    const videoId = await video();
    const [a, b, c] = [await add(id, videoId), await add(id, videoId), await add(id, videoId)];
    const put = (body: object) => call('PUT', `/playlists/${id}/items/order`, body);
    const answer = (await put({ itemIds: [c, a, b] })).assertOk(200);
    assert.equal(answer.string('data.id'), id);
    assert.deepEqual(await order(id), [c, a, b]);

    for (const itemIds of [[], [c, a], [c, a, a], [c, a, b, b], [c, a, 'none'], [c, a, b, 'none']]) {
      (await put({ itemIds })).assertError('BAD_REQUEST', 'itemIds');
    }
    (await put({ itemIds: [c, a, 1] })).assertError('BAD_REQUEST', 'itemIds.2');
    (await put({})).assertError('BAD_REQUEST', 'itemIds');
    assert.deepEqual(await order(id), [c, a, b]);
  });

  test('409 when the playlist was changed since the state sent by the caller', async () => {
    const id = await createPlaylist();
    const [a, b] = [await add(id, await video()), await add(id, await video())];
    const updatedAt = (await get(id)).string('data.updatedAt');
    const put = (body: object) => call('PUT', `/playlists/${id}/items/order`, body);
    (await put({ itemIds: [b, a], updatedAt })).assertOk(200);
    (await put({ itemIds: [a, b], updatedAt })).assertError('CONFLICT');
    assert.deepEqual(await order(id), [b, a]);
    (await put({ itemIds: [a, b], updatedAt: (await get(id)).string('data.updatedAt') })).assertOk(200);
    (await put({ itemIds: [a, b], updatedAt: 'yesterday' })).assertError('BAD_REQUEST', 'updatedAt');
  });
});
