import { anyKey } from '../../http/access.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { IdParams } from '../../http/schema.ts';
import type { Caller } from '../../kernel/access.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { MailCaps } from '../mail/index.ts';
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
  /** Without a slash at the end. */
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
      summary: 'Let somebody subscribe to a tier',
      description:
        'Lead the buyer to `url`. It is open for 24 hours, and holds no place until the buyer pays.',
      idempotent: 'leased',
      originLock: true,
      body: SubscriptionCheckoutIn,
      reply: { status: 201, schema: Checkout },
      errors: ['NOT_FOUND', 'CONFLICT', 'SERVICE_UNAVAILABLE'],
      handler: async ({ caller, operationId }, { body }) =>
        out(caller, await checkouts.createForTier(caller, body, operationId)),
    }),
    defineRoute({
      ...anyKey,
      operationId: 'checkout.video',
      method: 'POST',
      path: '/checkout/video',
      summary: 'Let somebody buy a video',
      description: 'Of visibility PURCHASE. Lead the buyer to `url`, which is open for 24 hours.',
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
      summary: 'Let somebody book',
      description:
        'A time of a ONE_TO_ONE is held for 10 minutes; lead the buyer to `url`. What costs nothing is booked at once.',
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
      description: 'What became of it. It never says who the buyer is.',
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
      summary: 'Simulate what a buyer does',
      description: 'In test mode: pays with a test card, is declined, or lets the time run out.',
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
