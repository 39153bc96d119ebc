import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bookedOnce } from '../../../../test/booking/rows.ts';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { insertReadyVideo } from '../../../../test/harness/videos.ts';
import { buyer, CARDS } from '../../../../test/money/buyer.ts';
import { DAY_MS } from '../../../kernel/durations.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

/** Creates a creator whose plan retains recordings for a week, with three recordings. */
async function recorded() {
  const account = await app.createAccount({ plan: 'FREE' });
  const { key } = await app.createKey({ account });
  const add = () =>
    insertReadyVideo(app.container.db, account.live, { source: 'RECORDING', created_at: clock.now() });
  const isThere = async (id: string) => (await app.request('GET', `/videos/${id}`, { key })).status === 200;
  return { account, key, isThere, videos: [await add(), await add(), await add()] as const };
}

/** Deletes the recordings that the plan no longer retains. */
async function passTime(): Promise<void> {
  await runTask(app.container, 'recording retention');
  clock.advance(7 * DAY_MS + 1);
  await runTask(app.container, 'recording retention');
}

test('every part of a recorded booking stays as long as its customer may watch it', async () => {
  const { key, isThere, videos } = await recorded();
  const [first, last, other] = videos;
  const body = { title: 'A lesson', type: 'ONE_TO_ONE', priceCents: 5000 };
  const product = (await app.request('POST', '/booking/products', { key, body })).assertOk(201);
  await bookedOnce(app.container, product.string('data.id'));
  const until = new Date(clock.ms() + 30 * DAY_MS);
  await app.container.sql`update booking set recording_video_id = ${last},
    recording_video_ids = ${[first, last]}, replay_access_until = ${until}
    where product_id = ${product.string('data.id')}`;
  const left = () => Promise.all([first, last, other].map(isThere));
  await passTime();
  assert.deepEqual(await left(), [true, true, false]);
  clock.advance(30 * DAY_MS);
  await passTime();
  assert.deepEqual(await left(), [false, false, false], 'nobody may watch it any more');
});

test('disputed purchases stay watchable: the dispute may be won', async () => {
  const { account, isThere, videos } = await recorded();
  const [disputed, , other] = videos;
  const { pay, statusOf } = await buyer(app, account.live);
  const { purchaseId } = await pay(CARDS.disputed, { videoId: disputed });
  await runTask(app.container, 'payment hints');
  assert.equal(await statusOf(purchaseId), 'DISPUTED');
  await passTime();
  assert.deepEqual([await isThere(disputed), await isThere(other)], [true, false]);
});
