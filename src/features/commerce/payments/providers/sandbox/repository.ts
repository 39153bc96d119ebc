import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Db, Tx } from '../../../../../platform/db/index.ts';
import type {
  SandboxCardTable,
  SandboxPaymentTable,
  SandboxRefundTable,
} from '../../../../../platform/db/tables.generated.ts';

export type SandboxPayment = Selectable<SandboxPaymentTable>;
export type SandboxCard = Selectable<SandboxCardTable>;
export type SandboxRefund = Selectable<SandboxRefundTable>;

/** @throws when its tables are not readable. */
export async function ping(db: Db): Promise<void> {
  await db.selectFrom('sandbox_payment').select('ref').limit(1).execute();
}

/** @returns undefined when one with this key exists. */
export function insertPayment(
  db: Db,
  row: Insertable<SandboxPaymentTable>,
): Promise<SandboxPayment | undefined> {
  return db
    .insertInto('sandbox_payment')
    .values(row)
    .onConflict((conflict) => conflict.column('key').doNothing())
    .returningAll()
    .executeTakeFirst();
}

export function findByKey(db: Db, key: string): Promise<SandboxPayment | undefined> {
  return db.selectFrom('sandbox_payment').selectAll().where('key', '=', key).executeTakeFirst();
}

export function findByRef(db: Db, ref: string): Promise<SandboxPayment | undefined> {
  return db.selectFrom('sandbox_payment').selectAll().where('ref', '=', ref).executeTakeFirst();
}

export function lockByRef(tx: Tx, ref: string): Promise<SandboxPayment | undefined> {
  return tx.selectFrom('sandbox_payment').selectAll().where('ref', '=', ref).forUpdate().executeTakeFirst();
}

/** @returns false where it was disputed before, or nothing is left to dispute. */
export async function openDispute(db: Db, ref: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('sandbox_payment')
    .set({ dispute_status: 'OPEN' })
    .where('ref', '=', ref)
    .where('dispute_status', 'is', null)
    .whereRef('refunded_cents', '<', 'amount_cents')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** @returns false where no dispute is open. */
export async function decideDispute(db: Db, ref: string, outcome: 'WON' | 'LOST'): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('sandbox_payment')
    .set({ dispute_status: outcome })
    .where('ref', '=', ref)
    .where('dispute_status', '=', 'OPEN')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export function updatePayment(
  db: Db,
  ref: string,
  change: Updateable<SandboxPaymentTable>,
): Promise<SandboxPayment> {
  return db
    .updateTable('sandbox_payment')
    .set(change)
    .where('ref', '=', ref)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Ends a payment that waits for its buyer in this way; returns undefined when it does not wait. */
export function endAction(
  db: Db,
  ref: string,
  change: Pick<Updateable<SandboxPaymentTable>, 'status' | 'failure_code'>,
): Promise<SandboxPayment | undefined> {
  return db
    .updateTable('sandbox_payment')
    .set(change)
    .where('ref', '=', ref)
    .where('status', '=', 'ACTION')
    .returningAll()
    .executeTakeFirst();
}

/** @returns undefined when one with this key exists. */
export function insertCard(db: Db, row: Insertable<SandboxCardTable>): Promise<SandboxCard | undefined> {
  return db
    .insertInto('sandbox_card')
    .values(row)
    .onConflict((conflict) => conflict.column('key').doNothing())
    .returningAll()
    .executeTakeFirst();
}

export function findCard(db: Db, ref: string): Promise<SandboxCard | undefined> {
  return db.selectFrom('sandbox_card').selectAll().where('ref', '=', ref).executeTakeFirst();
}

export function findCardByKey(db: Db, key: string): Promise<SandboxCard | undefined> {
  return db.selectFrom('sandbox_card').selectAll().where('key', '=', key).executeTakeFirst();
}

export function insertRefund(tx: Tx, row: Insertable<SandboxRefundTable>): Promise<SandboxRefund> {
  return tx.insertInto('sandbox_refund').values(row).returningAll().executeTakeFirstOrThrow();
}

export function findRefundByKey(db: Db, key: string): Promise<SandboxRefund | undefined> {
  return db.selectFrom('sandbox_refund').selectAll().where('key', '=', key).executeTakeFirst();
}

export function findRefund(db: Db, ref: string): Promise<SandboxRefund | undefined> {
  return db.selectFrom('sandbox_refund').selectAll().where('ref', '=', ref).executeTakeFirst();
}
