import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { insertReadyVideo } from '../../../../test/harness/videos.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { startImportFixture } from '../../../../test/imports/fixture.ts';
import { file } from '../../../../test/imports/source.ts';
import { call, TUS } from '../../../../test/uploads/fixture.ts';

let fixture: Awaited<ReturnType<typeof startImportFixture>>;
let key: string;
let workspaceId: string;

/** The disk reserve is larger than any disk, so the platform considers the disk full. */
before(async () => {
  fixture = await startImportFixture({ DISK_RESERVE: '900000TB' });
  const made = await fixture.app.createKey();
  key = made.key;
  workspaceId = made.account.live;
  await fixture.app.container.store.put('w/any', 'a file, so that there is a disk', 'text/plain');
});
after(() => fixture.close());

test('sessions, captions and thumbnails are rejected on a full disk, and leave nothing behind', async () => {
  const { app } = fixture;
  const post = (path: string, body: object) => app.request('POST', path, { key, body });
  (await post('/upload', { filename: 'a.mp4', sizeBytes: 3 })).assertError('INSUFFICIENT_STORAGE');
  (await post('/videos', { title: 'A video' })).assertError('INSUFFICIENT_STORAGE');
  const headers = { ...TUS, authorization: `Bearer ${key}`, 'upload-length': '3' };
  (await call(`${app.url}/uploads`, 'POST', headers)).assertError('INSUFFICIENT_STORAGE');
  assert.deepEqual((await app.request('GET', '/videos', { key })).assertOk(200).list('data'), []);
  const videoId = await insertReadyVideo(app.container.db, workspaceId);
  const body = { language: 'en', label: 'English', content: 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n' };
  (await post(`/videos/${videoId}/captions`, body)).assertError('INSUFFICIENT_STORAGE');
});

test('an import waits for disk space without failing', async () => {
  fixture.source.answers.set(
    '/a.mp4',
    file(() => Buffer.alloc(1000)),
  );
  fixture.work();
  const id = await fixture.create(key, { sourceUrl: `${fixture.source.url}/a.mp4` });
  await waitFor(async () => {
    const rows = await fixture.app.container.sql`select from job where state = 'waiting' and fence > 0`;
    return rows.length === 1;
  });
  const answer = (await fixture.app.request('GET', `/imports/${id}`, { key })).assertOk(200);
  assert.deepEqual([answer.at('data.status'), answer.at('data.error')], ['DOWNLOADING', null]);
  assert.deepEqual(fixture.source.requests, [], 'nothing was asked for');
});
