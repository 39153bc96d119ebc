import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { CUSTOM_PLAN, pageCondition } from '../../../platform/db/page.ts';
import { baseCondition, idIn, pagePerCombination } from '../../../platform/db/page-filters.ts';
import { searchPage } from '../../../platform/db/search.ts';
import { type PayoutTable, VALUES } from '../../../platform/db/tables.generated.ts';
import { isAccountActive } from '../../../platform/db/workspace.ts';
import type { Provider } from './rules.ts';

export type PayoutRow = Selectable<PayoutTable>;
export type PayoutStatus = PayoutRow['status'];

export function insertPayout(tx: Tx, row: Insertable<PayoutTable>): Promise<PayoutRow> {
  return tx.insertInto('payout').values(row).returningAll().executeTakeFirstOrThrow();
}

/** Inserts a payout of a provider; returns null when it exists already. */
export async function insertSyncedPayout(tx: Tx, row: Insertable<PayoutTable>): Promise<PayoutRow | null> {
  const inserted = await tx
    .insertInto('payout')
    .values(row)
    .onConflict((conflict) => conflict.columns(['provider', 'provider_ref']).doNothing())
    .returningAll()
    .executeTakeFirst();
  return inserted ?? null;
}

export function lockSyncedPayout(tx: Tx, provider: Provider, ref: string): Promise<PayoutRow> {
  return tx
    .selectFrom('payout')
    .selectAll()
    .where('provider', '=', provider)
    .where('provider_ref', '=', ref)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
}

export function lockPayout(tx: Tx, id: string): Promise<PayoutRow | undefined> {
  return tx.selectFrom('payout').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
}

export function updatePayout(tx: Tx, id: string, change: Updateable<PayoutTable>): Promise<PayoutRow> {
  return tx.updateTable('payout').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
}

export function listPayouts(
  db: Db,
  workspaceId: string,
  statuses: readonly PayoutStatus[] | undefined,
  page: PageRequest,
): Promise<PayoutRow[]> {
  return db
    .selectFrom('payout')
    .selectAll()
    .where(onPageOfPayouts(workspaceId, statuses, page))
    .orderBy('id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

function onPageOfPayouts(
  workspaceId: string,
  statuses: readonly PayoutStatus[] | undefined,
  page: PageRequest,
) {
  const { createdAfter, createdBefore } = page;
  const listed = { table: 'payout', of: { workspace_id: workspaceId } };
  if (createdAfter === null && createdBefore === null) {
    return pagePerCombination(page, listed, { status: [statuses, VALUES.payout.status] });
  }
  // A payout of the provider has the provider's time, and an ID of the time when its event arrived.
  const times = pageCondition({ ...page, after: null });
  return idIn(
    listed,
    searchPage(page, {
      table: 'payout',
      within: baseCondition({ ...page, createdAfter: null, createdBefore: null }, listed),
      matching: sql`status = any(${[...(statuses ?? VALUES.payout.status)]}::text[]) and ${times}`,
    }),
  );
}

/** Finds workspaces in good standing with a sandbox account that were not paid out since then. */
export async function findUnpaid(db: Db, since: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('ledger_account')
    .innerJoin('workspace', 'workspace.id', 'ledger_account.workspace_id')
    .select('workspace.id')
    .where('ledger_account.provider', '=', 'SANDBOX')
    .where('ledger_account.kind', '=', 'CREATOR')
    .where(isAccountActive('workspace.id'))
    .where(sql<boolean>`not ${paidSince(sql.ref('workspace.id'), since)}`)
    .execute();
  return rows.map(({ id }) => id);
}

function paidSince(workspaceId: unknown, since: Date) {
  return sql<boolean>`exists (select from payout where workspace_id = ${workspaceId}
    and provider = 'SANDBOX' and created_at >= ${since})`;
}

export async function wasPaidSince(tx: Tx, workspaceId: string, since: Date): Promise<boolean> {
  const { rows } = await sql<{ paid: boolean }>`select ${paidSince(workspaceId, since)} as paid`.execute(tx);
  return rows[0]?.paid === true;
}

/** Lists sandbox payouts whose arrival is due. */
export async function listDueArrivals(db: Db, now: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('payout')
    .select('id')
    .where('provider', '=', 'SANDBOX')
    .where('status', '=', 'IN_TRANSIT')
    .where('arrival_at', '<=', now)
    .execute();
  return rows.map(({ id }) => id);
}

/** Returns the balance of the creator, and the part of it that was charged after `since`. */
export async function readCreatorBalance(
  db: Db,
  workspaceId: string,
  provider: Provider,
  since: Date,
): Promise<{ cents: number; freshCents: number }> {
  const account = sql`(select id from ledger_account
    where workspace_id = ${workspaceId} and provider = ${provider} and kind = 'CREATOR')`;
  const { rows } = await sql<{ cents: number; freshCents: number }>`
    ${CUSTOM_PLAN} select
      (select coalesce(sum(amount_cents), 0)::bigint from ledger_entry where account_id = ${account}) as cents,
      (select coalesce(sum(e.amount_cents), 0)::bigint
        from ledger_transaction t join ledger_entry e on e.transaction_id = t.id and e.account_id = ${account}
        where t.workspace_id = ${workspaceId} and t.kind = 'CHARGE' and t.occurred_at > ${since}) as "freshCents"
    `.execute(db);
  return rows[0] ?? { cents: 0, freshCents: 0 };
}

/** Reports whether the workspace exists, in any account. */
export async function isWorkspace(db: Db, id: string): Promise<boolean> {
  const row = await db.selectFrom('workspace').select('id').where('id', '=', id).executeTakeFirst();
  return row !== undefined;
}
