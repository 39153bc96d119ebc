import assert from 'node:assert/strict';
import type { Sql } from 'postgres';
import type { Catalog } from './sales-actions.ts';

interface Charged {
  subscription: string;
  last4: string;
}

/**
 * Asserts that every charge was agreed to: without its holder, a card pays only for the subscription that it
 * was chosen for. Also asserts that withdrawn products are not sold.
 */
export async function assertAgreed(sql: Sql, shelf: Catalog): Promise<void> {
  const { workspaceId, chosen, unsold } = shelf;
  const charged = (isPresent: boolean) => sql<Charged[]>`
    select distinct purchase.subscription_id as subscription, right(card, 4) as last4
    from sandbox_payment bank
      join payment on payment.provider_key = bank.key
      join purchase on purchase.id = payment.purchase_id
    where bank.workspace_id = ${workspaceId} and bank.status = 'SUCCEEDED' and kind = 'SUBSCRIPTION'
      and purchase.subscription_id is not null and (return_url is not null) = ${isPresent}`;
  const given = new Set((await charged(true)).map(({ subscription, last4 }) => `${subscription} ${last4}`));
  const wrong = (await charged(false)).filter(
    ({ subscription, last4 }) =>
      !given.has(`${subscription} ${last4}`) && chosen.get(subscription)?.has(last4) !== true,
  );
  assert.deepEqual(wrong, [], 'cards that were charged without their holder');
  for (const [id, count] of unsold) {
    const [sold] = await sql<{ count: number }[]>`
      select count(*)::int as count from checkout where video_id = ${id} and status = 'COMPLETED'`;
    assert.equal(sold?.count, count, `${id} was sold after it was taken off the shelf`);
  }
  const lost = await sql`
    select purchase.id from purchase left join checkout on checkout.id = purchase.checkout_id
    where purchase.workspace_id = ${workspaceId} and purchase.checkout_id is not null
      and purchase.status in ('PAID', 'PARTIALLY_REFUNDED')
      and (checkout.status <> 'COMPLETED' or checkout.purchase_id <> purchase.id)`;
  assert.deepEqual([...lost], [], 'money that came for what was no longer sold');
}
