import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { createSession, offsetOf, patch } from '../../../../test/uploads/fixture.ts';
import { MAX_FILE_BYTES } from '../../../kernel/plans.ts';

const DAY_MS = 86_400_000;
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describe('upload sessions', () => {
  const clock = new TestClock();
  let app: TestApp;
  before(async () => {
    app = await startTestApp({ clock });
  });
  after(() => app.close());

  const read = async (key: string, id: string) =>
    (await app.request('GET', `/upload/${id}`, { key })).assertOk(200);
  const video = async (key: string, id: string) =>
    (await app.request('GET', `/videos/${id}`, { key })).assertOk(200);
  const used = async (workspaceId: string) => {
    const { storage_bytes: bytes } = await app.container.db
      .selectFrom('workspace')
      .select('storage_bytes')
      .where('id', '=', workspaceId)
      .executeTakeFirstOrThrow();
    return bytes;
  };
  const events = async (workspaceId: string) => {
    const rows = await app.container.db
      .selectFrom('event')
      .select('type')
      .where('workspace_id', '=', workspaceId)
      .orderBy('created_at')
      .execute();
    return rows.map(({ type }) => type).filter((type) => type !== 'api_key.created');
  };

  test('a session has the documented shape, creates a video and reserves its storage', async () => {
    const { key, account } = await app.createKey();
    const answer = await app.request('POST', '/upload', {
      key,
      body: {
        filename: 'Opening night.final.MP4',
        sizeBytes: 1000,
        visibility: 'UNLISTED',
        metadata: { a: 'b' },
        corsOrigin: 'https://studio.example.com',
      },
    });
    const { id, videoId, uploadUrl, expiresAt, createdAt, ...rest } = Object(answer.assertOk(201).at('data'));
    assert.match(id, /^upl_[0-9a-z]{26}$/);
    assert.match(videoId, /^vid_/);
    assert.match(uploadUrl, /^http:\/\/marquee\.test\/uploads\/[A-Za-z0-9_-]{43}$/);
    assert.equal(Date.parse(expiresAt) - Date.parse(createdAt), 7 * DAY_MS);
    assert.deepEqual(rest, {
      status: 'WAITING',
      protocol: 'TUS',
      corsOrigin: 'https://studio.example.com',
      filename: 'Opening night.final.MP4',
      sizeBytes: 1000,
      receivedBytes: 0,
      mimeType: 'application/octet-stream',
      sha256: null,
      chunkSizeBytes: 64 * 2 ** 20,
      error: null,
      replaces: false,
    });
    assert.deepEqual((await read(key, id)).at('data'), answer.at('data'));
    const made = await video(key, videoId);
    assert.equal(made.at('data.title'), 'Opening night.final');
    assert.equal(made.at('data.status'), 'UPLOADING');
    assert.equal(made.at('data.visibility'), 'UNLISTED');
    assert.equal(made.at('data.uploadId'), id);
    assert.deepEqual(made.at('data.metadata'), { a: 'b' });
    assert.equal(await used(account.live), 1000);
  });

  test('invalid sizes, names and origins are rejected with their field', async () => {
    const { key, account } = await app.createKey();
    const refused: [string, object][] = [
      ['filename', { sizeBytes: 1 }],
      ['filename', { filename: ' ', sizeBytes: 1 }],
      ['sizeBytes', { filename: 'a' }],
      ['sizeBytes', { filename: 'a', sizeBytes: 0 }],
      ['sizeBytes', { filename: 'a', sizeBytes: -1 }],
      ['sizeBytes', { filename: 'a', sizeBytes: 1.5 }],
      ['sizeBytes', { filename: 'a', sizeBytes: '10' }],
      ['sizeBytes', { filename: 'a', sizeBytes: MAX_FILE_BYTES + 1 }],
      ['mimeType', { filename: 'a', sizeBytes: 1, mimeType: 'video/mp4\r\nX: y' }],
      ['sha256', { filename: 'a', sizeBytes: 1, sha256: 'abc' }],
      ['visibility', { filename: 'a', sizeBytes: 1, visibility: 'PURCHASE' }],
      ['corsOrigin', { filename: 'a', sizeBytes: 1, corsOrigin: 'https://a.example.com/page' }],
      ['corsOrigin', { filename: 'a', sizeBytes: 1, corsOrigin: '*' }],
      ['corsOrigin', { filename: 'a', sizeBytes: 1, corsOrigin: 'javascript:alert(1)' }],
    ];
    for (const [field, body] of refused) {
      (await app.request('POST', '/upload', { key, body })).assertError('BAD_REQUEST', field);
    }
    const whole = { filename: 'a', sizeBytes: MAX_FILE_BYTES };
    (await app.request('POST', '/upload', { key, body: whole })).assertOk(201);
    assert.equal(await used(account.live), MAX_FILE_BYTES);
  });

  test('uploads require a key with the upload permission, and READ_ONLY keys can read them', async () => {
    const { key: full, account } = await app.createKey();
    const { id } = await createSession(app, full, { sizeBytes: 5 });
    const body = { filename: 'a', sizeBytes: 1 };
    const { key: other } = await app.createKey({ account, scope: 'STANDARD', permissions: ['videos:write'] });
    (await app.request('POST', '/upload', { key: other, body })).assertError('PERMISSION_DENIED');
    (await app.request('GET', `/upload/${id}`, { key: other })).assertError('PERMISSION_DENIED');
    const { key: writer } = await app.createKey({
      account,
      scope: 'STANDARD',
      permissions: ['upload:write'],
    });
    (await app.request('POST', '/upload', { key: writer, body })).assertOk(201);
    (await app.request('GET', `/upload/${id}`, { key: writer })).assertOk(200);
    const { key: reader } = await app.createKey({ account, scope: 'READ_ONLY' });
    (await app.request('POST', '/upload', { key: reader, body })).assertError('INSUFFICIENT_SCOPE');
    const seen = (await app.request('GET', `/upload/${id}`, { key: reader })).assertOk(200);
    assert.equal(seen.at('data.uploadUrl'), null, 'whoever has it may write');
    assert.equal(
      (await app.request('GET', '/upload', { key: reader })).assertOk(200).at('data.0.uploadUrl'),
      null,
    );
  });

  test('the list filters by status and pages', async () => {
    const { key } = await app.createKey();
    const first = await createSession(app, key, { sizeBytes: 5 });
    const second = await createSession(app, key, { sizeBytes: 5 });
    (await patch(second.url, 0, 'ab')).status;
    const third = await createSession(app, key, { sizeBytes: 5 });
    (await app.request('DELETE', `/upload/${third.id}`, { key })).assertOk(200);
    const ids = async (query: string) =>
      (await app.request('GET', `/upload${query}`, { key }))
        .assertOk(200)
        .list('data')
        .map((row) => Object(row).id);
    assert.deepEqual(await ids(''), [third.id, second.id, first.id]);
    assert.deepEqual(await ids('?status=UPLOADING,CANCELED'), [third.id, second.id]);
    assert.deepEqual(await ids('?status=WAITING&limit=1'), [first.id]);
    (await app.request('GET', '/upload?status=DONE', { key })).assertError('BAD_REQUEST', 'status');
  });

  test('the last byte completes the upload: the video is queued, complete is idempotent, the quota is settled', async () => {
    const { key, account } = await app.createKey();
    const bytes = Buffer.from('a whole video');
    const { id, videoId, url } = await createSession(app, key, { sizeBytes: bytes.length });
    (await app.request('POST', `/upload/${id}/complete`, { key })).assertError('CONFLICT');
    assert.equal((await patch(url, 0, bytes.subarray(0, 5))).status, 204);
    (await app.request('POST', `/upload/${id}/complete`, { key })).assertError('CONFLICT');
    assert.equal((await read(key, id)).at('data.status'), 'UPLOADING');
    assert.equal((await read(key, id)).at('data.receivedBytes'), 5);
    assert.equal((await patch(url, 5, bytes.subarray(5))).status, 204);
    for (const body of [undefined, { sha256: sha256(bytes) }, { sha256: sha256(bytes).toUpperCase() }]) {
      const done = await app.request('POST', `/upload/${id}/complete`, { key, body });
      assert.equal(done.assertOk(200).at('data.status'), 'COMPLETED');
    }
    assert.equal((await read(key, id)).at('data.sha256'), sha256(bytes));
    assert.equal((await video(key, videoId)).at('data.status'), 'QUEUED');
    assert.equal((await video(key, videoId)).at('data.sizeBytes'), bytes.length);
    assert.deepEqual(await events(account.live), ['video.created', 'video.upload.completed']);
    assert.equal(await used(account.live), bytes.length);
    const file = `w/${account.live}/v/${videoId}/original/${id}`;
    assert.deepEqual(await app.container.store.read(file), bytes);
    (await app.request('DELETE', `/upload/${id}`, { key })).assertError('CONFLICT');
  });

  test('a wrong checksum fails session and video, whether it comes before or after the bytes', async () => {
    const { key, account } = await app.createKey();
    const wrong = sha256(Buffer.from('something else'));
    const early = await createSession(app, key, { sizeBytes: 3, sha256: wrong });
    const refused = await patch(early.url, 0, 'abc');
    assert.equal(refused.status, 400);
    assert.equal(refused.at('error.field'), 'sha256');
    const late = await createSession(app, key, { sizeBytes: 3 });
    assert.equal((await patch(late.url, 0, 'abc')).status, 204);
    assert.equal((await video(key, late.videoId)).at('data.status'), 'QUEUED');
    for (const { id, videoId, url } of [early, late]) {
      const answer = await app.request('POST', `/upload/${id}/complete`, { key, body: { sha256: wrong } });
      answer.assertError('BAD_REQUEST', 'sha256');
      assert.equal((await read(key, id)).at('data.status'), 'FAILED');
      assert.equal((await read(key, id)).at('data.error.code'), 'CHECKSUM_MISMATCH');
      assert.equal((await video(key, videoId)).at('data.status'), 'FAILED');
      assert.equal((await video(key, videoId)).at('data.error.code'), 'CHECKSUM_MISMATCH');
      assert.equal(await app.container.store.head(`w/${account.live}/v/${videoId}/original/${id}`), null);
      (await patchError(url)).assertError('UPLOAD_EXPIRED');
    }
    assert.equal(await used(account.live), 0);
    const right = await createSession(app, key, { sizeBytes: 3, sha256: sha256(Buffer.from('abc')) });
    assert.equal((await patch(right.url, 0, 'a')).status, 204);
    assert.equal((await patch(right.url, 1, 'bc')).status, 204);
    assert.equal((await read(key, right.id)).at('data.status'), 'COMPLETED');
  });

  const patchError = (url: string) => patch(url, 0, 'abc');

  test('a canceled session releases its storage and fails its video', async () => {
    const { key, account } = await app.createKey();
    const { id, videoId, url } = await createSession(app, key, { sizeBytes: 100 });
    await patch(url, 0, 'some');
    (await app.request('DELETE', `/upload/${id}`, { key })).assertOk(200);
    assert.equal((await read(key, id)).at('data.status'), 'CANCELED');
    assert.equal((await video(key, videoId)).at('data.error.code'), 'UPLOAD_EXPIRED');
    assert.equal(await used(account.live), 0);
    assert.equal((await patch(url, 4, 'more')).status, 404);
    (await app.request('POST', `/upload/${id}/complete`, { key })).assertError('CONFLICT');
    (await app.request('DELETE', `/upload/${id}`, { key })).assertOk(200);
  });

  test('a session expires seven days after its last byte', async () => {
    const { key, account } = await app.createKey();
    const idle = await createSession(app, key, { sizeBytes: 100 });
    const slow = await createSession(app, key, { sizeBytes: 100 });
    clock.advance(6 * DAY_MS);
    assert.equal((await patch(slow.url, 0, 'some')).status, 204);
    clock.advance(DAY_MS);
    (await patch(idle.url, 0, 'late')).assertError('UPLOAD_EXPIRED');
    await app.container.uploads.sweep();
    assert.equal((await read(key, idle.id)).at('data.status'), 'EXPIRED');
    assert.equal((await video(key, idle.videoId)).at('data.error.code'), 'UPLOAD_EXPIRED');
    assert.equal(await offsetOf(slow.url), 4);
    assert.equal(await used(account.live), 100);
    clock.advance(6 * DAY_MS);
    await app.container.uploads.sweep();
    assert.equal(await used(account.live), 0);
    (await patch(slow.url, 4, 'late')).assertError('UPLOAD_EXPIRED');
    (await app.request('POST', `/upload/${slow.id}/complete`, { key })).assertError('UPLOAD_EXPIRED');
    const told = (await events(account.live)).filter((type) => type === 'upload.expired');
    assert.equal(told.length, 2);
  });

  test('a waiting video has one session at a time, and other videos have none', async () => {
    const { key, account } = await app.createKey();
    const first = await createSession(app, key, { sizeBytes: 100, title: 'Once' });
    const second = await createSession(app, key, { sizeBytes: 3, videoId: first.videoId });
    assert.equal(second.videoId, first.videoId);
    assert.equal((await read(key, first.id)).at('data.status'), 'CANCELED');
    assert.equal(await used(account.live), 3);
    assert.equal((await patch(second.url, 0, 'abc')).status, 204);
    const body = { filename: 'a', sizeBytes: 3, videoId: first.videoId };
    (await app.request('POST', '/upload', { key, body })).assertError('CONFLICT', 'videoId');
    const { key: stranger } = await app.createKey();
    (await app.request('POST', '/upload', { key: stranger, body })).assertError('NOT_FOUND');
    assert.equal((await video(key, first.videoId)).at('data.title'), 'Once');
  });
});
