import { sql } from 'kysely';
import { newId } from '../../../kernel/ids.ts';
import type { Tx } from '../../../platform/db/index.ts';
import type { AccountKind, Movement, Postings, Provider, RevenueDelta, Sale } from './rules.ts';

/** @returns its ID; null when this movement of this source was recorded before. */
export async function insertTransaction(tx: Tx, movement: Movement): Promise<string | null> {
  const sale = 'sale' in movement ? movement.sale : null;
  const row = await tx
    .insertInto('ledger_transaction')
    .values({
      id: newId('ltx'),
      workspace_id: movement.workspaceId,
      kind: movement.kind,
      source: movement.source,
      sale_kind: sale?.kind ?? null,
      item_id: sale?.itemId ?? null,
      purchase_id: sale?.purchaseId ?? null,
      occurred_at: movement.at,
    })
    .onConflict((conflict) => conflict.columns(['source', 'kind']).doNothing())
    .returning('id')
    .executeTakeFirst();
  return row?.id ?? null;
}

/** Inserts the entries of a transaction; amounts of 0 have none. */
export async function insertEntries(
  tx: Tx,
  transactionId: string,
  { workspaceId, provider, at }: Pick<Movement, 'workspaceId' | 'provider' | 'at'>,
  postings: Postings,
): Promise<void> {
  const moved = Object.entries(postings).filter(([, amount]) => amount !== 0);
  if (moved.length === 0) return;
  const accounts = await accountsOf(tx, workspaceId, provider, at);
  const rows = moved.flatMap(([kind, amount_cents]) =>
    accounts
      .filter((account) => account.kind === kind)
      .map(({ id }) => ({ transaction_id: transactionId, account_id: id, amount_cents })),
  );
  await tx.insertInto('ledger_entry').values(rows).execute();
}

const ACCOUNTS: readonly AccountKind[] = ['BUYERS', 'CREATOR', 'FEES', 'DISPUTED', 'PAID_OUT'];

/** Returns all five accounts, which are opened with the first movement of a workspace with a provider. */
async function accountsOf(tx: Tx, workspaceId: string, provider: Provider, openedAt: Date) {
  const find = () =>
    tx
      .selectFrom('ledger_account')
      .select(['id', 'kind'])
      .where('workspace_id', '=', workspaceId)
      .where('provider', '=', provider)
      .execute();
  const found = await find();
  if (found.length === ACCOUNTS.length) return found;
  const opened = ACCOUNTS.map((kind) => ({
    id: newId('acc'),
    workspace_id: workspaceId,
    provider,
    kind,
    created_at: openedAt,
  }));
  await tx
    .insertInto('ledger_account')
    .values(opened)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return find();
}

/** Adds to the rollups of the quarter-hour, and to the daily ones of the sold item. */
export async function addRevenue(
  tx: Tx,
  workspaceId: string,
  at: Date,
  { kind, itemId }: Sale,
  { grossCents, feeCents, refundCents, count }: RevenueDelta,
): Promise<void> {
  const sums = sql`${grossCents}::bigint, ${feeCents}::bigint, ${refundCents}::bigint, ${count}::integer`;
  const added = (table: string) => sql`do update set
    gross_cents = ${sql.table(table)}.gross_cents + excluded.gross_cents,
    fee_cents = ${sql.table(table)}.fee_cents + excluded.fee_cents,
    refund_cents = ${sql.table(table)}.refund_cents + excluded.refund_cents,
    sale_count = ${sql.table(table)}.sale_count + excluded.sale_count`;
  await sql`
    insert into ledger_revenue (workspace_id, quarter_hour, gross_cents, fee_cents, refund_cents, sale_count)
    values (${workspaceId}, date_bin('15 minutes', ${at}::timestamptz, 'epoch'), ${sums})
    on conflict (workspace_id, quarter_hour) ${added('ledger_revenue')}`.execute(tx);
  await sql`
    insert into ledger_revenue_item
      (workspace_id, day, sale_kind, item_id, gross_cents, fee_cents, refund_cents, sale_count)
    values (${workspaceId}, date_bin('1 day', ${at}::timestamptz, 'epoch'), ${kind}, ${itemId}, ${sums})
    on conflict (workspace_id, day, sale_kind, item_id) ${added('ledger_revenue_item')}`.execute(tx);
}
