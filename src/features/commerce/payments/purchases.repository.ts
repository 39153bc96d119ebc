import type { Mode } from '../../../kernel/access.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db } from '../../../platform/db/index.ts';
import { pageCondition } from '../../../platform/db/page.ts';
import { pageByIndexOrder, pagePerCombination } from '../../../platform/db/page-filters.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { PaymentRow, PurchaseRow } from './repository.ts';

/** Lists of purchases and payments. */

/** Filter of purchases. Absent fields match every row; the range includes `from` and excludes `to`. */
export interface PurchaseFilter {
  status?: readonly PurchaseRow['status'][] | undefined;
  kind?: readonly PurchaseRow['kind'][] | undefined;
  videoId?: string | undefined;
  subscriptionId?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

export type SaleRow = PurchaseRow & { buyer_email: string };

export function listSales(
  db: Db,
  workspaceId: string,
  { status, kind, videoId, subscriptionId, from, to }: PurchaseFilter,
  page: PageRequest,
): Promise<SaleRow[]> {
  const of = { workspace_id: workspaceId, video_id: videoId, subscription_id: subscriptionId };
  const listed = { table: 'purchase', prefix: 'pur', of, made: { from, to } } as const;
  const { purchase } = VALUES;
  const each = { kind: [kind, purchase.kind], status: [status, purchase.status] } as const;
  // A video's purchases are indexed only by kind and status.
  const onPage = videoId === undefined ? pagePerCombination : pageByIndexOrder;
  return db
    .selectFrom('purchase')
    .innerJoin('customer', 'customer.id', 'purchase.customer_id')
    .selectAll('purchase')
    .select('customer.email as buyer_email')
    .where(onPage(page, listed, each))
    .orderBy('purchase.id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

export type BuyerPurchaseRow = PurchaseRow & { seller_username: string; seller_name: string | null };

/** Lists the purchases that were paid with an account's own verified email address, from all creators. */
export function listOwnPurchases(
  db: Db,
  accountId: string,
  mode: Mode,
  page: PageRequest,
): Promise<BuyerPurchaseRow[]> {
  return db
    .selectFrom('account as buyer')
    .innerJoin('customer', 'customer.email', 'buyer.email')
    .innerJoin('purchase', 'purchase.customer_id', 'customer.id')
    .innerJoin('workspace', 'workspace.id', 'purchase.workspace_id')
    .innerJoin('account as seller', 'seller.id', 'workspace.account_id')
    .selectAll('purchase')
    .select(['seller.username as seller_username', 'seller.name as seller_name'])
    .where('buyer.id', '=', accountId)
    .where('buyer.email_verified_at', 'is not', null)
    .where('workspace.mode', '=', mode)
    .where('purchase.paid_at', 'is not', null)
    .where(pageCondition(page, 'purchase.id', 'purchase.created_at'))
    .orderBy('purchase.id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

export interface PaymentFilter {
  type?: readonly PaymentRow['type'][] | undefined;
  status?: readonly PaymentRow['status'][] | undefined;
  purchaseId?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

export function listPayments(
  db: Db,
  workspaceId: string,
  { type, status, purchaseId, from, to }: PaymentFilter,
  page: PageRequest,
): Promise<PaymentRow[]> {
  const of = { workspace_id: workspaceId, purchase_id: purchaseId };
  const listed = { table: 'payment', prefix: 'pay', of, made: { from, to } } as const;
  const { payment } = VALUES;
  return db
    .selectFrom('payment')
    .selectAll()
    .where(pagePerCombination(page, listed, { type: [type, payment.type], status: [status, payment.status] }))
    .orderBy('id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

/**
 * Finds the seller's name as shown to buyers, and the email address for messages, which is null where it is
 * not verified.
 */
export async function findSeller(
  db: Db,
  workspaceId: string,
): Promise<{ name: string; email: string | null }> {
  const row = await db
    .selectFrom('workspace')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .select(['account.name', 'account.username', 'account.email', 'account.email_verified_at'])
    .where('workspace.id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  const isConfirmed = row.email_verified_at !== null;
  return { name: row.name ?? row.username, email: isConfirmed ? row.email : null };
}
