import { dateFromMs } from '../../../kernel/clock.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Tx } from '../../../platform/db/index.ts';
import type { PaymentPorts } from './ports.ts';
import type { FetchedRefund } from './providers/provider.ts';
import { finishRefund } from './refunds.service.ts';
import type { PaymentRow } from './repository.ts';
import * as repository from './repository.ts';
import { nextPollMs } from './rules.ts';

/**
 * Records a refund that was made at the provider itself, once (docs/decisions/money.md#refunds-and-disputes).
 * The amount is limited to the remainder of the purchase.
 *
 * @param ref the provider's ID of the refund.
 */
export async function syncRefund(
  ports: PaymentPorts,
  charge: PaymentRow,
  ref: string,
  { amountCents, answer, isCreators }: FetchedRefund,
): Promise<void> {
  if (answer.status === 'FAILED') return;
  await ports.events.transaction(async (tx, append) => {
    const purchaseId = charge.purchase_id ?? '';
    await repository.lockAround(tx, purchaseId);
    const purchase = await repository.lockPurchase(tx, purchaseId);
    if (purchase === undefined || purchase.paid_at === null) return;
    const left = purchase.amount_cents - purchase.refunded_cents;
    if (left === 0 || (await repository.findByRef(tx, charge.provider, ref)) !== undefined) return;
    const mirrored = { ref, amountCents: Math.min(amountCents, left), isBorne: !isCreators };
    const payment = await insertMirrored(ports, tx, charge, mirrored);
    if (payment === undefined || answer.status === 'PENDING') return;
    await finishRefund(ports, { tx, append }, { payment, purchase }, ref);
  });
}

function insertMirrored(
  { clock }: PaymentPorts,
  tx: Tx,
  charge: PaymentRow,
  { ref, amountCents, isBorne }: { ref: string; amountCents: number; isBorne: boolean },
): Promise<PaymentRow | undefined> {
  const now = clock.now();
  return repository.insertPayment(tx, {
    id: newId('pay', clock),
    workspace_id: charge.workspace_id,
    purchase_id: charge.purchase_id,
    type: 'REFUND',
    status: 'PENDING',
    amount_cents: -amountCents,
    provider: charge.provider,
    provider_ref: ref,
    provider_key: `refund:${charge.provider}:${ref}`,
    request: { accountRef: charge.request.accountRef ?? null, isBorne },
    reason: 'Refunded at the payment provider.',
    next_poll_at: dateFromMs(nextPollMs({ created_at: now }, now.getTime())),
    created_at: now,
  });
}
