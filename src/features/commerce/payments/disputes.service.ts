import { type AppendEvent, nextSequence } from '../../../events/index.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Tx } from '../../../platform/db/index.ts';
import { paymentDisputeClosed, paymentDisputed } from './events.ts';
import { postToLedger, toPaymentEventData } from './outcome.ts';
import type { PaymentPorts } from './ports.ts';
import { providerOf } from './provider-selection.ts';
import type { FetchedDispute } from './providers/provider.ts';
import { applyRefund, reverseDebit } from './refunds.service.ts';
import type { PaymentRow, PurchaseRow } from './repository.ts';
import * as repository from './repository.ts';
import { callProvider, type SettledPayment, settledOf } from './settle.service.ts';

/** Poll interval of an open dispute, for the case that the event of its end is lost. */
const LOOK_MS = DAY_MS;

export interface DisputeService {
  /** Updates the rows to the provider's state of a dispute. Idempotent. */
  follow(charge: PaymentRow, ref: string, dispute: FetchedDispute): Promise<void>;
  settle(payment: PaymentRow): Promise<SettledPayment>;
}

export function createDisputeService(ports: PaymentPorts): DisputeService {
  const follow: DisputeService['follow'] = async (charge, ref, dispute) => {
    const purchaseId = charge.purchase_id ?? '';
    const isBorne = dispute.status === 'LOST' && !(await recover(ports, charge, ref, dispute));
    await ports.events.transaction(async (tx, append) => {
      await repository.lockAround(tx, purchaseId);
      const purchase = await repository.lockPurchase(tx, purchaseId);
      if (purchase === undefined) return;
      const change = { tx, append, charge, ref, dispute, isBorne };
      const opened = await open(ports, change, purchase);
      if (opened !== null && dispute.status !== 'OPEN') await close(ports, change, opened, dispute.status);
    });
  };
  return {
    follow,
    async settle(payment) {
      const ref = payment.provider_ref;
      if (payment.status !== 'PENDING' || ref === null) return settledOf(payment);
      const nextLookAt = dateFromMs(ports.clock.ms() + LOOK_MS);
      await repository.updatePayment(ports.db, payment.id, { next_poll_at: nextLookAt });
      const accountRef = payment.request.accountRef ?? null;
      await callProvider(ports, payment, async () => {
        const dispute = await providerOf(ports, payment).fetchDispute({ ref, accountRef });
        const charge = await repository.findPaidCharge(ports.db, payment.purchase_id ?? '');
        if (dispute !== null && charge !== undefined) await follow(charge, ref, dispute);
      });
      return { status: 'PENDING' };
    },
  };
}

const keyOf = ({ provider }: PaymentRow, ref: string) => `dispute:${provider}:${ref}`;

/**
 * Recovers a lost dispute that was debited from the platform. Once.
 *
 * @returns false where the creator's account does not cover it.
 */
async function recover(
  ports: PaymentPorts,
  charge: PaymentRow,
  ref: string,
  { amountCents }: FetchedDispute,
): Promise<boolean> {
  const { db } = ports;
  const known = await repository.findByKey(db, keyOf(charge, ref));
  const purchase = await repository.findPurchase(db, charge.purchase_id ?? '');
  const isOver = known !== undefined && known.status !== 'PENDING';
  if (isOver || purchase === undefined || charge.provider_ref === null) return true;
  const cents = Math.min(amountCents, purchase.amount_cents - purchase.refunded_cents);
  if (cents < 1) return true;
  return providerOf(ports, charge).recover({
    key: `recover:${ref}`,
    ref: charge.provider_ref,
    amountCents: cents,
    accountRef: charge.request.accountRef ?? null,
  });
}

interface Change {
  tx: Tx;
  append: AppendEvent;
  charge: PaymentRow;
  ref: string;
  dispute: FetchedDispute;
  /** Whether the dispute is lost and the platform bears it. */
  isBorne: boolean;
}

interface Opened {
  payment: PaymentRow;
  purchase: PurchaseRow;
}

/**
 * Returns the row of the dispute, inserted where it is new; null where there is nothing to dispute, or it has
 * ended.
 */
async function open(
  ports: PaymentPorts,
  { tx, append, charge, ref, dispute }: Change,
  before: PurchaseRow,
): Promise<Opened | null> {
  const key = keyOf(charge, ref);
  const known = await repository.findByKey(tx, key);
  if (known !== undefined) return known.status === 'PENDING' ? { payment: known, purchase: before } : null;
  const { status, amount_cents: amount, refunded_cents: refunded } = before;
  const amountCents = Math.min(dispute.amountCents, amount - refunded);
  if ((status !== 'PAID' && status !== 'PARTIALLY_REFUNDED') || amountCents < 1) return null;
  const now = ports.clock.now();
  const payment = await repository.insertPayment(tx, {
    id: newId('pay', ports.clock),
    workspace_id: before.workspace_id,
    purchase_id: before.id,
    type: 'DISPUTE',
    status: 'PENDING',
    amount_cents: -amountCents,
    provider: charge.provider,
    provider_ref: ref,
    provider_key: key,
    request: { accountRef: charge.request.accountRef ?? null },
    reason: dispute.reason,
    next_poll_at: dateFromMs(now.getTime() + LOOK_MS),
    created_at: now,
  });
  if (payment === undefined) return null;
  const disputed = { status: 'DISPUTED', status_before_dispute: status } as const;
  const purchase = await repository.updatePurchase(tx, before.id, disputed);
  const sequence = await nextSequence(tx, 'purchase', purchase.id);
  await append(paymentDisputed, purchase.workspace_id, toPaymentEventData(purchase, payment.id, sequence));
  await postToLedger(ports, tx, { kind: 'DISPUTE_OPENED', purchase, payment, amountCents, feeCents: 0 });
  return { payment, purchase };
}

async function close(
  ports: PaymentPorts,
  { tx, append, isBorne }: Change,
  { payment: row, purchase: before }: Opened,
  outcome: 'WON' | 'LOST',
): Promise<void> {
  const payment = await repository.updatePayment(tx, row.id, {
    status: outcome === 'LOST' ? 'SUCCEEDED' : 'CANCELED',
    outcome,
    next_poll_at: null,
    settled_at: ports.clock.now(),
  });
  const disputed = -payment.amount_cents;
  const restored = await repository.updatePurchase(tx, before.id, {
    status: before.status === 'DISPUTED' ? (before.status_before_dispute ?? 'PAID') : before.status,
    status_before_dispute: null,
  });
  // A pending refund may have returned part of it in the interim.
  const lost = Math.min(disputed, restored.amount_cents - restored.refunded_cents);
  const { purchase, feeCents } =
    outcome === 'LOST' ? await applyRefund(tx, restored, lost) : { purchase: restored, feeCents: 0 };
  const sequence = await nextSequence(tx, 'purchase', purchase.id);
  const data = toPaymentEventData(purchase, payment.id, sequence, { outcome });
  await append(paymentDisputeClosed, purchase.workspace_id, data);
  await postToLedger(ports, tx, {
    kind: `DISPUTE_${outcome}`,
    purchase,
    payment,
    amountCents: disputed,
    feeCents,
  });
  if (isBorne) await reverseDebit(ports, tx, payment, lost - feeCents);
}
