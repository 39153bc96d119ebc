import type { Stripe } from 'stripe';
import { type Decline, ProviderUnavailableError } from '../provider.ts';
import { declineOf } from './mappers.ts';

/** Loader of the client: the package is large, so it is loaded with the first call to Stripe. */
export type Client = () => Promise<Stripe>;

/**
 * Maps a Stripe error to a decline, where the bank or Stripe has rejected the payment.
 *
 * @throws {ProviderUnavailableError} where the outcome is unknown.
 */
export function toDecline(error: unknown): Decline {
  const stripe = asStripeError(error);
  if (stripe === null) throw error;
  if (stripe.type === 'StripeCardError') {
    return declineOf(stripe.payment_intent?.id ?? null, [stripe.decline_code, stripe.code]);
  }
  if (stripe.type === 'StripeInvalidRequestError') {
    const message = 'The payment provider rejected the payment. The card was not charged.';
    return { status: 'FAILED', ref: null, code: 'PROVIDER_ERROR', message };
  }
  throw unavailable(stripe);
}

/** @throws {ProviderUnavailableError} for every error except a rejected request. */
export function mapToUnavailable(error: unknown): void {
  const stripe = asStripeError(error);
  if (stripe === null) throw error;
  if (stripe.type !== 'StripeInvalidRequestError') throw unavailable(stripe);
}

/** Codes of objects that do not exist, or whose account does not (or no longer) belong to the platform. */
const GONE = new Set(['resource_missing', 'account_invalid']);

/** @returns null where Stripe does not know the object. */
export async function nullIfNoSuchObject<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    const stripe = asStripeError(error);
    if (stripe === null) throw error;
    if (GONE.has(stripe.code ?? '')) return null;
    throw unavailable(stripe);
  }
}

/** @throws {ProviderUnavailableError} for every Stripe error. */
export async function mapStripeErrors<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    const stripe = asStripeError(error);
    throw stripe === null ? error : unavailable(stripe);
  }
}

/** Creates the error with only type and code as its cause, because Stripe's message may quote a request. */
function unavailable({ type, code, requestId }: Stripe.errors.StripeError): ProviderUnavailableError {
  return new ProviderUnavailableError(`Stripe: ${type} ${code ?? ''} ${requestId ?? ''}`.trim());
}

function asStripeError(error: unknown): Stripe.errors.StripeError | null {
  return isStripeError(error) ? error : null;
}

/** Identifies the error by its shape, because the package is loaded only where Stripe is set up. */
function isStripeError(error: unknown): error is Stripe.errors.StripeError {
  return error instanceof Error && 'type' in error && String(error.type).startsWith('Stripe');
}
