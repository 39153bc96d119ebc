import {
  purchasableAt,
  type Snapshots,
  type StreamSnapshot,
  type VideoSnapshot,
} from '../../features/audience/playback/index.ts';
import type { BookingSales } from '../../features/booking/bookings/index.ts';
import {
  buyPages,
  type CheckoutPayments,
  type CheckoutPorts,
  type Checkouts,
  checkoutPages,
  checkoutRoutes,
  createCheckoutConsumers,
  createCheckoutPayments,
  createCheckoutSimulations,
  createCheckouts,
} from '../../features/commerce/checkout/index.ts';
import type { DiscountCodes } from '../../features/commerce/discount-codes/index.ts';
import { memberPath } from '../../features/commerce/members/index.ts';
import {
  type CardService,
  type PaymentEvents,
  type Payments,
  STRIPE_PAGES,
  testCardOf,
} from '../../features/commerce/payments/index.ts';
import type { Subscriptions } from '../../features/commerce/subscriptions/index.ts';
import type { TierCapacity, Tiers } from '../../features/commerce/tiers/index.ts';
import type { Domains } from '../../features/identity/domains/index.ts';
import type { Mailbox, MailCaps } from '../../features/integration/mail/index.ts';
import type { Videos } from '../../features/video/videos/index.ts';
import { createSameOriginCheck } from '../../http/same-origin.ts';
import { INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

interface Needs extends BaseContext {
  bookingSales: BookingSales;
  cards: CardService;
  discountCodes: DiscountCodes;
  domains: Domains;
  mailbox: Mailbox;
  mailCaps: MailCaps;
  payment: PaymentEvents;
  payments: Payments;
  snapshots: { streams: Snapshots<StreamSnapshot>; videos: Snapshots<VideoSnapshot> };
  subscriptions: Subscriptions;
  tierPlaces: TierCapacity;
  tiers: Tiers;
  videos: Videos;
}

const SWEEP_MS = 15 * INTERVALS.second;

/** Builds the checkout of buyers. */
export function checkoutPart(
  needs: Needs,
): ModuleWithExports<{ checkouts: Checkouts; checkoutPayments: CheckoutPayments }> {
  const { config, clock, caps, secrets } = needs;
  const publicUrl = config.PUBLIC_URL;
  const ports = portsOf(needs);
  const checkouts = createCheckouts(ports);
  const checkoutPayments = createCheckoutPayments(ports);
  const simulations = createCheckoutSimulations({ checkouts, checkoutPayments });
  const isOwnOrigin = createSameOriginCheck(config);
  return {
    exports: { checkouts, checkoutPayments },
    module: {
      routes: () => checkoutRoutes({ checkouts, simulations, mailCaps: needs.mailCaps, clock, publicUrl }),
      pages: ({ assets }) => [
        checkoutPages({
          ...{ ...ports, checkoutPayments, secrets, assets, isOwnOrigin, providerPages: STRIPE_PAGES },
          counters: { window: caps },
          mailCaps: needs.mailCaps,
        }),
        buyPages({
          ...{ checkouts, assets, publicUrl },
          offeredAt: (id) => purchasableAt(needs.snapshots, id),
          counters: { window: caps },
        }),
      ],
      consumers: createCheckoutConsumers(ports, needs.payment),
      tasks: () => [{ name: 'checkouts', everyMs: SWEEP_MS, run: () => checkoutPayments.sweep() }],
    },
  };
}

function portsOf(needs: Needs): CheckoutPorts {
  const { config, domains, tierPlaces: places, videos } = needs;
  const publicUrl = config.PUBLIC_URL;
  return {
    ...needs,
    bookings: needs.bookingSales,
    places,
    testCardOf,
    publicUrl,
    async videoOf(workspaceId, id) {
      const {
        title,
        visibility,
        price_cents: price,
        taken_down_at: goneAt,
      } = await videos.get(workspaceId, id);
      return { title, priceCents: visibility === 'PURCHASE' && goneAt === null ? price : null };
    },
    memberPath,
    mayLeadTo: async (caller, url) => (await domains.refusal(caller, url)) === null,
  };
}
