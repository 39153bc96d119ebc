import { type AppendEvent, nextSequence } from '../../../events/index.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { AppError, badRequest, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Tx } from '../../../platform/db/index.ts';
import { paymentRefunded } from './events.ts';
import { settleRefundJob } from './jobs.ts';
import { postToLedger, toPaymentEventData } from './outcome.ts';
import type { PaymentPorts } from './ports.ts';
import { providerOf } from './provider-selection.ts';
import type { RefundResult } from './providers/provider.ts';
import type { PaymentRow, PurchaseRow } from './repository.ts';
import * as repository from './repository.ts';
import { feeReturned, nextPollMs, statusAfter } from './rules.ts';
import { callProvider, type SettledPayment, settledOf } from './settle.service.ts';

export interface NewRefund {
  /** Required workspace of the purchase; any when omitted. */
  workspaceId?: string;
  purchaseId: string;
  /** Null refunds the remainder. */
  amountCents: number | null;
  reason: string | null;
  /** Idempotency key of the refund within its purchase. */
  requestId: string | OwnRefund;
  /** The caller calls `settle` after the commit. Otherwise a worker does. */
  isSettledByCaller?: boolean;
}

/**
 * Refund by the platform itself, once per purchase. Its name is shorter than a partner's may be
 * (docs/concepts/purchases.md#refunds), so that the two cannot collide.
 */
interface OwnRefund {
  own: 'cancel' | 'late';
}

export interface RefundService {
  /**
   * Inserts the row of a refund, and the job that settles it. Pending refunds count against the remainder.
   *
   * @throws {AppError} NOT_FOUND; CONFLICT where nothing, or less than the amount, can be refunded, and
   *   (`requestId`) where the ID was used for another amount.
   */
  refund(tx: Tx, refund: NewRefund): Promise<{ paymentId: string }>;
}

export function createRefundService(ports: PaymentPorts): RefundService {
  return { refund: (tx, refund) => begin(ports, tx, refund) };
}

async function begin(ports: PaymentPorts, tx: Tx, refund: NewRefund): Promise<{ paymentId: string }> {
  const { reason } = refund;
  const requestId = typeof refund.requestId === 'string' ? refund.requestId : refund.requestId.own;
  const purchase = await repository.lockPurchase(tx, refund.purchaseId);
  if (purchase === undefined) throw notFound();
  if (refund.workspaceId !== undefined && purchase.workspace_id !== refund.workspaceId) throw notFound();
  const known = await repository.findByRequest(tx, purchase.id, requestId);
  if (known !== undefined) return { paymentId: repeated(known, refund) };
  const charge = await repository.findPaidCharge(tx, purchase.id);
  assertRefundable(purchase);
  if (charge === undefined) throw new AppError('CONFLICT', { message: 'There is no payment to refund.' });
  const amountCents = await amountOf(tx, purchase, refund.amountCents);
  const now = ports.clock.now();
  const id = newId('pay', ports.clock);
  await repository.insertPayment(tx, {
    id,
    workspace_id: purchase.workspace_id,
    purchase_id: purchase.id,
    type: 'REFUND',
    status: 'PENDING',
    amount_cents: -amountCents,
    provider: charge.provider,
    provider_key: id,
    request: { accountRef: charge.request.accountRef ?? null },
    request_id: requestId,
    reason,
    next_poll_at: dateFromMs(nextPollMs({ created_at: now }, now.getTime())),
    created_at: now,
  });
  if (refund.isSettledByCaller !== true) {
    const group = purchase.workspace_id;
    await ports.jobs.enqueue(tx, settleRefundJob, { paymentId: id }, { group });
  }
  return { paymentId: id };
}

function repeated(known: PaymentRow, { amountCents }: NewRefund): string {
  if (amountCents !== null && amountCents !== -known.amount_cents) {
    const message = 'This requestId was already used for a refund of a different amount.';
    throw new AppError('CONFLICT', { field: 'requestId', message });
  }
  return known.id;
}

const NOT_REFUNDABLE: Partial<Record<PurchaseRow['status'], string>> = {
  PENDING: 'This purchase has not been paid yet.',
  FAILED: 'This purchase was never paid.',
  REFUNDED: 'This purchase has already been refunded.',
  DISPUTED: 'This purchase is disputed and cannot be refunded until the bank decides.',
};

function assertRefundable({ status }: PurchaseRow): void {
  const message = NOT_REFUNDABLE[status];
  if (message !== undefined) throw new AppError('CONFLICT', { message });
}

async function amountOf(tx: Tx, purchase: PurchaseRow, wanted: number | null): Promise<number> {
  const underWay = await repository.listOpen(tx, purchase.id, 'REFUND');
  const pending = underWay.reduce((sum, row) => sum - row.amount_cents, 0);
  const left = purchase.amount_cents - purchase.refunded_cents - pending;
  if (left === 0) {
    const message =
      pending > 0
        ? 'A refund of the remaining amount is already in progress.'
        : 'There is nothing left to refund.';
    throw new AppError('CONFLICT', { message });
  }
  if (wanted !== null && wanted < 1) throw badRequest('amountCents', 'amountCents must be at least 1.');
  if (wanted !== null && wanted > left) {
    const message = `Only ${left} cents of this purchase can still be refunded.`;
    throw new AppError('CONFLICT', { field: 'amountCents', message });
  }
  return wanted ?? left;
}

/**
 * Asks the provider for a refund; the same key is the same refund, however often it is asked for. One that has a name
 * there is only looked at: it may have been made there.
 */
export async function settleRefund(ports: PaymentPorts, payment: PaymentRow): Promise<SettledPayment> {
  if (payment.status !== 'PENDING') return settledOf(payment);
  const purchaseId = payment.purchase_id ?? '';
  const charge = await repository.findPaidCharge(ports.db, purchaseId);
  const ref = charge?.provider_ref;
  if (charge === undefined || ref == null) throw new Error(`refund ${payment.id} has no charge`);
  const answer = await callProvider(ports, payment, async (): Promise<RefundResult> => {
    const provider = providerOf(ports, payment);
    const { accountRef = null } = payment.request;
    if (payment.provider_ref !== null) {
      const made = await provider.fetchRefund({ ref: payment.provider_ref, accountRef });
      return made?.answer ?? { status: 'PENDING', ref: payment.provider_ref };
    }
    await repository.updatePayment(ports.db, payment.id, { provider_requested_at: ports.clock.now() });
    return provider.refund({
      key: payment.provider_key,
      ref,
      amountCents: -payment.amount_cents,
      accountRef,
    });
  });
  return recordRefundResult(ports, payment, answer);
}

/** Records the result of a refund, once. */
export function recordRefundResult(
  ports: PaymentPorts,
  { id, purchase_id: purchaseId }: PaymentRow,
  answer: RefundResult,
): Promise<SettledPayment> {
  return ports.events.transaction(async (tx, append) => {
    await repository.lockAround(tx, purchaseId ?? '');
    const purchase = await repository.lockPurchase(tx, purchaseId ?? '');
    const payment = await repository.lockPayment(tx, id);
    if (payment.status === 'SUCCEEDED' && answer.status === 'FAILED') {
      ports.log.error({ paymentId: id }, 'a refund was returned to the platform: pay the buyer another way');
    }
    if (purchase === undefined || payment.status !== 'PENDING') return settledOf(payment);
    if (answer.status !== 'SUCCEEDED') return putOff(ports, tx, payment, answer);
    await finishRefund(ports, { tx, append }, { payment, purchase }, answer.ref);
    return { status: 'SUCCEEDED' };
  });
}

/** Completes a refund after the money has returned to the buyer, under the lock of the purchase. */
export async function finishRefund(
  ports: PaymentPorts,
  { tx, append }: { tx: Tx; append: AppendEvent },
  before: { payment: PaymentRow; purchase: PurchaseRow },
  ref: string,
): Promise<void> {
  const payment = await repository.updatePayment(tx, before.payment.id, {
    status: 'SUCCEEDED',
    provider_ref: ref,
    next_poll_at: null,
    settled_at: ports.clock.now(),
  });
  const amountCents = -payment.amount_cents;
  const { purchase, feeCents } = await applyRefund(tx, before.purchase, amountCents);
  const sequence = await nextSequence(tx, 'purchase', purchase.id);
  await append(paymentRefunded, purchase.workspace_id, toPaymentEventData(purchase, payment.id, sequence));
  await postToLedger(ports, tx, { kind: 'REFUND', purchase, payment, amountCents, feeCents });
  if (payment.request.isBorne === true) await reverseDebit(ports, tx, payment, amountCents - feeCents);
}

/** Reverses the creator's debit of a refund or dispute that the platform bore. */
export async function reverseDebit(
  { clock, ledger }: PaymentPorts,
  tx: Tx,
  borne: PaymentRow,
  amountCents: number,
): Promise<void> {
  const { workspace_id: workspaceId, provider } = borne;
  if (amountCents === 0 || provider === 'NONE') return;
  const now = clock.now();
  const id = newId('pay', clock);
  await repository.insertPayment(tx, {
    id,
    workspace_id: workspaceId,
    type: 'ADJUSTMENT',
    status: 'SUCCEEDED',
    amount_cents: amountCents,
    provider,
    provider_key: `adjustment:${borne.id}`,
    reason: 'Paid by the platform.',
    settled_at: now,
    created_at: now,
  });
  await ledger.record(tx, { kind: 'ADJUSTMENT', workspaceId, provider, source: id, amountCents, at: now });
}

/** Postpones a refund that has failed or is slow. */
async function putOff(
  { clock }: PaymentPorts,
  tx: Tx,
  row: PaymentRow,
  answer: Exclude<RefundResult, { status: 'SUCCEEDED' }>,
): Promise<SettledPayment> {
  const change =
    answer.status === 'FAILED'
      ? {
          status: 'FAILED' as const,
          next_poll_at: null,
          settled_at: clock.now(),
          failure_code: answer.code,
          failure_message: answer.message,
        }
      : { next_poll_at: dateFromMs(nextPollMs(row, clock.ms())) };
  const ref = answer.ref ?? row.provider_ref;
  return settledOf(await repository.updatePayment(tx, row.id, { ...change, provider_ref: ref }));
}

/**
 * Takes an amount off a locked purchase and returns the proportional part of the fee.
 *
 * @returns the purchase and the returned fee.
 */
export async function applyRefund(
  tx: Tx,
  before: PurchaseRow,
  amountCents: number,
): Promise<{ purchase: PurchaseRow; feeCents: number }> {
  const refundedCents = before.refunded_cents + amountCents;
  const feeRefundedCents = feeReturned(before, refundedCents);
  const isDisputed = before.status === 'DISPUTED';
  const status = statusAfter(before, refundedCents);
  const purchase = await repository.updatePurchase(tx, before.id, {
    refunded_cents: refundedCents,
    fee_refunded_cents: feeRefundedCents,
    // While the bank decides, the status after a pending refund is stored for the end of the dispute.
    ...(isDisputed && status !== 'REFUNDED' ? { status_before_dispute: status } : { status }),
  });
  return { purchase, feeCents: feeRefundedCents - before.fee_refunded_cents };
}
