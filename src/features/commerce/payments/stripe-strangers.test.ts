import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { TestClock } from '../../../../test/harness/clock.ts';
import { type StripeShop, startStripeShop } from '../../../../test/money/stripe-shop.ts';
import { DAY_MS, HOUR_MS } from '../../../kernel/durations.ts';
import { createLedgerCheck } from '../ledger/check.service.ts';

const clock = new TestClock('2026-01-31T10:00:00Z');
let platform: Awaited<ReturnType<typeof startStripeShop>>;
before(async () => {
  platform = await startStripeShop(clock);
});
after(() => platform.close());

/** Returns the ledger balances of a creator, in cents. */
async function bookedOf({ account }: StripeShop): Promise<Record<string, number>> {
  const rows = await platform.app.container.sql<{ kind: string; cents: number }[]>`
    select kind, coalesce(sum(amount_cents), 0)::int as cents
    from ledger_account join ledger_entry on account_id = id
    where workspace_id = ${account.live} group by 1`;
  return Object.fromEntries(rows.map(({ kind, cents }) => [kind, cents]));
}

test("a card that a stranger gives under a member's email address pays only for the stranger's own subscription", async () => {
  const { stripe, shop, tier, open, send, goToStripe, hear, run } = platform;
  const of = await shop();
  const { session, intent } = await goToStripe(await open(of, { tierId: await tier(of) }));
  stripe.pay(session);
  await hear('checkout.session.completed', session);
  const trial = await open(of, { tierId: await tier(of, { trialDays: 7, priceCents: 900 }) });
  const led = await send(trial, 'pay', { email: 'ann@example.com' });
  const setup = led.location?.split('/').at(-1) ?? '';
  stripe.pay(setup);
  await hear('checkout.session.completed', setup);
  stripe.calls = [];
  clock.advance(32 * DAY_MS);
  await run('subscriptions');
  const given = stripe.object(String(stripe.object(setup).setup_intent)).payment_method;
  const own = stripe.object(intent).payment_method;
  const charges = stripe.calls.filter(({ path }) => path === '/v1/payment_intents');
  assert.deepEqual(charges.map(({ params }) => [params.amount, params.payment_method]).toSorted(), [
    ['500', own],
    ['900', given],
  ]);
});

test('a payout in another currency is shown in it, and is not included in any balance', async () => {
  const { stripe, shop, hear, run, get, app } = platform;
  const of = await shop();
  const { accountRef } = of;
  const shown = async () =>
    (await get(of, '/me/payouts')).list('data').map((row) => {
      const { amountCents, currency, status } = Object(row);
      return `${status} ${amountCents} ${currency}`;
    });
  const inYen = stripe.payout(accountRef, 'paid', 5000);
  Object.assign(stripe.object(inYen), { currency: 'jpy' });
  await hear('payout.created', inYen, accountRef);
  assert.deepEqual(await shown(), ['PAID 5000 JPY']);
  assert.deepEqual(await bookedOf(of), {});
  Object.assign(stripe.object(inYen), { status: 'failed' });
  await hear('payout.failed', inYen, accountRef);
  assert.deepEqual(await bookedOf(of), {});

  // A payout that an earlier version recorded in dollars is reversed when it is read again.
  const inEuro = stripe.payout(accountRef, 'in_transit', 700);
  await hear('payout.created', inEuro, accountRef);
  assert.equal((await bookedOf(of)).PAID_OUT, 700);
  Object.assign(stripe.object(inEuro), { currency: 'eur' });
  clock.advance(HOUR_MS);
  await run('provider payouts');
  await run('provider payouts');
  assert.deepEqual((await shown()).toSorted(), ['FAILED 5000 JPY', 'IN_TRANSIT 700 EUR']);
  assert.equal((await bookedOf(of)).PAID_OUT, 0);
  assert.deepEqual(await createLedgerCheck({ ...app.container, clock }).check(), []);
});

test('pages that a buyer returns to call Stripe once in three seconds, and are limited by IP address', async () => {
  const of = await platform.shop();
  const { stripe, open, video, goToStripe, app } = platform;
  const id = await open(of, { videoId: await video(of, 1000) });
  await goToStripe(id);
  const load = async (count: number) => {
    const pages = Array.from({ length: count }, (_, n) => `/checkout/${id}${n % 2 === 0 ? '/return' : ''}`);
    return Promise.all(
      pages.map(async (page) => (await fetch(`${app.url}${page}`, { redirect: 'manual' })).status),
    );
  };
  const asked = async (count: number) => {
    stripe.calls = [];
    await load(count);
    return stripe.calls.filter(({ method }) => method === 'GET').length;
  };
  assert.equal(await asked(20), 1);
  assert.equal(await asked(20), 0);
  clock.advance(2999);
  assert.equal(await asked(20), 0);
  clock.advance(1);
  assert.equal(await asked(20), 1);
  const statuses = await load(300);
  assert.equal(statuses.at(-1), 429);
  assert.equal(statuses.filter((status) => status === 429).length >= 80, true);
});
