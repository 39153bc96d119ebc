import type { Insertable, Selectable, Updateable } from 'kysely';
import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { PaymentMethod } from '../../../platform/db/json-columns.ts';
import type { CustomerTable, PaymentTable, PurchaseTable } from '../../../platform/db/tables.generated.ts';

export type CustomerRow = Selectable<CustomerTable>;
export type PurchaseRow = Selectable<PurchaseTable>;
export type PaymentRow = Selectable<PaymentTable>;

// ---- Customers

/**
 * Returns the customer with this email address, inserted where there is none; a given name replaces the
 * previous one.
 */
export function upsertCustomer(
  tx: Tx,
  row: Pick<Insertable<CustomerTable>, 'id' | 'workspace_id' | 'email' | 'created_at'> & {
    name: string | null;
  },
): Promise<CustomerRow> {
  return tx
    .insertInto('customer')
    .values({ ...row, updated_at: row.created_at })
    .onConflict((conflict) =>
      conflict.columns(['workspace_id', 'email']).doUpdateSet((eb) => ({
        name: eb.fn.coalesce('excluded.name', 'customer.name'),
        updated_at: eb.ref('excluded.updated_at'),
      })),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function findCustomer(db: Db, id: string): Promise<CustomerRow | undefined> {
  return db.selectFrom('customer').selectAll().where('id', '=', id).executeTakeFirst();
}

export async function updateCustomer(db: Db, id: string, change: Updateable<CustomerTable>): Promise<void> {
  await db.updateTable('customer').set(change).where('id', '=', id).execute();
}

/** Stores the provider's ID of the customer; the saved card stays unchanged. */
export async function rememberPayer(
  tx: Tx,
  id: string,
  { provider, customerRef }: PaymentMethod,
): Promise<void> {
  await tx
    .updateTable('customer')
    .set({ provider, provider_ref: customerRef })
    .where('id', '=', id)
    .where('method_ref', 'is', null)
    .execute();
}

/** Returns the card that the customer saved on the member page. */
export function savedMethodOf(row: CustomerRow): PaymentMethod | null {
  const { provider, provider_ref: customerRef, method_ref: methodRef } = row;
  const { card_brand: brand, card_last4: last4, card_exp_month: expMonth, card_exp_year: expYear } = row;
  if (provider === null || customerRef === null || methodRef === null) return null;
  if (brand === null || last4 === null || expMonth === null || expYear === null) return null;
  return { provider, customerRef, methodRef, brand, last4, expMonth, expYear };
}

export async function saveMethod(tx: Tx, id: string, method: PaymentMethod, now: Date): Promise<void> {
  await updateCustomer(tx, id, {
    provider: method.provider,
    provider_ref: method.customerRef,
    method_ref: method.methodRef,
    card_brand: method.brand,
    card_last4: method.last4,
    card_exp_month: method.expMonth,
    card_exp_year: method.expYear,
    updated_at: now,
  });
}

// ---- Purchases

export function insertPurchase(tx: Tx, row: Insertable<PurchaseTable>): Promise<PurchaseRow> {
  return tx.insertInto('purchase').values(row).returningAll().executeTakeFirstOrThrow();
}

export function findPurchase(db: Db, id: string): Promise<PurchaseRow | undefined> {
  return db.selectFrom('purchase').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Finds the newest unpaid purchase of a subscription. */
export function findUnpaid(db: Db, subscriptionId: string): Promise<PurchaseRow | undefined> {
  return db
    .selectFrom('purchase')
    .selectAll()
    .where('subscription_id', '=', subscriptionId)
    .where('status', '=', 'PENDING')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Locks a purchase; every change of the purchase and of its payments takes this lock first. */
export function lockPurchase(tx: Tx, id: string): Promise<PurchaseRow | undefined> {
  return tx.selectFrom('purchase').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
}

export function updatePurchase(tx: Tx, id: string, change: Updateable<PurchaseTable>): Promise<PurchaseRow> {
  return tx.updateTable('purchase').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
}

/**
 * Locks the rows around a purchase in the global lock order (checkout, subscription, tier, cohort or class,
 * booking, discount code, purchase): consumers of its payment events change these in the same transaction.
 * The lock that prevents the code's deletion comes first, because the deletion continues with the checkouts.
 */
export async function lockAround(tx: Tx, purchaseId: string): Promise<void> {
  const code = sql`(select checkout.discount_code_id from purchase join checkout on checkout.id = purchase.checkout_id
    where purchase.id = ${purchaseId})`;
  await sql`select from discount_code where id = ${code} for key share`.execute(tx);
  await sql`select from checkout where id = (select checkout_id from purchase where id = ${purchaseId})
    for no key update`.execute(tx);
  await sql`select from subscription where id = (select subscription_id from purchase where id = ${purchaseId})
    for no key update`.execute(tx);
  await sql`select from tier where id = (select tier_id from purchase where id = ${purchaseId})
    for no key update`.execute(tx);
  const booking = sql`(select booking_id from purchase where id = ${purchaseId})`;
  await sql`select from cohort where id = (select cohort_id from booking where id = ${booking})
    for no key update`.execute(tx);
  await sql`select from class_occurrence where id = (select occurrence_id from booking where id = ${booking})
    for no key update`.execute(tx);
  await sql`select from booking where id = ${booking} for no key update`.execute(tx);
  await sql`select from discount_code where id = ${code} for no key update`.execute(tx);
}

// ---- Payments

/** @returns undefined when one with this key exists. */
export function insertPayment(tx: Tx, row: Insertable<PaymentTable>): Promise<PaymentRow | undefined> {
  return tx
    .insertInto('payment')
    .values(row)
    .onConflict((conflict) => conflict.column('provider_key').doNothing())
    .returningAll()
    .executeTakeFirst();
}

export function findPayment(db: Db, id: string): Promise<PaymentRow | undefined> {
  return db.selectFrom('payment').selectAll().where('id', '=', id).executeTakeFirst();
}

export function getPayment(db: Db, id: string): Promise<PaymentRow> {
  return db.selectFrom('payment').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
}

export function findByKey(db: Db, key: string): Promise<PaymentRow | undefined> {
  return db.selectFrom('payment').selectAll().where('provider_key', '=', key).executeTakeFirst();
}

export function findByRef(
  db: Db,
  provider: PaymentRow['provider'],
  ref: string,
): Promise<PaymentRow | undefined> {
  return db
    .selectFrom('payment')
    .selectAll()
    .where('provider', '=', provider)
    .where('provider_ref', '=', ref)
    .executeTakeFirst();
}

export function lockPayment(tx: Tx, id: string): Promise<PaymentRow> {
  return tx.selectFrom('payment').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirstOrThrow();
}

export function updatePayment(db: Db, id: string, change: Updateable<PaymentTable>): Promise<PaymentRow> {
  return db.updateTable('payment').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
}

/**
 * Claims the next provider call about an open payment.
 *
 * @returns false while that is not allowed.
 */
export async function claimAsk(
  db: Db,
  id: string,
  { now, until }: { now: Date; until: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('payment')
    .set({ next_ask_at: until })
    .where('id', '=', id)
    .where((eb) => eb.or([eb('next_ask_at', 'is', null), eb('next_ask_at', '<=', now)]))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Lists the unsettled payments of this type of a locked purchase. */
export function listOpen(tx: Tx, purchaseId: string, type: PaymentRow['type']): Promise<PaymentRow[]> {
  return tx
    .selectFrom('payment')
    .selectAll()
    .where('purchase_id', '=', purchaseId)
    .where('type', '=', type)
    .where('status', '=', 'PENDING')
    .orderBy('id')
    .execute();
}

export function findByRequest(
  tx: Tx,
  purchaseId: string,
  requestId: string,
): Promise<PaymentRow | undefined> {
  return tx
    .selectFrom('payment')
    .selectAll()
    .where('purchase_id', '=', purchaseId)
    .where('request_id', '=', requestId)
    .executeTakeFirst();
}

/** Finds the charge that paid a purchase. */
export function findPaidCharge(db: Db, purchaseId: string): Promise<PaymentRow | undefined> {
  return db
    .selectFrom('payment')
    .selectAll()
    .where('purchase_id', '=', purchaseId)
    .where('type', '=', 'CHARGE')
    .where('status', '=', 'SUCCEEDED')
    .executeTakeFirst();
}

/** Lists the IDs of payments that are due, longest waiting first. */
export async function listDue(db: Db, now: Date, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('payment')
    .select('id')
    .where('status', '=', 'PENDING')
    .where('next_poll_at', '<=', now)
    .orderBy('next_poll_at')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}
