import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bookingClient } from '../../../../test/booking/booking-client.ts';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { CARDS } from '../../../../test/money/buyer.ts';
import { checkoutClient, type Shop } from '../../../../test/money/shop.ts';
import { MINUTE_MS } from '../../../kernel/durations.ts';

let app: TestApp;
const clock = new TestClock('2026-11-20T10:00:00Z');
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

const { shop, tier, video, open, read, eventsOf, pay } = checkoutClient(() => app);
const booking = bookingClient(() => app);

const call = ({ key }: Shop, method: string, path: string, body?: object) =>
  app.request(method, path, body === undefined ? { key } : { key, body });
const statusOf = async (of: Shop, id: string) => (await read(of, id)).at('data.status');

/** Returns the purchases and the reasons of their refunds. */
async function moneyOf({ account }: Shop): Promise<string[]> {
  const rows = await app.container.sql<{ status: string; refunded: number; reason: string | null }[]>`
    select purchase.status, refunded_cents::int as refunded,
      (select reason from payment where purchase_id = purchase.id and type = 'REFUND') as reason
    from purchase where workspace_id = ${account.test} order by purchase.id`;
  return rows.map(({ status, refunded, reason }) => `${status} ${refunded}${reason ? `: ${reason}` : ''}`);
}

/**
 * Pays with a card whose bank requires confirmation.
 *
 * @returns a function that confirms the payment at the bank.
 */
async function paying(id: string) {
  const { location } = await pay(id, { card: CARDS.secondFactor });
  assert.match(location ?? '', /\/sandbox\/confirm\//);
  return async () => {
    const { pathname } = new URL(location ?? '');
    const body = new URLSearchParams({ outcome: 'complete' });
    assert.equal((await fetch(`${app.url}${pathname}`, { method: 'POST', body })).status, 200);
    await runTask(app.container, 'payment hints');
  };
}

/** Settles the pending payments at the provider. */
async function settle(): Promise<void> {
  clock.advance(2 * MINUTE_MS);
  await runTask(app.container, 'open payments');
}

/** Ways to take a video off sale. */
const UNSELLS: Record<string, (of: Shop, id: string) => Promise<void>> = {
  async deleted(of, id) {
    (await call(of, 'DELETE', `/videos/${id}`)).assertOk(200);
  },
  async private(of, id) {
    (await call(of, 'PATCH', `/videos/${id}`, { visibility: 'PRIVATE' })).assertOk(200);
  },
  async 'no longer sold'(of, id) {
    (await call(of, 'PATCH', `/videos/${id}`, { visibility: 'PUBLIC' })).assertOk(200);
  },
  async 'taken down'(_of, id) {
    await app.container.videoTakedowns.takeDown(id, 'It is reported.');
  },
};

for (const [how, unsell] of Object.entries(UNSELLS)) {
  test(`a video that is ${how} while its checkout is open cannot be bought, and the checkout ends`, async () => {
    const of = await shop();
    const [videoId, other] = [await video(of), await video(of)];
    const [pressed, left] = [await open(of, { videoId }), await open(of, { videoId })];
    const stays = await open(of, { videoId: other });
    await unsell(of, videoId);
    const refused = await pay(pressed);
    assert.equal(refused.status, 410);
    assert.match(refused.text, /Checkout ended/);
    assert.equal(await statusOf(of, pressed), 'EXPIRED');
    await runTask(app.container, 'checkouts');
    assert.deepEqual([await statusOf(of, left), await statusOf(of, stays)], ['EXPIRED', 'OPEN']);
    assert.equal((await eventsOf(of)).filter((type) => type === 'checkout.session.expired').length, 2);
    assert.deepEqual(await moneyOf(of), []);
    assert.equal((await pay(stays)).status, 303);
  });

  test(`a payment for a video that is ${how} during the payment is refunded in full`, async () => {
    const of = await shop();
    const videoId = await video(of);
    const id = await open(of, { videoId });
    const confirm = await paying(id);
    await unsell(of, videoId);
    await confirm();
    await settle();
    assert.deepEqual(await moneyOf(of), [
      'REFUNDED 900: The video was no longer for sale when the payment arrived.',
    ]);
    assert.equal(await statusOf(of, id), 'EXPIRED');
  });
}

test('a pending charge is canceled when its video is deleted', async () => {
  const of = await shop();
  const videoId = await video(of);
  const id = await open(of, { videoId });
  const confirm = await paying(id);
  await UNSELLS.deleted?.(of, videoId);
  await runTask(app.container, 'checkouts');
  assert.equal(await statusOf(of, id), 'EXPIRED');
  await confirm();
  await settle();
  assert.deepEqual(await moneyOf(of), ['FAILED 0']);
});

test('a payment for a tier that is archived during the payment is refunded in full', async () => {
  const of = await shop();
  const tierId = await tier(of);
  const [id, other] = [await open(of, { tierId }), await open(of, { tierId })];
  const confirm = await paying(id);
  (await call(of, 'DELETE', `/tiers/${tierId}`)).assertOk(200);
  assert.equal((await pay(other)).status, 410);
  assert.equal(await statusOf(of, other), 'EXPIRED');
  await confirm();
  await settle();
  assert.deepEqual(await moneyOf(of), [
    'REFUNDED 500: The tier no longer accepted members when the payment arrived.',
  ]);
  const kept = (await call(of, 'GET', `/tiers/${tierId}`)).assertOk(200);
  assert.equal(kept.at('data.memberCount'), 0);
});

test('a payment for a booking whose product is archived during the payment is refunded in full', async () => {
  const of = await booking.creator();
  const productId = await booking.product(of);
  const at = (hour: number) => ({ productId, startsAt: `2026-11-25T${hour}:00:00.000Z` });
  const [{ id }, other] = [await booking.open(of, at(10)), await booking.open(of, at(12))];
  const confirm = await paying(id);
  (await call(of, 'DELETE', `/booking/products/${productId}`)).assertOk(200);
  assert.equal((await pay(other.id)).status, 410);
  await confirm();
  await settle();
  assert.deepEqual(
    (await moneyOf(of)).filter((one) => one.startsWith('REFUNDED')).length,
    1,
    (await moneyOf(of)).join(),
  );
  for (const one of [id, other.id]) assert.equal(await statusOf(of, one), 'EXPIRED');
});
