import formBody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebAssets } from '../../../http/assets.ts';
import { formField, sendFailure } from '../../../http/forms.ts';
import { type Page, sendPage } from '../../../http/page.ts';
import { limitByIp } from '../../../http/plugins/limits.ts';
import type { RequestCounters } from '../../../http/ports.ts';
import type { Limit } from '../../../http/route.ts';
import type { SameOriginCheck } from '../../../http/same-origin.ts';
import { AppError } from '../../../kernel/errors.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { MailCaps } from '../../integration/mail/index.ts';
import {
  CHECKOUT_NOT_FOUND,
  errorPage,
  expiredPage,
  type Problem,
  paidPage,
  payPage,
  waitingPage,
} from './checkout.views.ts';
import type { CheckoutPayments, PaymentResult } from './pay.service.ts';
import type { CheckoutPorts } from './ports.ts';
import { type CheckoutRow, statusOf, successUrl } from './rules.ts';
import { sellerOf } from './sellers.ts';

interface Deps
  extends Pick<CheckoutPorts, 'db' | 'bookings' | 'clock' | 'payments' | 'memberPath' | 'publicUrl'> {
  checkoutPayments: CheckoutPayments;
  assets: WebAssets;
  counters: Pick<RequestCounters, 'window'>;
  mailCaps: Pick<MailCaps, 'from'>;
  secrets: Pick<Secrets, 'sign' | 'verify'>;
  isOwnOrigin: SameOriginCheck;
  /** Origin of the live provider's card page. */
  providerPages: string;
}

type CheckoutRequest = FastifyRequest<{ Params: { id: string }; Body: unknown }>;

const FORM_BYTES = 16_384;
const TRIES: Limit = { bucket: 'checkout', per: 'ip', max: 300, windowSec: 600, refusal: 'RATE_LIMITED' };
/** A waiting page reloads every five seconds. */
const LOOKS: Limit = {
  bucket: 'checkout-look',
  per: 'ip',
  max: 300,
  windowSec: 600,
  refusal: 'RATE_LIMITED',
};
const PURPOSE = 'checkout form';

/** Registers `/checkout/:id`, the page on which a buyer pays (docs/guides/money.md#the-checkout-page). */
export function checkoutPages(deps: Deps): (app: FastifyInstance) => void {
  return (app) => {
    // Separate scope, because all other bodies are JSON.
    app.register(async (scope) => {
      await scope.register(formBody, { bodyLimit: FORM_BYTES });
      scope.addHook('preHandler', (request: CheckoutRequest) => assertOwnForm(deps, request));
      scope.setErrorHandler((error, _request, reply) => sendFailure(deps.assets, error, reply, failureOf));
      scope.get('/checkout/:id', async (request: CheckoutRequest, reply) => {
        const row = await deps.checkoutPayments.open(request.params.id);
        return row.payment_id === null ? show(deps, reply, row) : goBack(deps, request, reply);
      });
      scope.get('/checkout/:id/return', (request: CheckoutRequest, reply) => goBack(deps, request, reply));
      scope.post('/checkout/:id/pay', (request: CheckoutRequest, reply) => pay(deps, request, reply));
      scope.post('/checkout/:id/code', (request: CheckoutRequest, reply) => useCode(deps, request, reply));
      scope.post('/checkout/:id/cancel', async ({ params }: CheckoutRequest, reply) => {
        const row = await deps.checkoutPayments.cancel(params.id);
        return redirect(reply, row.status === 'CANCELED' ? row.cancel_url : `/checkout/${row.id}`);
      });
    });
  };
}

/** Rejects forms of other sites, and forms of this page for another checkout. */
async function assertOwnForm(deps: Deps, request: CheckoutRequest): Promise<void> {
  if (request.method !== 'POST') return;
  await limitByIp({ counters: deps.counters }, TRIES, request.ip);
  const token = formField(request.body, 'token');
  if (deps.isOwnOrigin(request.headers) && deps.secrets.verify(PURPOSE, request.params.id, token)) return;
  throw new AppError('CSRF_REJECTED', { message: 'Open this page directly and try again.' });
}

async function show(
  deps: Deps,
  reply: FastifyReply,
  row: CheckoutRow,
  again: { typed?: { email: string; code: string }; problem?: Problem } = {},
): Promise<FastifyReply> {
  return sendPage(reply, deps.assets, await pageOf(deps, row, again));
}

async function pageOf(
  deps: Deps,
  row: CheckoutRow,
  again: { typed?: { email: string; code: string }; problem?: Problem },
): Promise<Page> {
  const now = deps.clock.now();
  const status = statusOf(row, now);
  const seller = await sellerOf(deps, deps.db, row.workspace_id);
  if (status === 'COMPLETED') return paidPage(row, seller);
  if (status !== 'OPEN') return expiredPage({ ...row, status });
  const isSandbox = await deps.payments.providerOf(row.workspace_id).then(
    ({ name }) => name === 'SANDBOX',
    // No provider takes payments at the moment, so no card is requested either.
    () => false,
  );
  const targets = [row.success_url, row.cancel_url].map((url) => new URL(url).origin);
  return payPage({
    hold: row.booking_id === null ? null : await deps.bookings.holdOf(row.booking_id),
    row,
    seller,
    now,
    isSandbox,
    formToken: deps.secrets.sign(PURPOSE, row.id),
    targets: isSandbox ? targets : [...targets, deps.providerPages],
    ...again,
  });
}

async function pay(
  deps: Deps,
  { params, body, ip }: CheckoutRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const typed = { email: formField(body, 'email'), card: formField(body, 'card') };
  try {
    const paid = await deps.checkoutPayments.pay(params.id, typed, deps.mailCaps.from({ ip }));
    return await sendPaymentResult(deps, reply, params.id, paid, typed.email);
  } catch (error) {
    return refused(deps, reply, params.id, error, { email: typed.email });
  }
}

async function useCode(
  deps: Deps,
  { params, body }: CheckoutRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const code = formField(body, 'code');
  try {
    await deps.checkoutPayments.setCode(params.id, code);
    return redirect(reply, `/checkout/${params.id}`);
  } catch (error) {
    return refused(deps, reply, params.id, error, { code });
  }
}

/** Handles the buyer's return from another page, and repeated visits. */
async function goBack(
  deps: Deps,
  { params: { id }, ip }: CheckoutRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  await limitByIp({ counters: deps.counters }, LOOKS, ip);
  const paid = await deps.checkoutPayments.look(id);
  if (paid === null) return show(deps, reply, await deps.checkoutPayments.open(id));
  return sendPaymentResult(deps, reply, id, paid, '');
}

async function sendPaymentResult(
  deps: Deps,
  reply: FastifyReply,
  id: string,
  paid: PaymentResult,
  email: string,
): Promise<FastifyReply> {
  const row = await deps.checkoutPayments.open(id);
  switch (paid.kind) {
    case 'COMPLETED':
      return redirect(reply, successUrl(row));
    case 'ACTION':
      return redirect(reply, paid.url);
    case 'PENDING':
      return sendPage(reply, deps.assets, waitingPage(row));
    case 'DECLINED': {
      const text = `${paid.message} Nothing was charged: try another card.`;
      const typed = {
        email: email === '' ? (row.customer_email ?? '') : email,
        code: row.discount_code ?? '',
      };
      return show(deps, reply, row, { typed, problem: { status: 402, text, field: null } });
    }
  }
}

const FIELDS: Record<string, Problem['field']> = { email: 'email', card: 'card', discountCode: 'code' };

/**
 * Renders the page with problems that the buyer can correct next to their inputs. Rethrows unexpected errors,
 * and those of a missing checkout.
 */
async function refused(
  deps: Deps,
  reply: FastifyReply,
  id: string,
  error: unknown,
  typed: { email?: string; code?: string },
): Promise<FastifyReply> {
  if (!(error instanceof AppError) || error.code === 'NOT_FOUND') throw error;
  const row = await deps.checkoutPayments.open(id);
  const field = FIELDS[error.field ?? ''] ?? null;
  const { email = row.customer_email ?? '', code = row.discount_code ?? '' } = typed;
  const problem = { status: error.status, text: error.message, field };
  return show(deps, reply, row, { typed: { email, code }, problem });
}

/** Redirects with a status that does not repeat the method of the form. */
function redirect(reply: FastifyReply, url: string): FastifyReply {
  return reply.header('Cache-Control', 'no-store').redirect(url, 303);
}

function failureOf(error: AppError): Page {
  return error.code === 'NOT_FOUND' ? CHECKOUT_NOT_FOUND : errorPage(error);
}
