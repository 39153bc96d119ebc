import { type AppendEvent, nextSequence } from '../../../events/index.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { MINUTE_MS } from '../../../kernel/durations.ts';
import { AppError, notFound } from '../../../kernel/errors.ts';
import type { Tx } from '../../../platform/db/index.ts';
import type { PaymentMethod } from '../../../platform/db/json-columns.ts';
import { subscriptionOf } from './charge.service.ts';
import { paymentFailed, paymentSucceeded } from './events.ts';
import { postToLedger, toPaymentEventData } from './outcome.ts';
import type { PaymentPorts } from './ports.ts';
import { providerOf } from './provider-selection.ts';
import {
  type Decline,
  type Payer,
  type PaymentHandle,
  type PaymentProvider,
  type PaymentResult,
  ProviderUnavailableError,
  type SavedMethod,
} from './providers/provider.ts';
import type { CustomerRow, PaymentRow, PurchaseRow } from './repository.ts';
import * as repository from './repository.ts';
import { nextPollMs } from './rules.ts';

/** Current result of a payment. */
export type SettledPayment =
  | { status: 'SUCCEEDED' }
  /** `code` as docs/concepts/payments.md#failure-codes lists them; `message` is for the person who pays. */
  | { status: 'FAILED'; code: string; message: string }
  /** The buyer goes to `url`, and comes back. */
  | { status: 'ACTION'; url: string }
  /** Not known yet: it is checked later, and waiting callers ask again. */
  | { status: 'PENDING' };

export interface ChargeSettler {
  /** Calls the provider and stores its response; final payments are left unchanged. */
  settle(payment: PaymentRow): Promise<SettledPayment>;
  /** Ends a charge that waits for its buyer. */
  cancel(payment: PaymentRow): Promise<SettledPayment>;
}

interface PaymentContext {
  payment: PaymentRow;
  purchase: PurchaseRow;
  customer: CustomerRow;
}

export function createChargeSettler(ports: PaymentPorts): ChargeSettler {
  const concluded = async (payment: PaymentRow, ask: typeof askAbout): Promise<SettledPayment> => {
    if (payment.status !== 'PENDING') return settledOf(payment);
    const whole = await readWhole(ports, payment);
    const answer = await callProvider(ports, payment, () => ask(ports, whole));
    return conclude(ports, whole, answer);
  };
  return {
    settle: (payment) => concluded(payment, askAbout),
    cancel: (payment) => concluded(payment, askToCancel),
  };
}

async function readWhole({ db }: PaymentPorts, payment: PaymentRow): Promise<PaymentContext> {
  const purchase = payment.purchase_id ? await repository.findPurchase(db, payment.purchase_id) : undefined;
  const customer = purchase && (await repository.findCustomer(db, purchase.customer_id));
  if (purchase === undefined || customer === undefined) throw notFound();
  return { payment, purchase, customer };
}

/** Error while another caller is calling the provider about this payment, or did so less than 3 s ago. */
export class ProviderBusyError extends Error {}

/** Lease of a provider call, longer than its timeout: after it, the calling process has died. */
const ASK_LEASE_MS = MINUTE_MS;
/** Minimum time between two provider calls about a payment. */
export const ASK_PAUSE_MS = 3000;

/**
 * Calls the provider about a payment, one caller at a time and at most once in 3 s; the first call about a
 * new payment need not wait. When the outcome is unknown, the payment is checked again later.
 *
 * @throws {ProviderBusyError} while it cannot be called.
 * @throws {AppError} SERVICE_UNAVAILABLE where the provider does not answer.
 */
export async function callProvider<T>(
  ports: PaymentPorts,
  payment: PaymentRow,
  ask: () => Promise<T>,
): Promise<T> {
  const { db, clock } = ports;
  const now = clock.ms();
  const lease = { now: dateFromMs(now), until: dateFromMs(now + ASK_LEASE_MS) };
  if (!(await repository.claimAsk(db, payment.id, lease))) throw new ProviderBusyError();
  try {
    return await askOrPutOff(ports, payment, ask);
  } finally {
    const pausedUntil = payment.provider_requested_at === null ? null : dateFromMs(now + ASK_PAUSE_MS);
    await repository.updatePayment(db, payment.id, { next_ask_at: pausedUntil });
  }
}

async function askOrPutOff<T>(
  { db, clock, log }: PaymentPorts,
  payment: PaymentRow,
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ProviderUnavailableError)) throw error;
    log.warn({ err: error, paymentId: payment.id }, 'a payment provider did not respond');
    const nextLookAt = dateFromMs(nextPollMs(payment, clock.ms()));
    await repository.updatePayment(db, payment.id, { next_poll_at: nextLookAt });
    const message = 'The payment provider is not responding. It is safe to repeat the request.';
    throw new AppError('SERVICE_UNAVAILABLE', { message });
  }
}

/**
 * Calls the provider when nothing is recorded that could be checked later.
 *
 * @throws {AppError} SERVICE_UNAVAILABLE where the provider does not answer.
 */
export async function callProviderOrFail<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ProviderUnavailableError)) throw error;
    throw new AppError('SERVICE_UNAVAILABLE', {
      message: 'The payment provider is not responding. Nothing was created; you can retry the request.',
    });
  }
}

async function askAbout(ports: PaymentPorts, whole: PaymentContext): Promise<PaymentResult> {
  const { payment } = whole;
  const provider = providerOf(ports, payment);
  if (payment.provider_requested_at !== null) {
    if (isOver(ports, payment)) return provider.cancel(handleOf(payment));
    const answer = await provider.look(handleOf(payment));
    if (answer !== null) return answer;
  }
  // The provider may have been called after this point, even if this process dies.
  await repository.updatePayment(ports.db, payment.id, { provider_requested_at: ports.clock.now() });
  return charge(provider, whole);
}

async function askToCancel(ports: PaymentPorts, { payment }: PaymentContext): Promise<PaymentResult> {
  return providerOf(ports, payment).cancel(handleOf(payment));
}

/** Reports whether the time in which the buyer could complete the payment has ended. */
function isOver({ clock }: PaymentPorts, { request }: PaymentRow): boolean {
  return request.expiresAt !== undefined && Date.parse(request.expiresAt) <= clock.ms();
}

function handleOf(row: PaymentRow): PaymentHandle {
  const { provider_key: key, provider_ref: ref, workspace_id: workspaceId, request } = row;
  return { key, ref, workspaceId, accountRef: request.accountRef ?? null };
}

async function charge(
  provider: PaymentProvider,
  { payment, purchase, customer }: PaymentContext,
): Promise<PaymentResult> {
  const { request, payment_method: saved } = payment;
  const method = saved?.provider === provider.name ? saved : null;
  const asked = {
    key: payment.provider_key,
    workspaceId: payment.workspace_id,
    amountCents: payment.amount_cents,
    currency: 'USD' as const,
    feeCents: purchase.fee_cents,
    description: request.description ?? '',
    accountRef: request.accountRef ?? null,
    customer: payerOf(provider, customer, method),
  };
  const { returnUrl, cancelUrl, expiresAt } = request;
  if (returnUrl !== undefined && cancelUrl !== undefined && expiresAt !== undefined) {
    const { saveMethod = false, card = null } = request;
    const until = dateFromMs(Date.parse(expiresAt));
    const savedRef = method?.methodRef ?? null;
    return provider.charge({ ...asked, saveMethod, card, savedRef, returnUrl, cancelUrl, expiresAt: until });
  }
  return method === null ? NO_CARD : provider.chargeSaved({ ...asked, methodRef: method.methodRef });
}

const NO_CARD: Decline = {
  status: 'FAILED',
  ref: null,
  code: 'CARD_MISSING',
  message: 'No card is saved for this.',
};

export function payerOf(
  { name }: Pick<PaymentProvider, 'name'>,
  customer: CustomerRow,
  method: PaymentMethod | null = null,
): Payer {
  const known = customer.provider === name ? customer.provider_ref : null;
  return { id: customer.id, email: customer.email, ref: method?.customerRef ?? known };
}

export function settledOf(payment: PaymentRow): SettledPayment {
  const { status, action_url: url } = payment;
  if (status === 'SUCCEEDED') return { status };
  if (status === 'PENDING') return url === null ? { status } : { status: 'ACTION', url };
  return {
    status: 'FAILED',
    code: payment.failure_code ?? 'CANCELED',
    message: payment.failure_message ?? 'The payment was canceled.',
  };
}

/** Stores a response, unless the payment has become final in the interim. */
function conclude(
  ports: PaymentPorts,
  { payment, purchase }: PaymentContext,
  answer: PaymentResult,
): Promise<SettledPayment> {
  return ports.events.transaction(async (tx, append) => {
    await repository.lockAround(tx, purchase.id);
    const held = await repository.lockPurchase(tx, purchase.id);
    const row = await repository.lockPayment(tx, payment.id);
    if (held === undefined || row.status !== 'PENDING') return settledOf(row);
    const change = { tx, append, payment: row, purchase: held };
    if (answer.status === 'SUCCEEDED') return succeed(ports, change, answer);
    if (answer.status === 'FAILED') return fail(ports, change, answer);
    return wait(ports, change, answer);
  });
}

interface Change {
  tx: Tx;
  append: AppendEvent;
  payment: PaymentRow;
  purchase: PurchaseRow;
}

async function succeed(
  ports: PaymentPorts,
  { tx, append, ...before }: Change,
  { ref, method }: Extract<PaymentResult, { status: 'SUCCEEDED' }>,
): Promise<SettledPayment> {
  const now = ports.clock.now();
  const given = methodOf(before.payment, method);
  const payment = await repository.updatePayment(tx, before.payment.id, {
    status: 'SUCCEEDED',
    provider_ref: ref,
    action_url: null,
    next_poll_at: null,
    settled_at: now,
    ...(given === null ? {} : { payment_method: given }),
  });
  const { id } = before.purchase;
  const purchase = await repository.updatePurchase(tx, id, {
    status: 'PAID',
    paid_at: now,
    payment_id: payment.id,
    subscription_id: subscriptionOf(before.purchase, ports.clock),
  });
  if (given !== null) await repository.rememberPayer(tx, purchase.customer_id, given);
  const sequence = await nextSequence(tx, 'purchase', id);
  await append(paymentSucceeded, purchase.workspace_id, toPaymentEventData(purchase, payment.id, sequence));
  const { amount_cents: amountCents, fee_cents: feeCents } = purchase;
  await postToLedger(ports, tx, { kind: 'CHARGE', purchase, payment, amountCents, feeCents });
  return { status: 'SUCCEEDED' };
}

/** Returns the card that the buyer gave for later charges. */
function methodOf({ provider, request }: PaymentRow, method: SavedMethod | null): PaymentMethod | null {
  if (method === null || request.saveMethod !== true || provider === 'NONE') return null;
  return { provider, ...method };
}

async function fail(
  { clock }: PaymentPorts,
  { tx, append, payment, purchase }: Change,
  { ref, code, message }: Decline,
): Promise<SettledPayment> {
  await repository.updatePayment(tx, payment.id, {
    status: code === 'CANCELED' || code === 'EXPIRED' ? 'CANCELED' : 'FAILED',
    provider_ref: ref ?? payment.provider_ref,
    action_url: null,
    next_poll_at: null,
    settled_at: clock.now(),
    failure_code: code,
    failure_message: message,
  });
  const sequence = await nextSequence(tx, 'purchase', purchase.id);
  const data = toPaymentEventData(purchase, payment.id, sequence, { failureCode: code });
  await append(paymentFailed, purchase.workspace_id, data);
  return { status: 'FAILED', code, message };
}

async function wait(
  { clock }: PaymentPorts,
  { tx, payment }: Change,
  answer: Extract<PaymentResult, { status: 'ACTION' | 'PENDING' }>,
): Promise<SettledPayment> {
  const row = await repository.updatePayment(tx, payment.id, {
    provider_ref: answer.ref,
    action_url: answer.status === 'ACTION' ? answer.url : null,
    next_poll_at: dateFromMs(nextPollMs(payment, clock.ms())),
  });
  return settledOf(row);
}
