import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../../test/harness/app.ts';
import { TestClock } from '../../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../../test/harness/factories.ts';
import { runTask } from '../../../../../test/harness/modules.ts';
import { insertReadyVideo, insertVideo, videoEvents } from '../../../../../test/harness/videos.ts';
import { call } from '../../../../../test/uploads/fixture.ts';
import { addVideo, FOLDER, madeUpFiles } from '../../../../../test/videos/fixture.ts';
import { PLANS } from '../../../../kernel/plans.ts';

const HOUR_MS = 3_600_000;
const FILE = { filename: 'better.mp4', sizeBytes: 4 };
const SUM = 'a'.repeat(64);
const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
let key: string;
let account: TestAccount;

before(async () => {
  app = await startTestApp({ clock });
  account = await app.createAccount({ plan: 'FREE' });
  ({ key } = await app.createKey({ account }));
});
after(() => app.close());

const ready = (columns: object = {}) => insertReadyVideo(app.container.db, account.live, columns);
const start = (id: string, body?: object) =>
  app.request('POST', `/videos/${id}/replacement`, { key, ...(body && { body }) });
const cancel = (id: string) => app.request('DELETE', `/videos/${id}/replacement`, { key });
const read = async (id: string) => (await app.request('GET', `/videos/${id}`, { key })).assertOk(200);
const send = (url: string, bytes: string) => call(app.url + new URL(url).pathname, 'PUT', {}, bytes);
const lastEvent = async (id: string) => (await videoEvents(app.container.db, id)).at(-1);

async function used(): Promise<number> {
  const query = app.container.db
    .selectFrom('workspace')
    .select('storage_bytes')
    .where('id', '=', account.live);
  return (await query.executeTakeFirstOrThrow()).storage_bytes;
}

test('the file arrives by an upload of its own while the video stays unchanged', async () => {
  const id = await ready({ metadata: { a: 'b' }, view_count: 7 });
  const { replacement: none, ...before } = Object((await read(id)).at('data'));
  assert.equal(none, null);
  const usedBefore = await used();
  const made = (await start(id, FILE)).assertOk(201);
  const uploadId = made.string('data.upload.id');
  assert.deepEqual(
    [made.at('data.upload.videoId'), made.at('data.upload.filename'), made.at('data.upload.replaces')],
    [id, 'better.mp4', true],
  );
  const waiting = { status: 'UPLOADING', uploadId, importId: null, progressPercent: 0, error: null };
  assert.deepEqual(made.at('data.replacement'), waiting);
  assert.equal(await used(), usedBefore + 4);
  (await start(id, FILE)).assertError('CONFLICT');

  assert.equal((await send(made.string('data.upload.uploadUrl'), 'four')).status, 204);
  const { replacement, ...after } = Object((await read(id)).at('data'));
  assert.deepEqual(replacement, { ...waiting, status: 'QUEUED' });
  assert.deepEqual(after, before);
  const event = await lastEvent(id);
  assert.deepEqual([event?.type, event?.data.uploadId], ['video.upload.completed', uploadId]);
  (await start(id, FILE)).assertError('CONFLICT');
  const listed = await app.request('GET', '/videos?q=A+video', { key });
  assert.deepEqual(listed.list('data')[0], { ...before, replacement });

  (await cancel(id)).assertOk(200);
  assert.equal((await read(id)).at('data.replacement'), null);
  (await cancel(id)).assertError('CONFLICT');
  const waits = await app.container.sql`select 1 from job
    where name = 'video.prepare' and payload->>'videoId' = ${id} and state = 'waiting'`;
  assert.equal(waits.length, 0);
});

test('only the file of a READY video can be replaced, and its name and size may be sent later', async () => {
  const waits = await insertVideo(app.container.db, account.live);
  (await start(waits)).assertError('CONFLICT', 'status');
  (await start('vid_01kafe3n4pfx2v9yq6m8d7t5zr')).assertError('NOT_FOUND');
  const id = await ready({ title: 'Opening night' });
  (await start(id, { sizeBytes: 0 })).assertError('BAD_REQUEST', 'sizeBytes');
  assert.equal((await start(id)).assertOk(201).at('data.upload.filename'), 'Opening night');
  (await cancel(id)).assertOk(200);
});

test('both files count: a replacement that exceeds the storage is rejected', async () => {
  const id = await ready({ storage_bytes: 100 });
  const { db } = app.container;
  const usedBefore = await used();
  const left = 1000;
  const setUsed = (storage_bytes: number) =>
    db.updateTable('workspace').set({ storage_bytes }).where('id', '=', account.live).execute();
  await setUsed(PLANS.FREE.storageBytes - left);
  (await start(id, { sizeBytes: left + 1 })).assertError('QUOTA_EXCEEDED');
  assert.equal((await read(id)).at('data.replacement'), null);
  const url = (await start(id)).assertOk(201).string('data.upload.uploadUrl');
  assert.equal((await send(url, 'x'.repeat(left + 1))).status, 403);
  assert.equal((await send(url, 'x'.repeat(left))).status, 204);
  assert.equal(await used(), PLANS.FREE.storageBytes);
  (await cancel(id)).assertOk(200);
  await setUsed(usedBefore);
});

test('a session that ends without the file fails only the replacement', async () => {
  const id = await ready();
  const usedBefore = await used();
  const cases: [code: string, end: (uploadId: string, url: string) => Promise<unknown>][] = [
    [
      'UPLOAD_EXPIRED',
      async (uploadId) => (await app.request('DELETE', `/upload/${uploadId}`, { key })).assertOk(200),
    ],
    [
      'CHECKSUM_MISMATCH',
      async (uploadId, url) => {
        await send(url, 'four');
        const body = { sha256: SUM };
        (await app.request('POST', `/upload/${uploadId}/complete`, { key, body })).assertError(
          'BAD_REQUEST',
          'sha256',
        );
      },
    ],
    [
      'UPLOAD_EXPIRED',
      async () => {
        clock.advance(8 * 24 * HOUR_MS);
        await runTask(app.container, 'uploads');
      },
    ],
  ];
  for (const [code, end] of cases) {
    const made = (await start(id, FILE)).assertOk(201);
    const uploadId = made.string('data.upload.id');
    await end(uploadId, made.string('data.upload.uploadUrl'));
    const video = await read(id);
    assert.deepEqual(
      [video.at('data.status'), video.at('data.error'), video.at('data.replacement.status')],
      ['READY', null, 'FAILED'],
    );
    assert.equal(video.at('data.replacement.error.code'), code);
    const event = await lastEvent(id);
    assert.deepEqual([event?.type, event?.data.uploadId], ['video.replacement.failed', uploadId]);
    assert.equal(await used(), usedBefore);
  }
  (await cancel(id)).assertOk(200);
  assert.equal((await read(id)).at('data.replacement'), null, 'put away');
});

test('deleting a video also deletes the pending replacement of its file', async () => {
  const id = await ready({ storage_bytes: 0 });
  const usedBefore = await used();
  const url = (await start(id, FILE)).assertOk(201).string('data.upload.uploadUrl');
  assert.equal((await send(url, 'four')).status, 204);
  (await app.request('DELETE', `/videos/${id}`, { key })).assertOk(200);
  assert.equal(await used(), usedBefore + 4, 'until its files are removed');
  clock.advance(31 * 24 * HOUR_MS);
  await runTask(app.container, 'video purge');
  assert.equal(await used(), usedBefore);
  for await (const { key: left } of app.container.store.list(`w/${account.live}/v/${id}/`)) assert.fail(left);

  const other = await ready({ storage_bytes: 0 });
  await start(other, FILE);
  (await app.request('DELETE', `/videos/${other}`, { key })).assertOk(200);
  assert.equal(await used(), usedBefore);
});

/** A video whose file was replaced a moment ago; that one is in the folder of revision 0. */
async function replaced() {
  const { container } = app;
  const id = await addVideo(container, account, madeUpFiles(), { revision: 1, image_folder: 'r1a2' });
  const original = `w/${account.live}/v/${id}/original/former`;
  await container.store.put(original, 'former', 'video/mp4');
  const now = clock.now();
  await container.db
    .insertInto('video_replacement')
    .values({
      ...{ video_id: id, revision: 1, status: 'READY', upload_id: 'upl_1', created_at: now, updated_at: now },
      ...{ ended_at: now, previous_kept_until: new Date(now.getTime() + HOUR_MS), previous_revision: 0 },
      ...{ previous_original_key: original, previous_image_folder: FOLDER, previous_storage_bytes: 6 },
    })
    .execute();
  await container.db.insertInto('video_folder').values({ video_id: id, revision: 0, number: 1 }).execute();
  await container.sql`update workspace set storage_bytes = storage_bytes + 6 where id = ${account.live}`;
  return { id, original };
}

test('the previous file is in no playlist, but current viewers can play it to its end', async () => {
  const usedBefore = await used();
  const { id, original } = await replaced();
  const get = async (path: string) => (await fetch(`${app.url}/v/${id}/${path}`)).status;
  const paths = [`${FOLDER}/360p/index.m3u8`, `${FOLDER}/360p/s_00000.m4s`, `${FOLDER}/img/sb_001.jpg`];
  for (const path of paths) assert.equal(await get(path), 200, path);
  assert.equal(await get('master.m3u8'), 404, 'what plays has no renditions here');
  await runTask(app.container, 'video purge');
  assert.equal(await used(), usedBefore + 6);
  clock.advance(HOUR_MS + 1);
  await runTask(app.container, 'video purge');
  assert.equal(await used(), usedBefore);
  assert.equal(await app.container.store.head(original), null);
  for await (const { key: left } of app.container.store.list(`w/${account.live}/v/${id}/${FOLDER}/`))
    assert.fail(left);
  const rows = app.container.db.selectFrom('video_rendition').select('name').where('video_id', '=', id);
  assert.equal((await rows.execute()).length, 0);
});

test('previous files are removed first to free storage', async () => {
  const { original } = await replaced();
  const usedBefore = await used();
  const fill = PLANS.FREE.storageBytes - usedBefore;
  await app.container
    .sql`update workspace set storage_bytes = storage_bytes + ${fill} where id = ${account.live}`;
  (await app.request('POST', '/upload', { key, body: { filename: 'a.mp4', sizeBytes: 7 } })).assertError(
    'QUOTA_EXCEEDED',
  );
  assert.notEqual(await app.container.store.head(original), null);
  (await app.request('POST', '/upload', { key, body: { filename: 'a.mp4', sizeBytes: 6 } })).assertOk(201);
  assert.equal(await app.container.store.head(original), null);
});
