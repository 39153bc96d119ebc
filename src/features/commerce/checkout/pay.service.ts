import { parseEmail } from '../../../kernel/email.ts';
import { AppError, badRequest, notFound } from '../../../kernel/errors.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { PaymentMethod } from '../../../platform/db/json-columns.ts';
import { lockWorkspaceKeyShare } from '../../../platform/db/workspace.ts';
import type { CountMail } from '../../integration/mail/index.ts';
import type { CustomerRow } from '../payments/index.ts';
import { complete, expireCheckout, lockCheckout, releaseAllReservations, reserve } from './outcomes.ts';
import type { CheckoutPorts, TransactionContext } from './ports.ts';
import * as repository from './repository.ts';
import { assertChargeable, type CheckoutRow, listPriceOf, priceOf, statusOf } from './rules.ts';
import { sellerOf } from './sellers.ts';

/** Input of the buyer. */
export interface Payment {
  email: string;
  /** Sandbox: the number of a test card. */
  card: string | null;
}

/** Result of a payment. */
export type PaymentResult =
  | { kind: 'COMPLETED' }
  | { kind: 'DECLINED'; message: string }
  /** The buyer is redirected there, and returns. */
  | { kind: 'ACTION'; url: string }
  /** Not known yet. */
  | { kind: 'PENDING' };

/** Buyer operations on the page of a checkout. */
export interface CheckoutPayments {
  /**
   * Returns the checkout of a page, identified only by its URL.
   *
   * @throws {AppError} NOT_FOUND, also where the creator is suspended.
   */
  open(id: string): Promise<CheckoutRow>;
  /**
   * Reserves the spot and the use of the code, and charges the buyer. While a payment is pending, pressing
   * the button again returns that payment.
   *
   * @throws {AppError} BAD_REQUEST, field `email` or `card`; CONFLICT, field `discountCode` when the code is
   *   no longer valid, when the spot is taken, when the checkout has ended, and when its item is no longer
   *   sold, which ends it; SERVICE_UNAVAILABLE when the provider does not answer: the call may be repeated.
   * @param countMail called before the email of a free checkout is sent to an unverified address; its error
   *   is rethrown.
   */
  pay(id: string, payment: Payment, countMail?: CountMail): Promise<PaymentResult>;
  /**
   * Applies another code, or none (an empty text).
   *
   * @throws {AppError} as `pay`.
   */
  setCode(id: string, code: string): Promise<CheckoutRow>;
  /**
   * Refreshes the payment when the buyer returns from the provider, or reloads.
   *
   * @throws {AppError} SERVICE_UNAVAILABLE.
   */
  look(id: string): Promise<PaymentResult | null>;
  /** Cancels the checkout for the buyer. A payment that has succeeded or is pending is not affected. */
  cancel(id: string): Promise<CheckoutRow>;
  /**
   * Ends the checkout now, as its expiry would.
   *
   * @throws {AppError} CONFLICT when it has ended.
   */
  expire(id: string): Promise<CheckoutRow>;
  /**
   * Releases the reservations of buyers who did not return, and ends expired checkouts. Called by the worker.
   */
  sweep(): Promise<void>;
}

const BATCH = 100;

export function createCheckoutPayments(ports: CheckoutPorts): CheckoutPayments {
  const { db } = ports;
  const open = async (id: string) => {
    const row = await repository.findPublicCheckout(db, id);
    if (row === undefined) throw notFound();
    await assertSells(ports, db, row.workspace_id);
    return row;
  };
  return {
    open,
    async pay(id, payment, countMail) {
      const row = await open(id);
      const given = { ...payment, isSandbox: (await providerOf(ports, row)) === 'SANDBOX' };
      const { url, method } = await collectCard(ports, row, given);
      const asked = { ...given, method, countMail };
      const begun = await ports.events.transaction((tx, append) => begin(ports, { tx, append }, id, asked));
      if (begun === 'UNSOLD') throw ended();
      if (begun !== null) return settle(ports, begun.paymentId);
      return url === null ? { kind: 'COMPLETED' } : { kind: 'ACTION', url };
    },
    setCode: async (id, code) => setCode(ports, await open(id), code),
    async look(id) {
      const row = await open(id);
      if (row.status === 'COMPLETED') return { kind: 'COMPLETED' };
      return row.payment_id === null ? null : settle(ports, row.payment_id);
    },
    async cancel(id) {
      await open(id);
      return ports.events.transaction(async (tx, append) => {
        const row = await lock(ports, { tx, append }, id);
        const isFree = row.status === 'OPEN' && row.payment_id === null;
        return isFree ? expireCheckout(ports, { tx, append }, row, 'CANCELED') : row;
      });
    },
    expire: (id) => expire(ports, id),
    sweep: () => sweep(ports),
  };
}

async function assertSells(ports: CheckoutPorts, db: Db, workspaceId: string): Promise<void> {
  if ((await sellerOf(ports, db, workspaceId)).isSuspended) throw notFound();
}

interface CardGiven {
  /** URL to which the card holder is redirected once the checkout is completed. */
  url: string | null;
  method: PaymentMethod | null;
}

const NO_CARD: CardGiven = { url: null, method: null };

/** Input of the buyer with the data looked up for it. */
type BuyerInput = Payment & {
  isSandbox: boolean;
  method: PaymentMethod | null;
  countMail: CountMail | undefined;
};

/**
 * Collects the optional card of a buyer whose first period is free, for the later ones. It is charged for
 * this subscription only, since a typed email address proves nothing.
 *
 * @throws {AppError} BAD_REQUEST, field `card`; SERVICE_UNAVAILABLE.
 */
async function collectCard(
  ports: CheckoutPorts,
  row: CheckoutRow,
  { email: typed, card, isSandbox }: Payment & { isSandbox: boolean },
): Promise<CardGiven> {
  const email = parseEmail(typed);
  const isOpen = statusOf(row, ports.clock.now()) === 'OPEN' && row.payment_id === null;
  const renews = row.kind === 'SUBSCRIPTION' && listPriceOf(row) > 0;
  if (email === null || !isOpen || !renews || (isSandbox && (card ?? '').trim() === '')) return NO_CARD;
  const customer = await ports.events.transaction((tx) =>
    ports.payments.customerFor(tx, row.workspace_id, { email, name: null }),
  );
  const trialDays = await ports.subscriptions.trialDaysFor(ports.db, customer.id, row.trial_days);
  if (row.amount_cents > 0 && trialDays === 0) return NO_CARD;
  const number = ports.testCardOf(card);
  if (isSandbox && number === null) throw badRequest('card', 'Enter a test card number.');
  try {
    const returnUrl = `${ports.publicUrl}/checkout/${row.id}/return`;
    const given = await ports.cards.collect(customer.id, { card: number, checkoutId: row.id, returnUrl });
    return { ...NO_CARD, ...given };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'CONFLICT') throw error;
    throw badRequest('card', error.message);
  }
}

/** Returns the name of the provider that would take the payment; null for a free item. */
async function providerOf({ payments }: CheckoutPorts, row: CheckoutRow) {
  return listPriceOf(row) === 0 ? null : (await payments.providerOf(row.workspace_id)).name;
}

async function lock(ports: CheckoutPorts, work: TransactionContext, id: string): Promise<CheckoutRow> {
  const row = await lockCheckout(ports, work, id);
  if (row === undefined) throw notFound();
  return row;
}

function assertOpen(row: CheckoutRow, now: Date): void {
  const status = statusOf(row, now);
  if (status === 'OPEN') return;
  if (status !== 'COMPLETED') throw ended();
  throw new AppError('CONFLICT', { message: 'This has already been paid.' });
}

function ended(): AppError {
  const message = 'This checkout has ended and nothing was charged. Start again from the page you came from.';
  return new AppError('CONFLICT', { message });
}

/** Charge to settle with the provider; null when nothing is due and the checkout is completed. */
type BegunPayment = { paymentId: string } | null;

/** Begins a payment. Ends the checkout when its item is no longer sold. */
async function begin(
  ports: CheckoutPorts,
  work: TransactionContext,
  id: string,
  payment: BuyerInput,
): Promise<BegunPayment | 'UNSOLD'> {
  const row = await lock(ports, work, id);
  if (row.payment_id !== null) return { paymentId: row.payment_id };
  if (row.status === 'COMPLETED') return null;
  assertOpen(row, ports.clock.now());
  if (await repository.isForSaleUnderLock(work.tx, row)) return payCheckout(ports, work, row, payment);
  await expireCheckout(ports, work, row, 'EXPIRED');
  return 'UNSOLD';
}

/** Begins the payment of an open checkout that the caller has locked. */
export async function payCheckout(
  ports: CheckoutPorts,
  work: TransactionContext,
  row: CheckoutRow,
  payment: BuyerInput,
): Promise<BegunPayment> {
  const email = row.kind === 'BOOKING' ? row.customer_email : parseEmail(payment.email);
  if (email === null) throw badRequest('email', 'Enter a valid email address, such as name@example.com.');
  await lockWorkspaceKeyShare(work.tx, row.workspace_id);
  await assertSells(ports, work.tx, row.workspace_id);
  const { until, name } = await claimOrRefuse(ports, work, row);
  const customer = await ports.payments.customerFor(work.tx, row.workspace_id, { email, name });
  const trialDays =
    row.kind === 'SUBSCRIPTION'
      ? await ports.subscriptions.trialDaysFor(work.tx, customer.id, row.trial_days)
      : 0;
  // The limit on emails applies only to checkouts without a charge.
  if (row.amount_cents === 0 || trialDays > 0) await payment.countMail?.(email);
  const isHeld = row.kind === 'BOOKING' && until > row.expires_at;
  const claimed = await repository.updateCheckout(work.tx, row.id, {
    reserved_until: until,
    ...(isHeld ? { expires_at: until } : {}),
    customer_id: customer.id,
    customer_email: customer.email,
    attempt_count: row.attempt_count + 1,
  });
  const isFree = row.kind === 'SUBSCRIPTION' && (trialDays > 0 || listPriceOf(row) === 0);
  if (!isFree) return charge(ports, work, claimed, customer, payment);
  const { method } = payment;
  const done = { customer, purchaseId: null, subscriptionId: null, trialDays, method, isMailed: true };
  await complete(ports, work, claimed, done);
  return null;
}

async function claimOrRefuse(ports: CheckoutPorts, work: TransactionContext, row: CheckoutRow) {
  const claimed = await reserve(ports, work, row);
  if ('until' in claimed) return claimed;
  if (claimed.missing === 'place') {
    throw new AppError('CONFLICT', {
      message: 'No spots are available right now. Nothing was charged; a spot may become available again.',
    });
  }
  const message = 'The discount code is no longer valid. Nothing was charged.';
  throw new AppError('CONFLICT', { field: 'discountCode', message });
}

/**
 * Begins the charge (phase one).
 *
 * @returns null when nothing was due, and the checkout was completed.
 */
async function charge(
  ports: CheckoutPorts,
  { tx, append }: TransactionContext,
  row: CheckoutRow,
  customer: CustomerRow,
  { card, isSandbox, method }: BuyerInput,
): Promise<BegunPayment> {
  const number = ports.testCardOf(card);
  if (row.amount_cents > 0 && isSandbox && number === null) {
    throw badRequest('card', 'Enter a test card number. Real cards are not accepted here.');
  }
  const page = `${ports.publicUrl}/checkout/${row.id}`;
  const isSame = await isSamePurchase(ports, { tx, append }, row, customer);
  if (!isSame && row.purchase_id !== null) await ports.payments.abandon(tx, row.purchase_id);
  const begun = await ports.payments.begin(tx, append, {
    workspaceId: row.workspace_id,
    customerId: customer.id,
    kind: row.kind,
    tierId: row.tier_id,
    videoId: row.video_id,
    bookingId: row.booking_id,
    productId: row.product_id,
    checkoutId: row.id,
    purchaseId: isSame ? row.purchase_id : null,
    amountCents: row.amount_cents,
    discountCents: row.discount_cents,
    discountCode: row.discount_code,
    description: row.title,
    key: `${row.id}:${row.attempt_count}`,
    method,
    onSession: {
      card: isSandbox ? number : null,
      returnUrl: `${page}/return`,
      cancelUrl: `${page}/return`,
      saveMethod: row.kind === 'SUBSCRIPTION',
    },
  });
  if (row.amount_cents === 0) return null;
  await repository.updateCheckout(tx, row.id, {
    purchase_id: begun.purchaseId,
    payment_id: begun.paymentId,
  });
  return { paymentId: begun.paymentId };
}

/** Reports whether a try continues the same purchase; another email address or price is another purchase. */
async function isSamePurchase(
  ports: CheckoutPorts,
  { tx }: TransactionContext,
  row: CheckoutRow,
  customer: CustomerRow,
) {
  if (row.purchase_id === null) return false;
  const purchase = await ports.payments.purchaseOf(tx, row.purchase_id);
  return purchase.customer_id === customer.id && purchase.amount_cents === row.amount_cents;
}

/** Settles the charge (phase two). */
async function settle({ payments }: CheckoutPorts, paymentId: string): Promise<PaymentResult> {
  const settled = await payments.settle(paymentId);
  if (settled.status === 'SUCCEEDED') return { kind: 'COMPLETED' };
  if (settled.status === 'FAILED') return { kind: 'DECLINED', message: settled.message };
  return settled.status === 'ACTION' ? { kind: 'ACTION', url: settled.url } : { kind: 'PENDING' };
}

async function setCode(ports: CheckoutPorts, known: CheckoutRow, text: string): Promise<CheckoutRow> {
  const priceCents = listPriceOf(known);
  const sold = { priceCents, productId: known.product_id };
  const code = text.trim() === '' ? null : await ports.discountCodes.quote(known.workspace_id, text, sold);
  const discountCents = code?.discountCents ?? 0;
  assertChargeable(priceCents - discountCents);
  return ports.events.transaction(async (tx, append) => {
    // The code is locked before the checkout, in the order of its deletion.
    if (code !== null) await ports.discountCodes.keep(tx, code);
    const row = await lock(ports, { tx, append }, known.id);
    assertOpen(row, ports.clock.now());
    if (row.payment_id !== null)
      throw new AppError('CONFLICT', { message: 'A payment is already in progress.' });
    const after = await repository.updateCheckout(tx, row.id, {
      amount_cents: priceCents - discountCents,
      discount_cents: discountCents,
      discount_code_id: code?.id ?? null,
      discount_code: code?.code ?? null,
    });
    if (row.booking_id !== null) await ports.bookings.reprice({ tx, append }, row.booking_id, priceOf(after));
    return after;
  });
}

async function expire(ports: CheckoutPorts, id: string): Promise<CheckoutRow> {
  return ports.events.transaction(async (tx, append) => {
    const row = await lock(ports, { tx, append }, id);
    assertOpen(row, ports.clock.now());
    if (row.payment_id !== null)
      throw new AppError('CONFLICT', { message: 'A payment is already in progress.' });
    return expireCheckout(ports, { tx, append }, row, 'EXPIRED');
  });
}

async function sweep(ports: CheckoutPorts): Promise<void> {
  const now = ports.clock.now();
  for (const row of await repository.listOverdue(ports.db, now, BATCH)) await freeClaim(ports, row);
  for (const row of await repository.listUnsold(ports.db, BATCH)) await endUnsold(ports, row);
  for (const { id } of await repository.listExpired(ports.db, now, BATCH)) {
    await ports.events.transaction(async (tx, append) => {
      const row = await lockCheckout(ports, { tx }, id);
      if (row?.status !== 'OPEN' || row.reserved_until !== null) return;
      await expireCheckout(ports, { tx, append }, row, 'EXPIRED');
    });
  }
}

/**
 * Ends a checkout whose item is no longer sold: a pending charge is canceled, and a payment that succeeds
 * nevertheless is refunded.
 */
async function endUnsold(ports: CheckoutPorts, unsold: CheckoutRow): Promise<void> {
  await callOff(ports, unsold);
  await ports.events.transaction(async (tx, append) => {
    const row = await lockCheckout(ports, { tx }, unsold.id);
    if (row?.status !== 'OPEN' || (await repository.isForSale(tx, row.id))) return;
    await expireCheckout(ports, { tx, append }, row, 'EXPIRED');
  });
}

async function callOff(ports: CheckoutPorts, { id, payment_id: paymentId }: CheckoutRow): Promise<void> {
  try {
    if (paymentId !== null) await ports.payments.cancel(paymentId);
  } catch (error) {
    ports.log.warn({ err: error, checkoutId: id }, 'a charge could not be canceled');
  }
}

/**
 * Releases an overdue reservation: the charge is canceled, and a payment that succeeds nevertheless is
 * handled by its event.
 */
async function freeClaim(ports: CheckoutPorts, overdue: CheckoutRow): Promise<void> {
  const { id } = overdue;
  await callOff(ports, overdue);
  await ports.events.transaction(async (tx, append) => {
    const row = await lockCheckout(ports, { tx }, id);
    if (row === undefined || row.status !== 'OPEN' || row.reserved_until === null) return;
    if (row.reserved_until > ports.clock.now()) return;
    await releaseAllReservations(ports, { tx, append }, row);
  });
}
