import type { Static } from 'typebox';
import type { Tx } from '../../../platform/db/index.ts';
import type { paymentSucceeded } from './events.ts';
import type { PaymentPorts } from './ports.ts';
import type { PaymentRow, PurchaseRow } from './repository.ts';
import { resourceOf } from './rules.ts';

/** Data of the payment events. */
export type PaymentEventData = Static<typeof paymentSucceeded.data>;

/** Returns the event data of a payment. */
export function toPaymentEventData(
  purchase: PurchaseRow,
  paymentId: string,
  sequence: number,
  more: { failureCode?: string | null; outcome?: PaymentRow['outcome'] } = {},
): Static<typeof paymentSucceeded.data> {
  return {
    paymentId,
    purchaseId: purchase.id,
    kind: purchase.kind,
    resourceId: resourceOf(purchase),
    status: purchase.status,
    failureCode: more.failureCode ?? null,
    outcome: more.outcome ?? null,
    sequence,
  };
}

/** Money movement for the ledger. */
export interface LedgerMovement {
  kind: 'CHARGE' | 'REFUND' | 'DISPUTE_OPENED' | 'DISPUTE_WON' | 'DISPUTE_LOST';
  purchase: PurchaseRow;
  payment: PaymentRow;
  amountCents: number;
  /** Part of the amount that the platform earns, or returns with a refund. */
  feeCents: number;
}

/** Records the movement in the ledger: last in its transaction, because all writers wait for its rollups. */
export async function postToLedger(
  { ledger, clock }: PaymentPorts,
  tx: Tx,
  moved: LedgerMovement,
): Promise<void> {
  const { kind, purchase, payment, amountCents, feeCents } = moved;
  const itemId = purchase.tier_id ?? purchase.product_id ?? resourceOf(purchase);
  if (itemId === null) throw new Error(`purchase ${purchase.id} has no item`);
  const movement = {
    workspaceId: purchase.workspace_id,
    // A free purchase moves no money, so any provider will do.
    provider: payment.provider === 'NONE' ? ('SANDBOX' as const) : payment.provider,
    source: payment.id,
    at: clock.now(),
    sale: { purchaseId: purchase.id, kind: purchase.kind, itemId },
    amountCents,
  };
  if (kind === 'DISPUTE_OPENED' || kind === 'DISPUTE_WON') await ledger.record(tx, { ...movement, kind });
  else await ledger.record(tx, { ...movement, kind, feeCents });
}
