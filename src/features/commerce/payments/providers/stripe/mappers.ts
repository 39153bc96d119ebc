import type { Stripe } from 'stripe';
import { dateFromMs } from '../../../../../kernel/clock.ts';
import type {
  AccountState,
  Decline,
  DeclineCode,
  FetchedDispute,
  FetchedPayout,
  PaymentResult,
  RefundResult,
  SavedMethod,
} from '../provider.ts';

/** Metadata of each Stripe object that links its events to our rows. */
export const METADATA_KEY = 'marquee_key';
export const CUSTOMER = 'marquee_customer';
/** Metadata of a session that collects a card: the ID of its checkout, or `MEMBER_PAGE`. */
export const USED_FOR = 'marquee_used_for';
/**
 * Metadata of a PaymentIntent of a Checkout Session: while the session is open, a declined card is not final.
 */
export const CHECKOUT_SESSION_MARK = 'marquee_checkout';

/** @param codes the decline code and the error code, the more specific first. */
export function declineOf(ref: string | null, codes: readonly (string | null | undefined)[]): Decline {
  for (const code of codes) {
    const known = DECLINES[code ?? ''];
    if (known !== undefined) return { status: 'FAILED', ref, ...known };
  }
  return { status: 'FAILED', ref, ...DECLINED };
}

const DECLINED = { code: 'CARD_DECLINED', message: 'The bank declined the card.' } as const;

const DECLINES: Record<string, { code: DeclineCode; message: string } | undefined> = {
  insufficient_funds: { code: 'INSUFFICIENT_FUNDS', message: 'The card has insufficient funds.' },
  expired_card: { code: 'CARD_EXPIRED', message: 'The card has expired.' },
  authentication_required: {
    code: 'AUTHENTICATION_REQUIRED',
    message: 'The bank requires the cardholder to authenticate this payment.',
  },
  payment_intent_authentication_failure: {
    code: 'AUTHENTICATION_FAILED',
    message: 'The payment was not authenticated.',
  },
};

const EXPIRED: Omit<Decline, 'ref'> = {
  status: 'FAILED',
  code: 'EXPIRED',
  message: 'The payment timed out.',
};

/** Returns the object of an expandable field where it was expanded. */
export function expanded<T extends { id: string }>(member: string | T | null | undefined): T | null {
  return typeof member === 'string' ? null : (member ?? null);
}

export function refOf(member: string | { id: string } | null | undefined): string | null {
  return typeof member === 'string' ? member : (member?.id ?? null);
}

/** @returns null where it is not a card, or has no customer. */
export function methodOf(
  method: string | Stripe.PaymentMethod | null | undefined,
  customer: string | { id: string } | null | undefined,
): SavedMethod | null {
  const paid = expanded(method);
  const customerRef = refOf(customer);
  if (paid?.card === undefined || paid.card === null || customerRef === null) return null;
  const { brand, last4, exp_month: expMonth, exp_year: expYear } = paid.card;
  return { customerRef, methodRef: paid.id, brand, last4, expMonth, expYear };
}

/** Maps a PaymentIntent with its method, charged off-session or by a session that has ended. */
export function fromPaymentIntent(intent: Stripe.PaymentIntent): PaymentResult {
  const { id: ref, status, last_payment_error: error } = intent;
  switch (status) {
    case 'succeeded':
      return { status: 'SUCCEEDED', ref, method: methodOf(intent.payment_method, intent.customer) };
    case 'canceled':
      return { status: 'FAILED', ref, code: 'CANCELED', message: 'The payment was canceled.' };
    case 'requires_payment_method':
      return declineOf(ref, [error?.decline_code, error?.code]);
    case 'requires_action':
    case 'requires_confirmation':
      return declineOf(ref, ['authentication_required']);
    default:
      return { status: 'PENDING', ref };
  }
}

/** Maps a Checkout Session with its PaymentIntent or SetupIntent, and the method of that. */
export function fromCheckoutSession(session: Stripe.Checkout.Session): PaymentResult {
  const { id: ref, status, url } = session;
  if (status === 'expired') return { ref, ...EXPIRED };
  if (status !== 'complete')
    return url === null ? { status: 'PENDING', ref } : { status: 'ACTION', ref, url };
  if (session.mode === 'setup') {
    const setup = expanded(session.setup_intent);
    return { status: 'SUCCEEDED', ref, method: methodOf(setup?.payment_method, session.customer) };
  }
  const intent = expanded(session.payment_intent);
  return intent === null ? { status: 'PENDING', ref } : fromPaymentIntent(intent);
}

export function fromRefund({ id: ref, status, failure_reason: reason }: Stripe.Refund): RefundResult {
  if (status === 'succeeded') return { status: 'SUCCEEDED', ref };
  if (status !== 'failed' && status !== 'canceled') return { status: 'PENDING', ref };
  const message = `The provider could not process the refund${reason ? ` (${reason.replaceAll('_', ' ')})` : ''}.`;
  return { status: 'FAILED', ref, code: 'REFUND_REFUSED', message };
}

/** @returns null for an inquiry: no money has moved. */
export function fromDispute(dispute: Stripe.Dispute): FetchedDispute | null {
  const status = DISPUTES[dispute.status];
  const paymentRef = refOf(dispute.payment_intent);
  if (status === undefined || paymentRef === null) return null;
  return { paymentRef, amountCents: dispute.amount, status, reason: dispute.reason };
}

const DISPUTES: Record<string, FetchedDispute['status'] | undefined> = {
  needs_response: 'OPEN',
  under_review: 'OPEN',
  appeal_needs_response: 'OPEN',
  appeal_under_review: 'OPEN',
  won: 'WON',
  lost: 'LOST',
};

export function fromPayout(payout: Stripe.Payout): FetchedPayout {
  return {
    amountCents: payout.amount,
    currency: payout.currency.toUpperCase(),
    status: PAYOUTS[payout.status] ?? 'PENDING',
    failureCode: payout.failure_code,
    arrivalAt: dateFromMs(payout.arrival_date * 1000),
    createdAt: dateFromMs(payout.created * 1000),
  };
}

const PAYOUTS: Record<string, FetchedPayout['status'] | undefined> = {
  paid: 'PAID',
  in_transit: 'IN_TRANSIT',
  failed: 'FAILED',
  canceled: 'CANCELED',
};

/** @param account null when it was closed, or removed from the platform. */
export function fromAccount(account: Stripe.Account | null): AccountState {
  return {
    chargesEnabled: account?.charges_enabled ?? false,
    payoutsEnabled: account?.payouts_enabled ?? false,
    detailsSubmitted: account?.details_submitted ?? false,
    requirementsDue: account?.requirements?.currently_due ?? [],
    country: account?.country ?? null,
  };
}
