import type { Stripe } from 'stripe';
import { memoizeAsync } from '../../../../../kernel/cache.ts';
import type { Clock } from '../../../../../kernel/clock.ts';
import { MINUTE_MS } from '../../../../../kernel/durations.ts';
import type {
  ChargeRequest,
  PaymentHandle,
  PaymentProvider,
  PaymentResult,
  RefundRequest,
  RefundResult,
  SavedChargeRequest,
  SaveMethodRequest,
} from '../provider.ts';
import { accounts } from './accounts.ts';
import { type Client, mapStripeErrors, nullIfNoSuchObject, toDecline } from './client.ts';
import { customerOf, deleteCustomer } from './customers.ts';
import {
  CHECKOUT_SESSION_MARK,
  CUSTOMER,
  expanded,
  fromCheckoutSession,
  fromDispute,
  fromPaymentIntent,
  fromRefund,
  METADATA_KEY,
  methodOf,
  USED_FOR,
} from './mappers.ts';
import { payouts } from './payouts.ts';
import { transfers } from './transfers.ts';
import { HANDLED_EVENT_TYPES, toProviderEvent } from './webhook-events.ts';

/** API version that this file is written for; Stripe supports old versions. */
const API_VERSION = '2026-10-28.endive';
/** Origin of Stripe's card pages. */
export const STRIPE_PAGES = 'https://checkout.stripe.com';
const TIMEOUT_MS = 10_000;
const PING_MS = 4000;
/** Tolerance of signature timestamps, as for our own webhooks (docs/concepts/webhooks.md). */
const TOLERANCE_SEC = 300;
/** Maximum number of Stripe events read per fetch. */
const MAX_EVENTS = 10_000;
/** Stripe ends a session half an hour after its creation at the earliest; it is ended here before that. */
const EXPIRY_MARGIN_MS = 5 * MINUTE_MS;

export interface StripeSettings {
  secretKey: string;
  /** Secrets of the webhook endpoints at Stripe: the platform's, and that of the connected accounts. */
  webhookSecrets: readonly string[];
  /** API URL for tests; Stripe's when null. */
  apiUrl: string | null;
  clock: Clock;
  /** Timeout of one try; there are two. Default: ten seconds. */
  timeoutMs?: number;
}

/**
 * Stripe with Connect (docs/decisions/money.md#stripe): the platform charges, the rest of the money goes to the
 * creator's account, and Stripe keeps the cards. What each call takes and answers: https://docs.stripe.com/api.
 */
export function createStripe(settings: StripeSettings): PaymentProvider {
  const client = memoizeAsync(() => connect(settings));
  return {
    name: 'STRIPE',
    async ping() {
      const { balance } = await client();
      await mapStripeErrors(balance.retrieve({}, { timeout: PING_MS, maxNetworkRetries: 0 }));
    },
    ...charging(client),
    ...following(client),
    ...accounts(client),
    ...payouts(client),
    ...transfers(client),
    ...deleteCustomer(client),
    async readWebhook(rawBody, headers) {
      const signature = headers['stripe-signature'];
      if (typeof signature !== 'string') return null;
      const { webhooks } = await client();
      for (const secret of settings.webhookSecrets) {
        const event = verified(webhooks, { rawBody, signature, secret, now: settings.clock.ms() });
        if (event !== null) return toProviderEvent(event);
      }
      return null;
    },
    async toldSince(at) {
      const { events } = await client();
      const asked = {
        created: { gte: Math.floor(at.getTime() / 1000) },
        types: [...HANDLED_EVENT_TYPES],
        limit: 100,
      };
      const told = await mapStripeErrors(events.list(asked).autoPagingToArray({ limit: MAX_EVENTS }));
      return told.map(toProviderEvent).filter((hint) => hint !== 'OTHER');
    },
  };
}

async function connect({ secretKey, apiUrl, timeoutMs = TIMEOUT_MS }: StripeSettings): Promise<Stripe> {
  const { Stripe } = await import('stripe');
  const at = apiUrl === null ? null : new URL(apiUrl);
  return new Stripe(secretKey, {
    apiVersion: API_VERSION,
    timeout: timeoutMs,
    maxNetworkRetries: 1,
    telemetry: false,
    appInfo: { name: 'Marquee' },
    ...(at !== null && {
      protocol: at.protocol === 'http:' ? 'http' : 'https',
      host: at.hostname,
      port: Number(at.port || (at.protocol === 'http:' ? 80 : 443)),
    }),
  });
}

type Charging = Pick<PaymentProvider, 'charge' | 'chargeSaved' | 'saveMethod' | 'refund'>;

function charging(client: Client): Charging {
  return {
    async charge(request) {
      const stripe = await client();
      return attempt(async () => {
        const customer = await customerOf(stripe, request.customer);
        const params = paymentSession(request, customer);
        return fromCheckoutSession(
          await stripe.checkout.sessions.create(params, { idempotencyKey: request.key }),
        );
      });
    },
    async chargeSaved(request) {
      const stripe = await client();
      return attempt(async () => {
        const customer = await customerOf(stripe, request.customer);
        const params = savedPayment(request, customer);
        return fromPaymentIntent(await stripe.paymentIntents.create(params, { idempotencyKey: request.key }));
      });
    },
    async saveMethod(request) {
      const stripe = await client();
      return attempt(async () => {
        const customer = await customerOf(stripe, request.customer);
        const params = setupSession(request, customer);
        return fromCheckoutSession(
          await stripe.checkout.sessions.create(params, { idempotencyKey: request.key }),
        );
      });
    },
    async refund(request) {
      return attemptRefund(await client(), request);
    },
  };
}

async function attempt(ask: () => Promise<PaymentResult>): Promise<PaymentResult> {
  try {
    return await ask();
  } catch (error) {
    return toDecline(error);
  }
}

/** Returns the destination of the money: the creator, less the fee. */
function destination({ accountRef, feeCents }: Pick<SavedChargeRequest, 'accountRef' | 'feeCents'>) {
  if (accountRef === null) return {};
  return {
    transfer_data: { destination: accountRef },
    ...(feeCents > 0 && { application_fee_amount: feeCents }),
  };
}

function paymentSession(request: ChargeRequest, customer: string): Stripe.Checkout.SessionCreateParams {
  const { key, amountCents, description } = request;
  const metadata = { [METADATA_KEY]: key };
  return {
    mode: 'payment',
    customer,
    success_url: request.returnUrl,
    cancel_url: request.cancelUrl,
    expires_at: Math.floor((request.expiresAt.getTime() + EXPIRY_MARGIN_MS) / 1000),
    client_reference_id: request.customer.id,
    metadata,
    line_items: [
      {
        quantity: 1,
        price_data: { currency: 'usd', unit_amount: amountCents, product_data: { name: description } },
      },
    ],
    payment_intent_data: {
      description,
      metadata: { ...metadata, [CHECKOUT_SESSION_MARK]: 'true' },
      ...(request.saveMethod && { setup_future_usage: 'off_session' as const }),
      ...destination(request),
    },
  };
}

function savedPayment(request: SavedChargeRequest, customer: string): Stripe.PaymentIntentCreateParams {
  return {
    amount: request.amountCents,
    currency: 'usd',
    customer,
    payment_method: request.methodRef,
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    off_session: true,
    confirm: true,
    description: request.description,
    metadata: { [METADATA_KEY]: request.key },
    expand: ['payment_method'],
    ...destination(request),
  };
}

function setupSession(request: SaveMethodRequest, customer: string): Stripe.Checkout.SessionCreateParams {
  const { usedFor } = request;
  const metadata = {
    [METADATA_KEY]: request.key,
    [CUSTOMER]: request.customer.id,
    [USED_FOR]: usedFor === 'MEMBER_PAGE' ? usedFor : usedFor.checkoutId,
  };
  return {
    mode: 'setup',
    customer,
    currency: 'usd',
    success_url: request.returnUrl,
    cancel_url: request.cancelUrl,
    metadata,
    setup_intent_data: { metadata },
  };
}

/** Refunds a charge; the creator's transfer and its fee are reversed in proportion. */
async function attemptRefund(stripe: Stripe, request: RefundRequest): Promise<RefundResult> {
  const { key, ref, amountCents } = request;
  try {
    const charged = await stripe.paymentIntents.retrieve(ref);
    const isTransferred = charged.transfer_data !== null;
    const hasFee = (charged.application_fee_amount ?? 0) > 0;
    const params: Stripe.RefundCreateParams = {
      payment_intent: ref,
      amount: amountCents,
      metadata: { [METADATA_KEY]: key },
      ...(isTransferred && { reverse_transfer: true }),
      ...(hasFee && { refund_application_fee: true }),
    };
    return fromRefund(await stripe.refunds.create(params, { idempotencyKey: key }));
  } catch (error) {
    const refusal = toDecline(error);
    const message = 'The payment provider rejected the refund.';
    return { ...refusal, code: 'REFUND_REFUSED', message };
  }
}

type Following = Pick<
  PaymentProvider,
  'look' | 'cancel' | 'fetchPayment' | 'fetchRefund' | 'fetchDispute' | 'fetchMethod'
>;

const SESSION_PARTS = { expand: ['payment_intent.payment_method', 'setup_intent.payment_method'] };
const INTENT_PARTS = { expand: ['payment_method'] };

function following(client: Client): Following {
  return {
    async look(payment) {
      return look(await client(), payment);
    },
    async cancel(payment) {
      return cancel(await client(), payment);
    },
    async fetchPayment({ ref }) {
      const stripe = await client();
      if (isSession(ref)) {
        const session = await nullIfNoSuchObject(stripe.checkout.sessions.retrieve(ref, SESSION_PARTS));
        return session === null
          ? null
          : { key: session.metadata?.[METADATA_KEY] ?? null, answer: fromCheckoutSession(session) };
      }
      const intent = await nullIfNoSuchObject(stripe.paymentIntents.retrieve(ref, INTENT_PARTS));
      if (intent === null) return null;
      return { key: intent.metadata[METADATA_KEY] ?? null, answer: await ofLedIntent(stripe, intent) };
    },
    async fetchRefund({ ref }) {
      const stripe = await client();
      const refund = await nullIfNoSuchObject(stripe.refunds.retrieve(ref, { expand: ['payment_intent'] }));
      const intent = expanded(refund?.payment_intent);
      if (refund === null || intent === null) return null;
      const isTransferred = intent.transfer_data !== null;
      return {
        key: refund.metadata?.[METADATA_KEY] ?? null,
        paymentRef: intent.id,
        amountCents: refund.amount,
        isCreators: !isTransferred || refund.transfer_reversal !== null,
        answer: fromRefund(refund),
      };
    },
    async fetchDispute({ ref }) {
      const stripe = await client();
      const dispute = await nullIfNoSuchObject(stripe.disputes.retrieve(ref));
      return dispute === null ? null : fromDispute(dispute);
    },
    async fetchMethod({ ref }) {
      const stripe = await client();
      const session = await nullIfNoSuchObject(stripe.checkout.sessions.retrieve(ref, SESSION_PARTS));
      const customerId = session?.metadata?.[CUSTOMER];
      if (session?.status !== 'complete' || customerId === undefined) return null;
      const method = methodOf(expanded(session.setup_intent)?.payment_method, session.customer);
      const use = session.metadata?.[USED_FOR];
      const usedFor = use === undefined || use === 'MEMBER_PAGE' ? (use ?? null) : { checkoutId: use };
      return method === null ? null : { customerId, method, usedFor };
    },
  };
}

function isSession(ref: string): boolean {
  return ref.startsWith('cs_');
}

/**
 * Looks up a payment. Without a Stripe ID it is found by our key; Stripe's index lags a minute, during which
 * the key itself is safe to repeat.
 */
async function look(stripe: Stripe, { key, ref }: PaymentHandle): Promise<PaymentResult | null> {
  if (ref === null) {
    const query = `metadata['${METADATA_KEY}']:'${key}'`;
    const found = await mapStripeErrors(
      stripe.paymentIntents.search({ query, limit: 1, expand: ['data.payment_method'] }),
    );
    const [intent] = found.data;
    return intent?.metadata[METADATA_KEY] === key ? ofLedIntent(stripe, intent) : null;
  }
  if (isSession(ref)) {
    const session = await nullIfNoSuchObject(stripe.checkout.sessions.retrieve(ref, SESSION_PARTS));
    return session === null ? null : fromCheckoutSession(session);
  }
  const intent = await nullIfNoSuchObject(stripe.paymentIntents.retrieve(ref, INTENT_PARTS));
  return intent === null ? null : ofLedIntent(stripe, intent);
}

/**
 * Returns the state of a session's PaymentIntent. While the session is open the buyer may try another card,
 * so the session decides.
 */
async function ofLedIntent(stripe: Stripe, intent: Stripe.PaymentIntent): Promise<PaymentResult> {
  const isFinal = intent.status === 'succeeded' || intent.status === 'canceled';
  if (isFinal || intent.metadata[CHECKOUT_SESSION_MARK] === undefined) return fromPaymentIntent(intent);
  const sessions = await mapStripeErrors(
    stripe.checkout.sessions.list({ payment_intent: intent.id, limit: 1 }),
  );
  const [session] = sessions.data;
  return session === undefined || session.status === 'complete'
    ? fromPaymentIntent(intent)
    : fromCheckoutSession(session);
}

/** Cancels a payment. A session that was completed in the interim cannot be ended: its state is returned. */
async function cancel(stripe: Stripe, payment: PaymentHandle): Promise<PaymentResult> {
  const { ref } = payment;
  const canceled = { status: 'FAILED', ref, code: 'CANCELED', message: 'The payment was canceled.' } as const;
  const before = await look(stripe, payment);
  if (before === null) return canceled;
  if (before.status !== 'ACTION') return before;
  try {
    await stripe.checkout.sessions.expire(before.ref);
    return { ...canceled, ref: before.ref };
  } catch (error) {
    const after = await look(stripe, { ...payment, ref: before.ref });
    if (after === null || after.status === 'ACTION') throw error;
    return after;
  }
}

interface Signed {
  rawBody: Buffer;
  signature: string;
  secret: string;
  /** Epoch milliseconds. */
  now: number;
}

function verified(webhooks: Stripe['webhooks'], { rawBody, signature, secret, now }: Signed) {
  try {
    return webhooks.constructEvent(rawBody, signature, secret, TOLERANCE_SEC, undefined, now);
  } catch {
    return null;
  }
}
