import type { Stripe } from 'stripe';
import { type Decline, ProviderUnavailableError } from '../provider.ts';
import { declineOf } from './mappers.ts';

/** The package is large: it is loaded when Stripe is first asked. */
export type Client = () => Promise<Stripe>;

/**
 * What an error of Stripe's says of a payment: a decline, where the bank or Stripe has refused it.
 *
 * @throws {ProviderUnavailableError} where nothing is known.
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

/** @throws {ProviderUnavailableError} for every error that is no refusal of what was asked. */
export function mapToUnavailable(error: unknown): void {
  const stripe = asStripeError(error);
  if (stripe === null) throw error;
  if (stripe.type !== 'StripeInvalidRequestError') throw unavailable(stripe);
}

/** The second: an account that is not the platform's (any more). */
const GONE = new Set(['resource_missing', 'account_invalid']);

/**
 * @returns null where Stripe knows no such object.
 * @throws {ProviderUnavailableError} for every other error.
 */
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

/** @throws {ProviderUnavailableError} for every error of Stripe's. */
export async function mapStripeErrors<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    const stripe = asStripeError(error);
    throw stripe === null ? error : unavailable(stripe);
  }
}

/** Its message may quote a request, so the cause is told by type and code. */
function unavailable({ type, code, requestId }: Stripe.errors.StripeError): ProviderUnavailableError {
  return new ProviderUnavailableError(`Stripe: ${type} ${code ?? ''} ${requestId ?? ''}`.trim());
}

function asStripeError(error: unknown): Stripe.errors.StripeError | null {
  return isStripeError(error) ? error : null;
}

/** By its shape: the package is loaded only where it is set up. */
function isStripeError(error: unknown): error is Stripe.errors.StripeError {
  return error instanceof Error && 'type' in error && String(error.type).startsWith('Stripe');
}
