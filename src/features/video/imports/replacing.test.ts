import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { after, before, beforeEach, test } from 'node:test';
import { insertReadyVideo, insertVideo, videoEvents } from '../../../../test/harness/videos.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { type ImportFixture, startFreeImports } from '../../../../test/imports/fixture.ts';
import { PLANS } from '../../../kernel/plans.ts';
import { videoReplaced, videoReplacementFailed } from '../videos/events.ts';

let fixture: ImportFixture;
let key: string;
let workspaceId: string;

before(async () => {
  ({ fixture, key, workspaceId } = await startFreeImports());
});
after(() => fixture.close());
beforeEach(() => {
  fixture.source.requests.length = 0;
});

const bytes = randomBytes(500_000);
const ready = () => insertReadyVideo(fixture.app.container.db, workspaceId, { storage_bytes: 0 });
const request = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) =>
  fixture.app.request(method, path, { key, ...(body && { body }) });
const replace = (id: string, body: object) => request('POST', `/videos/${id}/replacement`, body);
const read = async (id: string) => (await request('GET', `/videos/${id}`)).assertOk(200);

/** @returns the id of the import. */
async function begin(id: string, sourceUrl: string): Promise<string> {
  return (await replace(id, { sourceUrl })).assertOk(201).string('data.replacement.importId');
}

/** Waits until nothing on the disk belongs to the import. */
function isGone(importId: string): Promise<unknown> {
  const folder = fixture.app.container.config.DATA_DIR;
  const left = async () =>
    (await readdir(folder, { recursive: true })).filter((name) => name.includes(importId));
  return waitFor(async () => (await left()).length === 0, { message: `no file of ${importId}` });
}

const tell = (event: typeof videoReplaced | typeof videoReplacementFailed, data: object) =>
  fixture.app.container.events.transaction((_tx, append) =>
    append<typeof event.data>(event, workspaceId, { ...event.sample, uploadId: null, ...data }),
  );

test('the replacement file is fetched while the video stays unchanged', async () => {
  const id = await ready();
  const { replacement: none, ...before } = Object((await read(id)).at('data'));
  assert.equal(none, null);
  const usedBefore = await fixture.used(workspaceId);
  const made = (await replace(id, { sourceUrl: fixture.served('/better.mp4', () => bytes) })).assertOk(201);
  const importId = made.string('data.replacement.importId');
  assert.equal(made.at('data.upload'), null);
  const waiting = { status: 'UPLOADING', uploadId: null, importId, progressPercent: 0, error: null };
  assert.deepEqual(made.at('data.replacement'), waiting);
  const done = await fixture.reached(key, importId, 'PROCESSING');
  assert.deepEqual([done.at('data.videoId'), done.at('data.replaces')], [id, true]);
  const { replacement, ...after } = Object((await read(id)).at('data'));
  assert.deepEqual(replacement, { ...waiting, status: 'QUEUED' });
  assert.deepEqual(after, before);
  assert.equal(await fixture.used(workspaceId), usedBefore + bytes.length);
  const stored = await fixture.app.container.db
    .selectFrom('video_replacement')
    .select('original_key')
    .where('import_id', '=', importId)
    .executeTakeFirstOrThrow();
  assert.ok(
    bytes.equals((await fixture.app.container.store.read(stored.original_key ?? '')) ?? Buffer.alloc(0)),
  );
  assert.ok((await videoEvents(fixture.app.container.db, id)).every(({ type }) => !type.includes('upload')));
  const again = { sourceUrl: fixture.served('/other.mp4', () => bytes) };
  (await replace(id, again)).assertError('CONFLICT');

  await tell(videoReplaced, { videoId: id, importId });
  await fixture.reached(key, importId, 'COMPLETED');
  const [event] = (await request('GET', '/me/events?type=import.completed')).assertOk(200).list('data');
  assert.equal(Object(event).data.importId, importId);
});

test('an unplayable file fails its import; canceling the replacement ends the import', async () => {
  const first = await ready();
  const failed = await begin(
    first,
    fixture.served('/words.mp4', () => bytes),
  );
  await fixture.reached(key, failed, 'PROCESSING');
  const { error } = videoReplacementFailed.sample;
  await tell(videoReplacementFailed, { videoId: first, importId: failed });
  assert.deepEqual((await fixture.reached(key, failed, 'FAILED')).at('data.error'), error);

  const usedBefore = await fixture.used(workspaceId);
  const id = await ready();
  const slow = fixture.served('/slow.mp4', () => bytes, { etag: '"s"', stallAfter: 200_000 });
  const coming = async (importId: string) =>
    (await request('GET', `/imports/${importId}`)).at('data.bytesTotal') === bytes.length;
  const second = await begin(id, slow);
  await waitFor(() => coming(second), { message: 'the file' });
  assert.equal(await fixture.used(workspaceId), usedBefore + bytes.length);
  const shown = (await request('DELETE', `/videos/${id}/replacement`)).assertOk(200);
  assert.equal(shown.at('data.replacement'), null);
  await fixture.reached(key, second, 'CANCELED');
  await isGone(second);
  assert.equal(await fixture.used(workspaceId), usedBefore);

  const third = await begin(id, slow);
  await waitFor(() => coming(third), { message: 'the file once more' });
  (await request('POST', `/imports/${third}/cancel`)).assertOk(200);
  const after = await read(id);
  assert.deepEqual(
    [after.at('data.status'), after.at('data.replacement.error.code')],
    ['READY', 'UPLOAD_EXPIRED'],
  );
  await isGone(third);
  assert.equal(await fixture.used(workspaceId), usedBefore);
  (await request('POST', `/imports/${third}/retry`)).assertError('CONFLICT');

  const fourth = await begin(id, slow);
  await waitFor(() => coming(fourth), { message: 'the file for the last time' });
  (await request('DELETE', `/videos/${id}`)).assertOk(200);
  await fixture.reached(key, fourth, 'CANCELED');
  await waitFor(async () => (await fixture.used(workspaceId)) === usedBefore, {
    message: 'the storage of a deleted video',
  });
});

test('C23.10: a replacement whose source answers 404 fails immediately, leaves the video unchanged and can be retried', async () => {
  const usedBefore = await fixture.used(workspaceId);
  const id = await ready();
  const importId = await begin(id, `${fixture.source.url}/late.mp4`);
  await waitFor(
    async () => {
      await fixture.hurry();
      return (await request('GET', `/imports/${importId}`)).at('data.status') === 'FAILED';
    },
    { timeoutMs: 10_000, intervalMs: 50 },
  );
  assert.equal(fixture.source.requests.length, 1);
  const failed = await read(id);
  assert.deepEqual([failed.at('data.status'), failed.at('data.error')], ['READY', null]);
  assert.deepEqual(failed.at('data.replacement.error.code'), 'SOURCE_UNREACHABLE');
  const last = (await videoEvents(fixture.app.container.db, id)).at(-1);
  assert.deepEqual(
    [last?.type, last?.data.uploadId, last?.data.importId],
    ['video.replacement.failed', null, importId],
  );
  assert.equal(await fixture.used(workspaceId), usedBefore);

  fixture.served('/late.mp4', () => bytes);
  (await request('POST', `/imports/${importId}/retry`)).assertOk(200);
  await fixture.reached(key, importId, 'PROCESSING');
  assert.equal((await read(id)).at('data.replacement.status'), 'QUEUED');
  (await request('DELETE', `/videos/${id}/replacement`)).assertOk(200);
  await fixture.reached(key, importId, 'CANCELED');
});

test('replacements reject the same URLs as imports, and only the file of a READY video can be replaced', async () => {
  const { db, sql } = fixture.app.container;
  const id = await ready();
  const own = fixture.served('/own.mp4', () => bytes);
  const refused: object[] = [
    ...['http://10.0.0.1/a.mp4', 'http://169.254.169.254/latest/', 'file:///etc/passwd', 'no address'],
    'https://www.youtube.com/watch?v=dQw4w9WgXcQ',
  ].map((sourceUrl) => ({ sourceUrl }));
  for (const body of [...refused, { sourceUrl: own, sizeBytes: 4 }]) {
    (await replace(id, body)).assertError('BAD_REQUEST', 'sourceUrl');
  }
  const waits = await insertVideo(db, workspaceId);
  (await replace(waits, { sourceUrl: own })).assertError('CONFLICT', 'status');
  (await replace('vid_01kafe3n4pfx2v9yq6m8d7t5zr', { sourceUrl: own })).assertError('NOT_FOUND');
  const { key: other } = await fixture.app.createKey();
  const body = { sourceUrl: own };
  (await fixture.app.request('POST', `/videos/${id}/replacement`, { key: other, body })).assertError(
    'NOT_FOUND',
  );
  const usedBefore = await fixture.used(workspaceId);
  await sql`update workspace set storage_bytes = ${PLANS.FREE.storageBytes} where id = ${workspaceId}`;
  (await replace(id, body)).assertError('QUOTA_EXCEEDED');
  await sql`update workspace set storage_bytes = ${usedBefore} where id = ${workspaceId}`;
  assert.equal((await read(id)).at('data.replacement'), null);
  assert.equal(fixture.source.requests.length, 0);
});
