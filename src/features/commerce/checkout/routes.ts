import { anyKey } from '../../../http/access.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { IdParams } from '../../../http/schema.ts';
import type { Caller } from '../../../kernel/access.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { MailCaps } from '../../integration/mail/index.ts';
import type { CheckoutRow } from './rules.ts';
import {
  BookingCheckoutIn,
  Checkout,
  SimulationIn,
  SubscriptionCheckoutIn,
  toCheckout,
  VideoCheckoutIn,
} from './schemas.ts';
import type { Checkouts } from './service.ts';
import type { CheckoutSimulations } from './simulation.service.ts';

const Id = IdParams('chk', 'checkout');

interface Deps {
  checkouts: Checkouts;
  simulations: CheckoutSimulations;
  mailCaps: Pick<MailCaps, 'from'>;
  clock: Clock;
  /** URL without a trailing slash. */
  publicUrl: string;
}

/** `/checkout` (docs/concepts/checkout.md). */
export function checkoutRoutes({ checkouts, simulations, mailCaps, clock, publicUrl }: Deps): Route[] {
  const countMail = ({ workspaceId }: Caller) => mailCaps.from({ actorId: workspaceId });
  const out = ({ mode }: Caller, row: CheckoutRow) => toCheckout(row, { mode, now: clock.now(), publicUrl });
  return [
    defineRoute({
      ...anyKey,
      operationId: 'checkout.subscription',
      method: 'POST',
      path: '/checkout/subscription',
      summary: 'Create a subscription checkout',
      description:
        'Redirect the buyer to `url`. Valid for 24 hours. No spot is reserved until the buyer pays.',
      idempotent: 'leased',
      originLock: true,
      body: SubscriptionCheckoutIn,
      reply: { status: 201, schema: Checkout },
      errors: ['NOT_FOUND', 'CONFLICT', 'SERVICE_UNAVAILABLE'],
      handler: async ({ caller, idempotentRunId }, { body }) =>
        out(caller, await checkouts.createForTier(caller, body, idempotentRunId)),
    }),
    defineRoute({
      ...anyKey,
      operationId: 'checkout.video',
      method: 'POST',
      path: '/checkout/video',
      summary: 'Create a video checkout',
      description:
        'For videos with visibility PURCHASE. Redirect the buyer to `url`, which is valid for 24 hours.',
      originLock: true,
      body: VideoCheckoutIn,
      reply: { status: 201, schema: Checkout },
      errors: ['NOT_FOUND', 'CONFLICT', 'SERVICE_UNAVAILABLE'],
      handler: async ({ caller }, { body }) => out(caller, await checkouts.createForVideo(caller, body)),
    }),
    defineRoute({
      ...anyKey,
      operationId: 'checkout.booking',
      method: 'POST',
      path: '/checkout/booking',
      summary: 'Create a booking checkout',
      description:
        'Holds a ONE_TO_ONE slot for 10 minutes; redirect the buyer to `url`. Free products are booked immediately.',
      originLock: true,
      body: BookingCheckoutIn,
      reply: { status: 201, schema: Checkout },
      errors: ['NOT_FOUND', 'CONFLICT', 'SERVICE_UNAVAILABLE'],
      handler: async ({ caller }, { body }) =>
        out(caller, await checkouts.createForBooking(caller, body, { countMail: countMail(caller) })),
    }),
    defineRoute({
      ...anyKey,
      operationId: 'checkout.get',
      method: 'GET',
      path: '/checkout/{id}',
      summary: 'Get a checkout',
      description: "Returns the outcome. Never includes the buyer's identity.",
      originLock: true,
      params: Id,
      reply: { status: 200, schema: Checkout },
      handler: async ({ caller }, { params }) =>
        out(caller, await checkouts.get(caller.workspaceId, params.id)),
    }),
    defineRoute({
      ...anyKey,
      operationId: 'checkout.simulate',
      method: 'POST',
      path: '/checkout/{id}/simulate',
      summary: 'Simulate a checkout outcome (test mode)',
      description: 'Test mode only: pays with a test card, declines, or expires the checkout.',
      onlyMode: 'test',
      originLock: true,
      params: Id,
      body: SimulationIn,
      reply: { status: 200, schema: Checkout },
      errors: ['CONFLICT', 'SERVICE_UNAVAILABLE'],
      handler: async ({ caller }, { params, body }) =>
        out(
          caller,
          await simulations.simulate(caller.workspaceId, params.id, {
            outcome: body.outcome,
            countMail: countMail(caller),
          }),
        ),
    }),
  ];
}
