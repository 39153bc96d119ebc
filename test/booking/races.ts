import assert from 'node:assert/strict';
import type { TestApp } from '../harness/app.ts';
import type { Shop } from '../money/shop.ts';
import { bookingClient } from './booking-client.ts';

/** Returns races of many concurrent customers for one slot or seat. */
export function runConcurrently(appOf: () => TestApp) {
  const { product, ask, open, pay, code } = bookingClient(appOf);
  const names = (count: number) => Array.from({ length: count }, (_, index) => `Buyer${index}`);

  /** Pays all checkouts concurrently with a discount code that can be used once. */
  async function raceForSeat(of: Shop, settings: object, where: object, count: number) {
    const { sql } = appOf().container;
    const codeId = await code(of, { code: 'ONE', percentOff: 10, maxUses: 1 });
    const productId = 'productId' in where ? where.productId : await product(of, settings);
    const made = await Promise.all(
      names(count).map((name) => open(of, { discountCode: 'ONE', productId, ...where }, name)),
    );
    const answers = await Promise.all(made.map(({ id }) => pay(id)));
    assert.equal(answers.filter(({ status }) => status === 303).length, 1);
    const rows = await sql<{ status: string; count: number }[]>`
      select status, count(*)::int from booking where product_id = ${String(productId)}
      group by status order by status`;
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      [
        { status: 'CONFIRMED', count: 1 },
        { status: 'PENDING_PAYMENT', count: count - 1 },
      ],
    );
    const [sold] = await sql`select count(*)::int as count, sum(amount_cents)::int as cents
      from sandbox_payment where workspace_id = ${of.account.test} and status = 'SUCCEEDED'`;
    assert.deepEqual({ ...sold }, { count: 1, cents: 4500 });
    const [used] = await sql`select used_count, reserved_count from discount_code where id = ${codeId}`;
    assert.deepEqual({ ...used }, { used_count: 1, reserved_count: 0 });
  }

  /** Books one slot concurrently through two products. */
  async function raceForTime(of: Shop, startsAt: string, count: number) {
    const products = await Promise.all([product(of), product(of, { durationMin: 30 })]);
    const answers = await Promise.all(
      names(count).map((name, index) => ask(of, { productId: products[index % 2], startsAt }, name)),
    );
    const won = answers.filter(({ status }) => status === 201);
    assert.equal(won.length, 1);
    assert.equal(answers.filter(({ status }) => status === 409).length, count - 1);
    assert.equal((await pay(won[0]?.string('data.id') ?? '')).status, 303);
  }
  return { raceForSeat, raceForTime };
}
