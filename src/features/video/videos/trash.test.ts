import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { insertReadyVideo } from '../../../../test/harness/videos.ts';
import { PLANS } from '../../../kernel/plans.ts';

const GB = 2 ** 30;
const DAY_MS = 86_400_000;
const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

/** An account of the plan FREE with deleted videos of 3 GB each, and nothing else. */
async function withTrash(count: number) {
  const account = await app.createAccount({ plan: 'FREE' });
  const { key } = await app.createKey({ account });
  const { db, store, videos, sql } = app.container;
  const files: string[] = [];
  for (let i = 0; i < count; i++) {
    // Original of a recording that needed no joining: it is stored outside the folder of the video.
    const original_key = `w/${account.live}/rec/ses_${i}/rec_a.mp4`;
    await store.put(original_key, 'media', 'video/mp4');
    files.push(original_key);
    const id = await insertReadyVideo(db, account.live, { original_key, storage_bytes: 3 * GB });
    await sql`update workspace set storage_bytes = storage_bytes + ${3 * GB} where id = ${account.live}`;
    await videos.remove(account.live, id);
    clock.advance(1000);
  }
  return {
    upload: (sizeBytes: number) =>
      app.request('POST', '/upload', { key, body: { filename: 'a.mp4', sizeBytes } }),
    used: async () => {
      const query = db.selectFrom('workspace').select('storage_bytes').where('id', '=', account.live);
      return (await query.executeTakeFirstOrThrow()).storage_bytes;
    },
    left: async () => {
      const found = await Promise.all(files.map((file) => store.head(file)));
      return found.map((file) => file !== null);
    },
  };
}

test('a deleted video counts until its files are removed', async () => {
  const { used, left } = await withTrash(1);
  assert.equal(await used(), 3 * GB);
  clock.advance(30 * DAY_MS + 1);
  await app.container.videoPurge.run();
  assert.equal(await used(), 0);
  assert.deepEqual(await left(), [false]);
});

test('the oldest trash is removed to make room for a new file, and no more of it than necessary', async () => {
  const { upload, used, left } = await withTrash(3);
  assert.equal(await used(), 9 * GB);
  (await upload(GB)).assertOk(201);
  assert.deepEqual(await left(), [true, true, true]);
  (await upload(2 * GB)).assertOk(201);
  assert.deepEqual(await left(), [false, true, true]);
  assert.equal(await used(), 9 * GB);
});

test('trash that does not free enough space is not removed', async () => {
  const { upload, left } = await withTrash(2);
  (await upload(PLANS.FREE.storageBytes + 1)).assertError('QUOTA_EXCEEDED');
  assert.deepEqual(await left(), [true, true]);
  const { upload: again } = await withTrash(3);
  (await again(PLANS.FREE.storageBytes)).assertOk(201);
});
