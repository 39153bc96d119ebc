import { AppError } from '../../../kernel/errors.ts';
import type { PaymentEventData } from '../payments/index.ts';
import { apply, emailContext, mailMember, releaseClaim } from './changes.ts';
import * as mails from './emails.ts';
import type { SubscriptionPorts, TransactionContext } from './ports.ts';
import * as repository from './repository.ts';
import type { SubscriptionRow } from './rules.ts';
import * as rules from './rules.ts';
import * as switches from './switch.rules.ts';

/** Effects of payment events on subscriptions, in the transaction of the event. */
export interface PaymentOutcomes {
  succeeded(work: TransactionContext, told: PaymentEventData): Promise<void>;
  failed(work: TransactionContext, told: PaymentEventData): Promise<void>;
  refunded(work: TransactionContext, told: PaymentEventData): Promise<void>;
  disputed(work: TransactionContext, told: PaymentEventData): Promise<void>;
  disputeClosed(work: TransactionContext, told: PaymentEventData): Promise<void>;
}

export function createPaymentOutcomes(ports: SubscriptionPorts): PaymentOutcomes {
  return {
    async succeeded(work, told) {
      const row = await subscriptionOf(work.tx, told);
      // First charge: the checkout creates the subscription.
      if (row === undefined) return;
      if (row.payment_id === told.paymentId) await charged(ports, work, row, told);
      else if (row.purchase_id !== told.purchaseId) await refundPayment(ports, work, row, told);
    },
    async failed(work, told) {
      const row = await subscriptionOf(work.tx, told);
      if (row === undefined || row.payment_id !== told.paymentId) return;
      await releaseClaim(ports, work.tx, row);
      if (row.charge_kind === 'SWITCH') {
        await repository.updateSubscription(work.tx, row.id, rules.NO_CHARGE);
        await ports.payments.abandon(work.tx, told.purchaseId);
      } else if (row.charge_kind === 'CONFIRMATION') {
        await repository.updateSubscription(
          work.tx,
          row.id,
          rules.onPaymentUnconfirmed(row, ports.clock.now()),
        );
      } else await declined(ports, work, row, told);
    },
    async refunded(work, told) {
      const row = await subscriptionOf(work.tx, told);
      if (row === undefined || told.status !== 'REFUNDED') return;
      if (await downgrade(ports, work, row, told)) return;
      if (row.purchase_id !== told.purchaseId) return;
      const change = rules.ended(row, 'ENDED', 'REFUNDED', ports.clock.now());
      if (change !== null) await apply(ports, work, row, change);
    },
    disputed: (work, told) => dispute(work, told, true),
    async disputeClosed(work, told) {
      const row = await subscriptionOf(work.tx, told);
      if (row === undefined || !paysFor(row, told.purchaseId)) return;
      await dispute(work, told, false);
      if (told.outcome === 'WON') return;
      const now = await subscriptionOf(work.tx, told);
      if (now === undefined || (await downgrade(ports, work, now, told))) return;
      const change = rules.ended(now, 'ENDED', 'DISPUTE_LOST', ports.clock.now());
      if (change !== null) await apply(ports, work, now, change);
    },
  };
}

/** @returns whether the purchase paid for an upgrade of the current period, which is reversed. */
async function downgrade(
  ports: SubscriptionPorts,
  work: TransactionContext,
  row: SubscriptionRow,
  { purchaseId }: PaymentEventData,
): Promise<boolean> {
  const reversed = switches.downgraded(row, purchaseId);
  if (reversed === null) return false;
  if (row.charge_kind === 'SWITCH') await releaseClaim(ports, work.tx, row);
  await apply(ports, work, row, reversed.change);
  for (const dropped of reversed.dropped) {
    await refund(ports, work, row, dropped, 'An upgrade before this one was refunded.');
  }
  return true;
}

async function subscriptionOf(tx: TransactionContext['tx'], { kind, resourceId }: PaymentEventData) {
  return kind === 'SUBSCRIPTION' && resourceId !== null ? repository.lockAny(tx, resourceId) : undefined;
}

/** Reports whether this purchase pays for the current period. */
function paysFor(row: SubscriptionRow, purchaseId: string): boolean {
  return row.purchase_id === purchaseId || row.upgrades.some((upgrade) => upgrade.purchaseId === purchaseId);
}

/** Handles the success of the pending charge. */
async function charged(
  ports: SubscriptionPorts,
  work: TransactionContext,
  row: SubscriptionRow,
  { paymentId, purchaseId }: PaymentEventData,
): Promise<void> {
  const { tx } = work;
  const terms = rules.chargedTerms(row, await ports.payments.purchaseOf(tx, purchaseId));
  if (terms === null) return;
  const { payment_method: given } = await ports.payments.paymentOf(tx, paymentId);
  const change = paidChange(row, terms, purchaseId, ports.clock.now());
  if (change === null) return;
  // Paying on the member page gives a card or confirms the known one.
  const isChosen = row.charge_kind === 'CONFIRMATION' || row.payment_method === null;
  const patch = { ...change.patch, ...(isChosen && given !== null ? { payment_method: given } : {}) };
  await apply(ports, work, row, { ...change, patch }, true);
}

function paidChange(row: SubscriptionRow, terms: rules.Terms, purchaseId: string, now: Date) {
  if (row.charge_kind !== 'SWITCH')
    return rules.completeRenewal(row, rules.chargedPeriod(row), terms, purchaseId);
  return row.status === 'TRIALING'
    ? switches.switchedInTrial(row, terms, purchaseId, now)
    : switches.switched(row, terms, purchaseId);
}

async function declined(
  ports: SubscriptionPorts,
  work: TransactionContext,
  row: SubscriptionRow,
  { purchaseId, failureCode }: PaymentEventData,
): Promise<void> {
  const change = rules.onPaymentDeclined(row, ports.clock.now());
  if (change === null) return;
  // Its spot has been released already.
  const after = await apply(ports, work, { ...row, charge_tier_id: null }, change);
  if (change.told === 'expired') await ports.payments.abandon(work.tx, purchaseId);
  const isTold = change.told === 'payment_failed' || change.told === 'expired';
  if (!isTold) return;
  const facts = await emailContext(ports, work.tx, after);
  const tried = rules.chargedTerms(row, await ports.payments.purchaseOf(work.tx, purchaseId));
  const { priceCents } = tried ?? rules.nextTerms(row);
  const failure = { priceCents, failureCode, next: after.next_charge_at };
  await mailMember(ports, work.tx, mails.paymentFailedEmail(facts, failure));
}

/** Refunds a payment in full when its subscription has ended, or does not wait for it. */
async function refundPayment(
  ports: SubscriptionPorts,
  work: TransactionContext,
  row: SubscriptionRow,
  { purchaseId }: PaymentEventData,
): Promise<void> {
  const reason =
    row.ended_at === null
      ? 'The subscription had changed when the payment arrived.'
      : 'The subscription had ended when the payment arrived.';
  await refund(ports, work, row, purchaseId, reason);
}

async function refund(
  { payments }: SubscriptionPorts,
  { tx }: TransactionContext,
  { workspace_id: workspaceId }: SubscriptionRow,
  purchaseId: string,
  reason: string,
): Promise<void> {
  const { status, amount_cents: amount } = await payments.purchaseOf(tx, purchaseId);
  // The bank decides about the money of a disputed purchase.
  if (amount === 0 || (status !== 'PAID' && status !== 'PARTIALLY_REFUNDED')) return;
  const requestId = { own: 'late' } as const;
  const all = { workspaceId, purchaseId, amountCents: null, reason, requestId };
  await payments.refund(tx, all).catch((error: unknown) => {
    // The rest is being refunded already.
    if (!(error instanceof AppError && error.code === 'CONFLICT')) throw error;
  });
}

async function dispute(
  { tx }: TransactionContext,
  told: PaymentEventData,
  isDisputed: boolean,
): Promise<void> {
  const row = await subscriptionOf(tx, told);
  if (row === undefined || row.ended_at !== null || !paysFor(row, told.purchaseId)) return;
  await repository.updateSubscription(tx, row.id, { is_disputed: isDisputed });
}
