import type { PaymentTold } from '../payments/index.ts';
import { about, apply, releaseClaim } from './changes.ts';
import * as mails from './mails.ts';
import type { SubscriptionPorts, Work } from './ports.ts';
import * as repository from './repository.ts';
import type { SubscriptionRow } from './rules.ts';
import * as rules from './rules.ts';

/** What payments mean for subscriptions, in the transaction that tells of them. */
export interface PaymentOutcomes {
  succeeded(work: Work, told: PaymentTold): Promise<void>;
  failed(work: Work, told: PaymentTold): Promise<void>;
  refunded(work: Work, told: PaymentTold): Promise<void>;
  disputed(work: Work, told: PaymentTold): Promise<void>;
  disputeClosed(work: Work, told: PaymentTold): Promise<void>;
}

export function createPaymentOutcomes(ports: SubscriptionPorts): PaymentOutcomes {
  return {
    async succeeded(work, told) {
      const row = await subscriptionOf(work.tx, told);
      // The first charge: whoever asked for it makes the subscription.
      if (row === undefined) return;
      if (row.payment_id === told.paymentId) await charged(ports, work, row, told.purchaseId);
      else if (row.ended_at !== null) await giveBack(ports, work, row, told);
    },
    async failed(work, told) {
      const row = await subscriptionOf(work.tx, told);
      if (row === undefined || row.payment_id !== told.paymentId) return;
      await releaseClaim(ports, work.tx, row);
      if (row.charge_kind === 'SWITCH') {
        await repository.updateSubscription(work.tx, row.id, rules.NO_CHARGE);
        await ports.payments.abandon(work.tx, told.purchaseId);
      } else if (row.charge_kind === 'CONFIRMATION') {
        await repository.updateSubscription(work.tx, row.id, rules.unconfirmed(row, ports.clock.now()));
      } else await declined(ports, work, row, told);
    },
    async refunded(work, told) {
      const row = await subscriptionOf(work.tx, told);
      if (row === undefined || row.purchase_id !== told.purchaseId || told.status !== 'REFUNDED') return;
      const change = rules.ended(row, 'ENDED', 'REFUNDED', ports.clock.now());
      if (change !== null) await apply(ports, work, row, change);
    },
    disputed: (work, told) => dispute(work, told, true),
    async disputeClosed(work, told) {
      const row = await subscriptionOf(work.tx, told);
      if (row === undefined || !paysFor(row, told.purchaseId)) return;
      if (told.outcome === 'WON') return dispute(work, told, false);
      const change = rules.ended(row, 'ENDED', 'DISPUTE_LOST', ports.clock.now());
      if (change !== null) await apply(ports, work, row, change);
    },
  };
}

async function subscriptionOf(tx: Work['tx'], { kind, resourceId }: PaymentTold) {
  return kind === 'SUBSCRIPTION' && resourceId !== null ? repository.lockAny(tx, resourceId) : undefined;
}

/** Does this purchase pay for the present period? */
function paysFor(row: SubscriptionRow, purchaseId: string): boolean {
  return row.purchase_id === purchaseId || row.upgrade_purchase_id === purchaseId;
}

/** The charge under way has succeeded. */
async function charged(
  ports: SubscriptionPorts,
  work: Work,
  row: SubscriptionRow,
  purchaseId: string,
): Promise<void> {
  const terms = rules.chargedTerms(row, await ports.payments.purchaseOf(work.tx, purchaseId));
  if (terms === null) return;
  const change =
    row.charge_kind === 'SWITCH'
      ? rules.switched(row, terms, purchaseId)
      : rules.renewed(row, rules.chargedPeriod(row), terms, purchaseId);
  if (change !== null) await apply(ports, work, row, change, true);
}

async function declined(
  ports: SubscriptionPorts,
  work: Work,
  row: SubscriptionRow,
  { purchaseId, failureCode }: PaymentTold,
): Promise<void> {
  const change = rules.declined(row, ports.clock.now());
  if (change === null) return;
  // Its claim is given back already.
  const after = await apply(ports, work, { ...row, charge_tier_id: null }, change);
  if (change.told === 'expired') await ports.payments.abandon(work.tx, purchaseId);
  const isTold = change.told === 'payment_failed' || change.told === 'expired';
  if (!isTold) return;
  const facts = await about(ports, work.tx, after);
  const tried = rules.chargedTerms(row, await ports.payments.purchaseOf(work.tx, purchaseId));
  const { priceCents } = tried ?? rules.nextTerms(row);
  const failure = { priceCents, failureCode, next: after.next_charge_at };
  await ports.mailbox.enqueue(work.tx, mails.failedCardMail(facts, failure));
}

/** What was paid for a subscription that is over by now goes back whole. */
async function giveBack(
  { payments }: SubscriptionPorts,
  { tx }: Work,
  row: SubscriptionRow,
  told: PaymentTold,
): Promise<void> {
  await payments.refund(tx, {
    workspaceId: row.workspace_id,
    purchaseId: told.purchaseId,
    amountCents: null,
    reason: 'The subscription was over when the payment came.',
    requestId: { own: 'late' },
  });
}

async function dispute({ tx }: Work, told: PaymentTold, isDisputed: boolean): Promise<void> {
  const row = await subscriptionOf(tx, told);
  if (row === undefined || row.ended_at !== null || !paysFor(row, told.purchaseId)) return;
  await repository.updateSubscription(tx, row.id, { is_disputed: isDisputed });
}
