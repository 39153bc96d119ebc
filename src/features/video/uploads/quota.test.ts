import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { call, copyUpload, offsetOf, patch, TUS } from '../../../../test/uploads/fixture.ts';
import { PLANS } from '../../../kernel/plans.ts';

const MB = 2 ** 20;
let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.close());

/** Creates a key of an account whose plan has `left` bytes of storage left. */
async function almostFull(left: number) {
  const account = await app.createAccount({ plan: 'FREE' });
  const { key } = await app.createKey({ account });
  const storage_bytes = PLANS.FREE.storageBytes - left;
  const { db } = app.container;
  await db.updateTable('workspace').set({ storage_bytes }).where('id', '=', account.live).execute();
  const leftNow = async () => {
    const query = db.selectFrom('workspace').select('storage_bytes').where('id', '=', account.live);
    return PLANS.FREE.storageBytes - (await query.executeTakeFirstOrThrow()).storage_bytes;
  };
  return { key, leftNow };
}

/** Returns the upload URL of a session whose length is sent later. */
async function deferred(key: string): Promise<string> {
  const headers = { ...TUS, authorization: `Bearer ${key}`, 'upload-defer-length': '1' };
  const creation = await call(`${app.url}/uploads`, 'POST', headers);
  assert.equal(creation.status, 201, creation.text);
  return app.url + new URL(creation.headers.location ?? '').pathname;
}

/** Returns the bytes of all media files, finished or not. */
async function onDisk(): Promise<number> {
  const dir = join(app.container.config.DATA_DIR, 'media');
  let bytes = 0;
  for (const name of await readdir(dir, { recursive: true }).catch(() => [])) {
    const found = await stat(join(dir, name)).catch(() => null);
    if (found?.isFile()) bytes += found.size;
  }
  return bytes;
}

/** Yields a body without a Content-Length. */
async function* chunked(bytes: number): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < bytes; sent += 64 * 1024) yield Buffer.alloc(64 * 1024, 1);
}

const sum = { 'upload-checksum': `sha1 ${createHash('sha1').update('other').digest('base64')}` };

test('a full plan accepts no byte of a file without a length, regardless of the transfer', async () => {
  const { key, leftNow } = await almostFull(0);
  const before = await onDisk();
  const body = Buffer.alloc(MB);
  for (const headers of [{}, sum]) {
    const url = await deferred(key);
    (await patch(url, 0, body, headers)).assertError('QUOTA_EXCEEDED');
    (await patch(url, 0, chunked(4 * MB), headers)).assertError('QUOTA_EXCEEDED');
    assert.equal(await offsetOf(url), 0);
  }
  assert.equal(await onDisk(), before);
  assert.equal(await leftNow(), 0);
});

test('remaining storage is reserved before it is written, and never exceeded', async () => {
  const { key, leftNow } = await almostFull(2 * MB);
  const [one, other] = [await deferred(key), await deferred(key)];
  assert.equal((await patch(one, 0, Buffer.alloc(MB))).status, 204);
  assert.equal(await leftNow(), MB);
  assert.equal((await patch(one, MB, Buffer.alloc(MB), sum)).status, 460);
  assert.equal(await leftNow(), MB, 'a piece that was not kept is given back');
  (await patch(one, MB, chunked(3 * MB))).assertError('QUOTA_EXCEEDED');
  const stored = await offsetOf(one);
  assert.ok(stored >= MB && stored <= 2 * MB, `${stored}`);
  assert.equal(await leftNow(), 2 * MB - stored);
  (await patch(other, 0, Buffer.alloc(2 * MB))).assertError('QUOTA_EXCEEDED');
  assert.equal(await leftNow(), 2 * MB - stored);
});

test('a canceled session takes no storage, regardless of its reservation', async () => {
  const { key, leftNow } = await almostFull(100 * MB);
  const url = await deferred(key);
  assert.equal((await patch(url, 0, chunked(MB))).status, 204);
  assert.equal(await leftNow(), 99 * MB);
  assert.equal((await call(url, 'DELETE', TUS)).status, 204);
  assert.equal(await leftNow(), 100 * MB);
});

test('a plan limits open sessions; another can be opened when one has ended', async () => {
  const account = await app.createAccount({ plan: 'FREE' });
  const { key } = await app.createKey({ account });
  const open = () => app.request('POST', '/upload', { key, body: { filename: 'a.mp4', sizeBytes: 3 } });
  const made = await Promise.all([open(), open()]);
  for (const answer of made) answer.assertOk(201);
  await copyUpload(app.container.sql, made[0].string('data.id'), PLANS.FREE.openUploads - made.length);
  (await open()).assertError('QUOTA_EXCEEDED');
  const again = { filename: 'a.mp4', sizeBytes: 3, videoId: made[0]?.string('data.videoId') };
  (await app.request('POST', '/upload', { key, body: again })).assertOk(201);
  (await app.request('DELETE', `/upload/${made[1]?.string('data.id')}`, { key })).assertOk(200);
  (await open()).assertOk(201);
});
