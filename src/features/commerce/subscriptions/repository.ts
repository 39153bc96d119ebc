import { type Insertable, type SqlBool, sql, type Updateable } from 'kysely';
import type { Mode } from '../../../kernel/access.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { pageByIndexOrder, pagePerCombination } from '../../../platform/db/page-filters.ts';
import {
  type SubscriptionStatus,
  type SubscriptionTable,
  VALUES,
} from '../../../platform/db/tables.generated.ts';
import { isAccountActive } from '../../../platform/db/workspace.ts';
import type { SubscriptionRow } from './rules.ts';

export function insertSubscription(tx: Tx, row: Insertable<SubscriptionTable>): Promise<SubscriptionRow> {
  return tx.insertInto('subscription').values(row).returningAll().executeTakeFirstOrThrow();
}

/** Selects subscriptions with their tier and subscriber. */
function selectShown(db: Db) {
  return db
    .selectFrom('subscription')
    .innerJoin('tier', 'tier.id', 'subscription.tier_id')
    .innerJoin('customer', 'customer.id', 'subscription.customer_id')
    .selectAll('subscription')
    .select(['tier.name as tier_name', 'customer.email as customer_email', 'customer.name as customer_name']);
}

export type SubscriptionDetails = Awaited<ReturnType<typeof findSubscriptionDetails>> & object;

export function findSubscriptionDetails(db: Db, workspaceId: string, id: string) {
  return selectShown(db)
    .where('subscription.workspace_id', '=', workspaceId)
    .where('subscription.id', '=', id)
    .executeTakeFirst();
}

export interface SubscriptionFilter {
  status: readonly SubscriptionStatus[] | undefined;
  tierId: string | undefined;
}

export function listSubscriptionDetails(
  db: Db,
  workspaceId: string,
  { status, tierId }: SubscriptionFilter,
  page: PageRequest,
): Promise<SubscriptionDetails[]> {
  const of = tierId === undefined ? { workspace_id: workspaceId } : { tier_id: tierId };
  const listed = { table: 'subscription', prefix: 'sub', of } as const;
  // A tier's subscriptions are indexed only by status.
  const onPage = tierId === undefined ? pagePerCombination : pageByIndexOrder;
  return selectShown(db)
    .where('subscription.workspace_id', '=', workspaceId)
    .where(onPage(page, listed, { status: [status, VALUES.subscription.status] }))
    .orderBy('subscription.id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

/** Lists all current and past subscriptions of a customer, newest first. */
export function listOfCustomer(db: Db, customerId: string): Promise<SubscriptionDetails[]> {
  return selectShown(db)
    .where('subscription.customer_id', '=', customerId)
    .orderBy('subscription.id', 'desc')
    .limit(MAX_SHOWN)
    .execute();
}
const MAX_SHOWN = 100;

export function lockSubscription(
  tx: Tx,
  workspaceId: string,
  id: string,
): Promise<SubscriptionRow | undefined> {
  return tx
    .selectFrom('subscription')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** Locks a subscription of any workspace, for actions of the platform itself. */
export function lockAny(tx: Tx, id: string): Promise<SubscriptionRow | undefined> {
  return tx.selectFrom('subscription').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
}

export function updateSubscription(
  tx: Tx,
  id: string,
  {
    upgrades,
    ...change
  }: Omit<Updateable<SubscriptionTable>, 'upgrades'> & {
    upgrades?: SubscriptionRow['upgrades'];
  },
): Promise<SubscriptionRow> {
  return tx
    .updateTable('subscription')
    .set({ ...change, ...(upgrades === undefined ? {} : { upgrades: JSON.stringify(upgrades) }) })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Locks a subscription of any workspace, unless another node holds the lock. */
export function lockAnySkipLocked(tx: Tx, id: string): Promise<SubscriptionRow | undefined> {
  return tx
    .selectFrom('subscription')
    .selectAll()
    .where('id', '=', id)
    .forNoKeyUpdate()
    .skipLocked()
    .executeTakeFirst();
}

/**
 * Lists subscriptions to be renewed or ended by now, longest waiting first; those of suspended accounts are
 * left out.
 */
export async function listDue(db: Db, now: Date, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('subscription')
    .select('id')
    .where('next_charge_at', '<=', now)
    .where('ended_at', 'is', null)
    .where('payment_id', 'is', null)
    .where(sql<SqlBool>`(cancel_at_period_end or not is_disputed
      and (pending_price_cents is null or price_change_notified_at is not null))`)
    .where(isAccountActive('subscription.workspace_id'))
    .orderBy('next_charge_at')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * The price of the members of a tier changes with their next period, also of those who may not stay until then, and of
 * those who pay just now to come to it.
 */
export async function migratePrice(tx: Tx, tierId: string, priceCents: number, now: Date): Promise<void> {
  const ownCents = sql<number | null>`nullif(${priceCents}::integer, price_cents)`;
  await tx
    .updateTable('subscription')
    .set({
      migrated_price_cents: ownCents,
      // A member with a planned switch may stay after all, and is notified of that price as well.
      price_change_notified_at: sql`case when pending_tier_id is null or ${ownCents} is null then price_change_notified_at end`,
    })
    .where('ended_at', 'is', null)
    .where('tier_id', '=', tierId)
    .where(sql<SqlBool>`migrated_price_cents is distinct from ${ownCents}`)
    .execute();
  await tx
    .updateTable('subscription')
    .set({ charge_price_cents: priceCents })
    .where('charge_tier_id', '=', tierId)
    .execute();
  await tx
    .updateTable('subscription')
    .set({
      pending_price_cents: sql`nullif(${priceCents}::integer,
        case when pending_tier_id is null then price_cents end)`,
      price_change_notified_at: null,
      updated_at: now,
    })
    .where('ended_at', 'is', null)
    .where('cancel_at_period_end', '=', false)
    .where(sql<SqlBool>`coalesce(pending_tier_id, tier_id) = ${tierId}`)
    .where(sql<SqlBool>`coalesce(pending_price_cents, price_cents) <> ${priceCents}`)
    .execute();
}

/** Lists members whose next price differs and who were not notified of it; a pending charge comes first. */
export function listUnnotifiedPriceChanges(db: Db, limit: number): Promise<{ id: string }[]> {
  return db
    .selectFrom('subscription')
    .select('id')
    .where('pending_price_cents', 'is not', null)
    .where('price_change_notified_at', 'is', null)
    .where('ended_at', 'is', null)
    .where('payment_id', 'is', null)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Lists yearly subscriptions that end in this time and whose renewal was not announced. */
export function listDueRenewalReminders(db: Db, until: Date, limit: number): Promise<{ id: string }[]> {
  return db
    .selectFrom('subscription')
    .select('id')
    .where('interval', '=', 'YEAR')
    .where('next_charge_at', '<=', until)
    .where('status', 'in', ['TRIALING', 'ACTIVE'])
    .where('cancel_at_period_end', '=', false)
    .where(sql<SqlBool>`renewal_reminder_period is distinct from next_period_month`)
    .where(isAccountActive('subscription.workspace_id'))
    .orderBy('id')
    .limit(limit)
    .execute();
}

/**
 * Lists subscriptions whose card expires by the end of this month and whose member was not notified of it.
 */
export function listExpiring(
  db: Db,
  { year, month }: { year: number; month: number },
  limit: number,
): Promise<{ id: string; card: string }[]> {
  const expYear = sql`(payment_method->>'expYear')::integer`;
  const expMonth = sql`(payment_method->>'expMonth')::integer`;
  const card = sql<string>`${expYear} || '-' || lpad(payment_method->>'expMonth', 2, '0')`;
  return db
    .selectFrom('subscription')
    .select(['subscription.id', card.as('card')])
    .where('subscription.ended_at', 'is', null)
    .where('subscription.cancel_at_period_end', '=', false)
    .where('payment_method', 'is not', null)
    .where(sql<SqlBool>`(${expYear}, ${expMonth}) <= (${year}::integer, ${month}::integer)`)
    .where(sql<SqlBool>`subscription.card_expiry_notified_for is distinct from ${card}`)
    .where(isAccountActive('subscription.workspace_id'))
    .orderBy('subscription.id')
    .limit(limit)
    .execute();
}

/** Finds the content of the emails about a subscription. */
export function findEmailContext(db: Db, id: string) {
  return db
    .selectFrom('subscription')
    .innerJoin('customer', 'customer.id', 'subscription.customer_id')
    .innerJoin('tier', 'tier.id', 'subscription.tier_id')
    .leftJoin('tier as planned', 'planned.id', 'subscription.pending_tier_id')
    .innerJoin('workspace', 'workspace.id', 'subscription.workspace_id')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .select([
      'customer.email',
      'tier.name as tier_name',
      'planned.name as planned_name',
      'account.username',
      'account.name as creator_name',
      'workspace.mode',
    ])
    .where('subscription.id', '=', id)
    .executeTakeFirstOrThrow();
}

export type EmailContextRow = Awaited<ReturnType<typeof findEmailContext>>;

/** Returns the time zone in which the days of a workspace are counted. */
export async function zoneOf(db: Db, workspaceId: string): Promise<{ timezone: string; mode: Mode }> {
  return db
    .selectFrom('workspace')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .select(['account.timezone', 'workspace.mode'])
    .where('workspace.id', '=', workspaceId)
    .executeTakeFirstOrThrow();
}

/** Reports whether the customer has had a trial: there is one per creator. */
export async function hadTrial(db: Db, customerId: string): Promise<boolean> {
  const row = await db
    .selectFrom('subscription')
    .select('id')
    .where('customer_id', '=', customerId)
    .where('trial_ends_at', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export function findTier(db: Db, workspaceId: string, id: string) {
  return db
    .selectFrom('tier')
    .select(['id', 'name', 'price_cents', 'interval', 'is_active', 'archived_at'])
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Reports whether the customer has access to one of these tiers, or to any where none is named. */
export async function hasTierAccess(
  db: Db,
  customerId: string,
  { workspaceId, tierIds }: { workspaceId: string; tierIds: readonly string[] },
): Promise<boolean> {
  const row = await db
    .selectFrom('subscription')
    .select('id')
    .where('customer_id', '=', customerId)
    .where('workspace_id', '=', workspaceId)
    .where('ended_at', 'is', null)
    .where('is_disputed', '=', false)
    .$if(tierIds.length > 0, (query) => query.where('tier_id', 'in', tierIds))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Counts the charges of a subscription, including failed ones. */
export async function countPurchases(tx: Tx, id: string): Promise<number> {
  const { count } = await tx
    .selectFrom('purchase')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('subscription_id', '=', id)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Locks the subscription that a checkout of this customer began. */
export function lockOfCheckout(
  tx: Tx,
  { customerId, checkoutId }: { customerId: string; checkoutId: string },
): Promise<SubscriptionRow | undefined> {
  return tx
    .selectFrom('subscription')
    .selectAll()
    .where('customer_id', '=', customerId)
    .where('checkout_id', '=', checkoutId)
    .forNoKeyUpdate()
    .executeTakeFirst();
}
