import { type AppendEvent, nextSequence } from '../../../events/index.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { MINUTE_MS } from '../../../kernel/durations.ts';
import { AppError, badRequest, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Tx } from '../../../platform/db/index.ts';
import type { PaymentMethod } from '../../../platform/db/json-columns.ts';
import { paymentSucceeded } from './events.ts';
import { postToLedger, toPaymentEventData } from './outcome.ts';
import type { PaymentPorts } from './ports.ts';
import { type SelectedProvider, selectProvider } from './provider-selection.ts';
import { testCardOf } from './providers/sandbox/cards.ts';
import type { CustomerRow, PaymentRow, PurchaseRow } from './repository.ts';
import * as repository from './repository.ts';
import { feeOf, PAY_WINDOW_MS } from './rules.ts';

/** Charge to begin. */
export interface NewCharge {
  workspaceId: string;
  customerId: string;
  kind: PurchaseRow['kind'];
  videoId?: string | null;
  bookingId?: string | null;
  /** Subscription of a renewal; the first charge has none yet, and is assigned one when it is paid. */
  subscriptionId?: string | null;
  tierId?: string | null;
  productId?: string | null;
  checkoutId?: string | null;
  /** Purchase to pay with another try. */
  purchaseId?: string | null;
  /** 0, or at least 50. */
  amountCents: number;
  discountCents: number;
  discountCode: string | null;
  /** Text on the buyer's card statement and in the provider's emails. */
  description: string;
  /** Permanent key of this charge at the provider: the same key is the same charge. */
  key: string;
  /**
   * Card to charge where the buyer is absent, or is present and enters no other; for an amount of 0, the card
   * to store for later charges.
   */
  method: PaymentMethod | null;
  /** Null where the buyer is absent: `method` is charged. */
  onSession: {
    /** Sandbox: the number of a test card. */
    card: string | null;
    returnUrl: string;
    cancelUrl: string;
    /** Whether the card is charged again later. */
    saveMethod: boolean;
  } | null;
}

export interface PendingCharge {
  purchaseId: string;
  paymentId: string;
}

/** Creation of charges, in the transaction that reserves the items they pay for. */
export interface ChargeService {
  /**
   * Begins a charge (phase one) without calling the provider, which `settle` does. A pending charge of the
   * purchase is returned instead. An amount of 0 is paid immediately.
   *
   * @throws {AppError} CONFLICT when the purchase is paid already, or the workspace cannot take payments;
   *   BAD_REQUEST, field `card`, unless it is a test card in the sandbox; NOT_FOUND.
   */
  begin(tx: Tx, append: AppendEvent, charge: NewCharge): Promise<PendingCharge>;
  /**
   * Returns the customer with this email address, which is lower-cased, inserting one where there is none.
   */
  customerFor(tx: Tx, workspaceId: string, who: { email: string; name: string | null }): Promise<CustomerRow>;
}

export function createChargeService(ports: PaymentPorts): ChargeService {
  const { clock } = ports;
  return {
    customerFor: (tx, workspaceId, { email, name }) =>
      repository.upsertCustomer(tx, {
        id: newId('cus'),
        workspace_id: workspaceId,
        email: email.trim().toLowerCase(),
        name,
        created_at: clock.now(),
      }),
    begin: (tx, append, charge) => begin(ports, tx, append, charge),
  };
}

async function begin(
  ports: PaymentPorts,
  tx: Tx,
  append: AppendEvent,
  charge: NewCharge,
): Promise<PendingCharge> {
  const known = await repository.findByKey(tx, charge.key);
  if (known?.purchase_id) return { purchaseId: known.purchase_id, paymentId: known.id };
  const chosen = charge.amountCents === 0 ? null : await selectProvider(ports, tx, charge.workspaceId);
  const purchase = await purchaseFor(ports, tx, charge);
  const [underWay] = await repository.listOpen(tx, purchase.id, 'CHARGE');
  if (underWay !== undefined) return { purchaseId: purchase.id, paymentId: underWay.id };
  const payment = await insertCharge(ports.clock, tx, { charge, purchase, chosen });
  await repository.updatePurchase(tx, purchase.id, { payment_id: payment.id });
  if (chosen === null) await payNothing(ports, tx, append, { purchase, payment });
  return { purchaseId: purchase.id, paymentId: payment.id };
}

/** Returns the purchase to be paid, locked. */
async function purchaseFor(ports: PaymentPorts, tx: Tx, charge: NewCharge): Promise<PurchaseRow> {
  if (charge.purchaseId) {
    const row = await repository.lockPurchase(tx, charge.purchaseId);
    if (row?.workspace_id !== charge.workspaceId) throw notFound();
    if (row.status !== 'PENDING' && row.status !== 'FAILED') {
      throw new AppError('CONFLICT', { message: 'This has already been paid.' });
    }
    return row;
  }
  return repository.insertPurchase(tx, {
    id: newId('pur', ports.clock),
    workspace_id: charge.workspaceId,
    customer_id: charge.customerId,
    kind: charge.kind,
    video_id: charge.videoId ?? null,
    booking_id: charge.bookingId ?? null,
    subscription_id: charge.subscriptionId ?? null,
    tier_id: charge.tierId ?? null,
    product_id: charge.productId ?? null,
    checkout_id: charge.checkoutId ?? null,
    amount_cents: charge.amountCents,
    discount_cents: charge.discountCents,
    discount_code: charge.discountCode,
    fee_cents: feeOf(charge.amountCents, ports.config.PLATFORM_FEE_PERCENT),
    created_at: ports.clock.now(),
  });
}

async function insertCharge(
  clock: Clock,
  tx: Tx,
  { charge, purchase, chosen }: { charge: NewCharge; purchase: PurchaseRow; chosen: SelectedProvider | null },
): Promise<PaymentRow> {
  const now = clock.now();
  const { onSession, description, key, method } = charge;
  const expiresAt = dateFromMs(now.getTime() + PAY_WINDOW_MS).toISOString();
  const request = {
    description,
    accountRef: chosen?.accountRef ?? null,
    ...(onSession === null ? {} : { ...onSession, card: cardOf(chosen, onSession.card, method), expiresAt }),
  };
  const row = await repository.insertPayment(tx, {
    id: newId('pay', clock),
    workspace_id: charge.workspaceId,
    purchase_id: purchase.id,
    type: 'CHARGE',
    status: 'PENDING',
    amount_cents: purchase.amount_cents,
    provider: chosen?.name ?? 'NONE',
    provider_key: key,
    request,
    payment_method: method,
    next_poll_at: dateFromMs(now.getTime() + MINUTE_MS),
    created_at: now,
  });
  // Another transaction has taken the key in the interim: the caller repeats its whole transaction.
  if (row === undefined) throw new AppError('CONFLICT', { message: 'A payment is already in progress.' });
  return row;
}

/**
 * Returns the number of a test card. Real card numbers are never stored: Stripe's pages ask for them, and the
 * sandbox accepts only test cards.
 */
function cardOf(
  chosen: SelectedProvider | null,
  card: string | null,
  method: PaymentMethod | null,
): string | null {
  if (chosen?.name !== 'SANDBOX' || (card === null && method !== null)) return null;
  const testCard = testCardOf(card);
  if (testCard !== null) return testCard;
  throw badRequest('card', 'Real cards are not accepted here. Use a test card.');
}

/**
 * Returns the ID of the subscription that a purchase pays for. A new subscription is created under this ID
 * after the payment.
 */
export function subscriptionOf({ kind, subscription_id: known }: PurchaseRow, clock: Clock): string | null {
  return kind === 'SUBSCRIPTION' ? (known ?? newId('sub', clock)) : null;
}

/** Completes a charge of 0 without a provider. */
async function payNothing(
  ports: PaymentPorts,
  tx: Tx,
  append: AppendEvent,
  { purchase, payment }: { purchase: PurchaseRow; payment: PaymentRow },
): Promise<void> {
  const now = ports.clock.now();
  await repository.updatePayment(tx, payment.id, {
    status: 'SUCCEEDED',
    settled_at: now,
    next_poll_at: null,
  });
  const paid = await repository.updatePurchase(tx, purchase.id, {
    status: 'PAID',
    paid_at: now,
    subscription_id: subscriptionOf(purchase, ports.clock),
  });
  const sequence = await nextSequence(tx, 'purchase', purchase.id);
  await append(paymentSucceeded, purchase.workspace_id, toPaymentEventData(paid, payment.id, sequence));
  await postToLedger(ports, tx, { kind: 'CHARGE', purchase: paid, payment, amountCents: 0, feeCents: 0 });
}
