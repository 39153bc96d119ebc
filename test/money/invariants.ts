import assert from 'node:assert/strict';
import type { Sql } from 'postgres';

interface Paid {
  key: string;
  status: string;
  amount_cents: number;
  refunded_cents: number;
  dispute_status: 'OPEN' | 'WON' | 'LOST' | null;
  purchase_id: string | null;
}

/**
 * Asserts the invariants of a workspace at rest: the record of the sandbox, payments and purchases, the
 * ledger, the sums of revenue, and events, each of which was emitted once.
 */
export async function assertConsistent(sql: Sql, workspaceId: string): Promise<void> {
  const record = await sql<Paid[]>`
    select s.key, s.status, s.amount_cents, s.refunded_cents, s.dispute_status, p.purchase_id
    from sandbox_payment s left join payment p on p.provider_key = s.key
    where s.workspace_id = ${workspaceId}`;
  const succeeded = record.filter(({ status }) => status === 'SUCCEEDED');
  await assertPurchases(sql, workspaceId, succeeded);
  await assertBooks(sql, workspaceId, succeeded);
  await assertEvents(sql, workspaceId, succeeded);
  await assertPlaces(sql, workspaceId);
  await assertBought(sql, workspaceId);
}

const left = (paid: Paid) => paid.amount_cents - paid.refunded_cents;
const sum = (list: readonly Paid[], of: (paid: Paid) => number) =>
  list.reduce((total, paid) => total + of(paid), 0);
const lost = (paid: Paid) => (paid.dispute_status === 'LOST' ? left(paid) : 0);

/** Asserts that each payment was charged once, and that each purchase matches the provider's record. */
async function assertPurchases(sql: Sql, workspaceId: string, succeeded: readonly Paid[]): Promise<void> {
  const rows = await sql<{ id: string; status: string; refunded: number; charges: string }[]>`
    select id, status, refunded_cents as refunded, (select count(*) from payment
      where purchase_id = purchase.id and type = 'CHARGE' and status = 'SUCCEEDED') as charges
    from purchase where workspace_id = ${workspaceId} and amount_cents > 0`;
  for (const { id, status, refunded, charges } of rows) {
    const paid = succeeded.filter((one) => one.purchase_id === id);
    assert.ok(paid.length <= 1, `${id} was charged ${paid.length} times`);
    assert.equal(Number(charges), paid.length, `the charge of ${id} is known`);
    const [one] = paid;
    if (one === undefined) assert.match(status, /^(PENDING|FAILED)$/, id);
    else assert.equal(status, statusOf(one), id);
    assert.equal(refunded, one === undefined ? 0 : one.refunded_cents + lost(one), id);
  }
}

function statusOf(paid: Paid): string {
  if (paid.dispute_status === 'OPEN') return 'DISPUTED';
  if (paid.dispute_status === 'LOST' || left(paid) === 0) return 'REFUNDED';
  return paid.refunded_cents > 0 ? 'PARTIALLY_REFUNDED' : 'PAID';
}

async function assertBooks(sql: Sql, workspaceId: string, succeeded: readonly Paid[]): Promise<void> {
  const disputed = sum(succeeded, (paid) => (paid.dispute_status === 'OPEN' ? left(paid) : 0));
  const back = sum(succeeded, (paid) => paid.refunded_cents + lost(paid));
  const gross = sum(succeeded, (paid) => paid.amount_cents);
  const [fees] = await sql<{ kept: string }[]>`
    select coalesce(sum(fee_cents - fee_refunded_cents), 0) as kept from purchase
    where workspace_id = ${workspaceId} and status not in ('PENDING', 'FAILED')`;
  const rows = await sql<{ kind: string; cents: string }[]>`
    select kind, sum(amount_cents) as cents from ledger_account join ledger_entry on account_id = id
    where workspace_id = ${workspaceId} group by kind`;
  const balance = (kind: string) => Number(rows.find((row) => row.kind === kind)?.cents ?? 0);
  assert.equal(balance('BUYERS'), back - gross, 'what came from buyers');
  assert.equal(balance('DISPUTED'), disputed, 'what banks hold back');
  assert.equal(balance('FEES'), Number(fees?.kept), 'what the platform earned');
  assert.equal(balance('CREATOR') + balance('FEES'), gross - back - disputed, 'what the provider holds');
  const [sums] = await sql<Record<string, string>[]>`
    select coalesce(sum(gross_cents), 0) as gross, coalesce(sum(fee_cents), 0) as fee,
      coalesce(sum(refund_cents), 0) as refund, coalesce(sum(sale_count), 0) as count
    from ledger_revenue where workspace_id = ${workspaceId}`;
  const numbers = Object.fromEntries(Object.entries(sums ?? {}).map(([name, text]) => [name, Number(text)]));
  const count = succeeded.length + (await countFree(sql, workspaceId));
  const expected = { gross, fee: balance('FEES'), refund: back, count };
  assert.deepEqual(numbers, expected, 'the sums of revenue');
}

/** Counts sales that a discount code made free, which are unknown to the provider. */
async function countFree(sql: Sql, workspaceId: string): Promise<number> {
  const [free] = await sql<{ count: number }[]>`
    select count(*)::int as count from purchase
    where workspace_id = ${workspaceId} and amount_cents = 0 and status = 'PAID'`;
  return free?.count ?? 0;
}

async function assertEvents(sql: Sql, workspaceId: string, succeeded: readonly Paid[]): Promise<void> {
  const [made] = await sql<Record<string, string>[]>`
    select count(*) filter (where type = 'CHARGE' and status in ('FAILED', 'CANCELED')) as failed,
      count(*) filter (where type = 'REFUND' and status = 'SUCCEEDED') as refunded
    from payment where workspace_id = ${workspaceId}`;
  const events = await sql<{ type: string; about: string; sequence: number }[]>`
    select type, split_part(type, '.', 1) || ' ' || coalesce(case split_part(type, '.', 1)
        when 'payment' then data->>'purchaseId' when 'checkout' then data->>'checkoutId'
        when 'subscription' then data->>'subscriptionId' when 'tier' then data->>'tierId'
        else coalesce(data->>'bookingId', data->>'waitlistId', data->>'cohortId', data->>'discountCodeId',
          data->>'productId') end, '') as about, (data->>'sequence')::int as sequence
    from event, lateral (select body::json->'data' as data) of_it where workspace_id = ${workspaceId}`;
  const told = (type: string) => events.filter((event) => event.type === type).length;
  const paid = succeeded.length + (await countFree(sql, workspaceId));
  assert.equal(told('payment.succeeded'), paid, 'payment.succeeded');
  assert.equal(told('payment.failed'), Number(made?.failed), 'payment.failed');
  assert.equal(told('payment.refunded'), Number(made?.refunded), 'payment.refunded');
  const disputes = succeeded.filter(({ dispute_status: status }) => status !== null);
  assert.equal(told('payment.disputed'), disputes.length, 'payment.disputed');
  const decided = disputes.filter(({ dispute_status: status }) => status !== 'OPEN');
  assert.equal(told('payment.dispute_closed'), decided.length, 'payment.dispute_closed');
  for (const [about, of] of Map.groupBy(events, (event) => event.about)) {
    const numbers = of.map(({ sequence }) => sequence).sort((a, b) => a - b);
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => index + 1),
      `the events of ${about} are numbered`,
    );
  }
  const [sold] = await sql<Record<string, string>[]>`
    select (select count(*) from subscription where workspace_id = ${workspaceId}) as begun,
      (select count(*) from subscription where workspace_id = ${workspaceId} and status = 'CANCELED') as canceled,
      (select count(*) from subscription where workspace_id = ${workspaceId} and status = 'EXPIRED') as expired,
      (select count(*) from checkout where workspace_id = ${workspaceId}) as opened,
      (select count(*) from checkout where workspace_id = ${workspaceId} and status = 'COMPLETED') as completed`;
  assert.equal(told('subscription.created'), Number(sold?.begun), 'subscription.created');
  assert.equal(told('subscription.canceled'), Number(sold?.canceled), 'subscription.canceled');
  assert.equal(told('subscription.expired'), Number(sold?.expired), 'subscription.expired');
  assert.equal(told('checkout.session.created'), Number(sold?.opened), 'checkout.session.created');
  assert.equal(told('checkout.session.completed'), Number(sold?.completed), 'checkout.session.completed');
}

/**
 * Asserts that tier spots and code redemptions match a recount. At rest no payment is open, so nothing is
 * reserved.
 */
async function assertPlaces(sql: Sql, workspaceId: string): Promise<void> {
  const rows = await sql<
    { id: string; claimed: number; taken: number; counted: string; most: number | null }[]
  >`
    select id, reserved_count as claimed, member_count as taken, max_members as most,
      (select count(*) from subscription where tier_id = tier.id and ended_at is null) as counted
    from tier where workspace_id = ${workspaceId}
    union all
    select id, reserved_count, used_count, max_uses,
      (select count(*) from checkout where discount_code_id = code.id and status = 'COMPLETED')
    from discount_code code where workspace_id = ${workspaceId}`;
  for (const { id, claimed, taken, counted, most } of rows) {
    assert.equal(claimed, 0, `nothing of ${id} is claimed`);
    assert.equal(taken, Number(counted), `${id} is counted`);
    assert.ok(most === null || taken <= most, `${taken} of ${most} are taken of ${id}`);
  }
}

/** Asserts that paid items were granted or refunded, unless a dispute is open. */
async function assertBought(sql: Sql, workspaceId: string): Promise<void> {
  const lost = await sql`
    select purchase.id, purchase.status from purchase
      left join checkout on checkout.id = purchase.checkout_id
      left join subscription on subscription.id = purchase.subscription_id
    where purchase.workspace_id = ${workspaceId} and purchase.kind = 'SUBSCRIPTION'
      and purchase.status in ('PAID', 'PARTIALLY_REFUNDED')
      and (subscription.id is null or checkout.purchase_id <> purchase.id)`;
  assert.deepEqual([...lost], [], 'money that nothing was given for');
}
