import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { insertReadyVideo, videoEvents } from '../../../../test/harness/videos.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Db } from '../../../platform/db/index.ts';
import { createLogger } from '../../../platform/logger.ts';
import { createVideoPurge } from './purge.service.ts';

const DAY_MS = 86_400_000;
const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
let account: TestAccount;

before(async () => {
  app = await startTestApp({ clock });
  account = await app.createAccount();
});
after(() => app.close());

/** Inserts a purchase of the video. */
async function buyVideo(db: Db, workspaceId: string, videoId: string): Promise<void> {
  const [customerId, purchaseId] = [newId('cus'), newId('pur')];
  const at = clock.now();
  await db
    .insertInto('customer')
    .values({
      id: customerId,
      workspace_id: workspaceId,
      email: 'ada@example.com',
      created_at: at,
      updated_at: at,
    })
    .execute();
  await db
    .insertInto('purchase')
    .values({
      ...{ id: purchaseId, workspace_id: workspaceId, customer_id: customerId, video_id: videoId },
      ...{ kind: 'VIDEO', status: 'PAID', amount_cents: 500, created_at: at },
    })
    .execute();
}

async function filesOf(id: string): Promise<number> {
  let count = 0;
  for await (const _ of app.container.store.list(`w/${account.live}/v/${id}/`)) count += 1;
  return count;
}

describe('deleted videos', () => {
  async function deleted(): Promise<string> {
    const { store, videos, db } = app.container;
    const id = await insertReadyVideo(db, account.live, { title: 'Secret', metadata: { a: 'b' } });
    const base = `w/${account.live}/v/${id}`;
    for (const file of ['original/x', 'r0a1/1080p/init.mp4', 'captions/c.vtt']) {
      await store.put(`${base}/${file}`, 'content', 'application/octet-stream');
    }
    await videos.remove(account.live, id);
    return id;
  }

  test('deleted videos keep their files for 30 days, and then lose them with the rows about their content', async () => {
    const id = await deleted();
    const kept = await insertReadyVideo(app.container.db, account.live);
    await app.container.store.put(`w/${account.live}/v/${kept}/original/x`, 'content', 'video/mp4');
    clock.advance(30 * DAY_MS);
    await app.container.videoPurge.run();
    assert.equal(await filesOf(id), 3);
    clock.advance(1);
    await app.container.videoPurge.run();
    assert.equal(await filesOf(id), 0);
    assert.equal(await filesOf(kept), 1);
    const row = await app.container.db
      .selectFrom('video')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    assert.deepEqual(row.purged_at, clock.now());
    assert.deepEqual([row.title, row.metadata], ['', {}]);
  });

  test('a video that cannot be removed now is retried, and does not delay others', async () => {
    const [stuck, fine] = [await deleted(), await deleted()];
    clock.advance(31 * DAY_MS);
    let broken = true;
    const purge = createVideoPurge({
      ...app.container,
      log: createLogger('silent'),
      store: {
        delete: (key) => app.container.store.delete(key),
        async deletePrefix(prefix) {
          if (broken && prefix.includes(stuck)) throw new Error('EIO');
          await app.container.store.deletePrefix(prefix);
        },
      },
    });
    await purge.run();
    assert.deepEqual([await filesOf(stuck), await filesOf(fine)], [3, 0]);
    broken = false;
    await purge.run();
    assert.equal(await filesOf(stuck), 0);
  });
});

describe('recordings', () => {
  const old = () => runTask(app.container, 'recording retention');

  test('old recordings are announced and deleted when their plan no longer retains them; uploads and paid videos stay', async () => {
    const { db } = app.container;
    const free = await app.createAccount({ plan: 'FREE' });
    const star = await app.createAccount({ plan: 'STAR' });
    const vip = await app.createAccount({ plan: 'VIP' });
    const made = { source: 'RECORDING', created_at: clock.now() } as const;
    const recordings = new Map([
      ['FREE', await insertReadyVideo(db, free.live, made)],
      ['sold', await insertReadyVideo(db, free.live, made)],
      ['STAR', await insertReadyVideo(db, star.live, made)],
      ['VIP', await insertReadyVideo(db, vip.live, made)],
      ['upload', await insertReadyVideo(db, free.live, { created_at: clock.now() })],
    ]);
    await buyVideo(db, free.live, recordings.get('sold') ?? '');
    const left = async () => {
      const rows = await db.selectFrom('video').select('id').where('deleted_at', 'is', null).execute();
      const there = new Set(rows.map(({ id }) => id));
      return [...recordings].filter(([, id]) => there.has(id)).map(([name]) => name);
    };
    const told = async (name: string) =>
      (await videoEvents(db, recordings.get(name) ?? '')).map(({ type }) => type);
    await Promise.all([old(), old()]);
    assert.deepEqual(
      [await told('FREE'), await told('STAR'), await told('sold')],
      [['video.expiring'], [], []],
    );
    clock.advance(7 * DAY_MS);
    await old();
    assert.deepEqual(await left(), ['FREE', 'sold', 'STAR', 'VIP', 'upload']);
    clock.advance(1);
    await Promise.all([old(), old()]);
    assert.deepEqual(await left(), ['sold', 'STAR', 'VIP', 'upload']);
    assert.deepEqual(await told('FREE'), ['video.expiring', 'video.deleted']);
    // The owner was not notified in time: seven days pass from the notification.
    clock.advance(1000 * DAY_MS);
    await old();
    assert.deepEqual(await left(), ['sold', 'STAR', 'VIP', 'upload']);
    clock.advance(7 * DAY_MS + 1);
    await old();
    assert.deepEqual(await left(), ['sold', 'VIP', 'upload']);
  });

  test('old recordings are saved by an upgrade, and announced again when it ends', async () => {
    const { db, accounts } = app.container;
    const account = await app.createAccount({ plan: 'FREE' });
    const id = await insertReadyVideo(db, account.live, { source: 'RECORDING', created_at: clock.now() });
    const types = async () => (await videoEvents(db, id)).map(({ type }) => type);
    await old();
    await accounts.setPlan(account.email, 'VIP');
    clock.advance(100 * DAY_MS);
    await old();
    assert.deepEqual(await types(), ['video.expiring']);
    await accounts.setPlan(account.email, 'STAR');
    await old();
    assert.deepEqual(await types(), ['video.expiring', 'video.expiring']);
    clock.advance(7 * DAY_MS + 1);
    await old();
    assert.deepEqual(await types(), ['video.expiring', 'video.expiring', 'video.deleted']);
  });
});
