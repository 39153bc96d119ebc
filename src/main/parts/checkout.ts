import type { BookingSales } from '../../features/bookings/index.ts';
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
} from '../../features/checkout/index.ts';
import type { DiscountCodes } from '../../features/discount-codes/index.ts';
import type { Domains } from '../../features/domains/index.ts';
import type { Mailbox, MailCaps } from '../../features/mail/index.ts';
import { memberPath } from '../../features/members/index.ts';
import {
  type CardService,
  type PaymentEvents,
  type Payments,
  STRIPE_PAGES,
  testCardOf,
} from '../../features/payments/index.ts';
import {
  type Snapshots,
  type StreamSnapshot,
  purchasableAt,
  type VideoSnapshot,
} from '../../features/playback/index.ts';
import type { Subscriptions } from '../../features/subscriptions/index.ts';
import type { TierCapacity, Tiers } from '../../features/tiers/index.ts';
import type { Videos } from '../../features/videos/index.ts';
import { createSameOriginCheck } from '../../http/own-origin.ts';
import { type ModuleWithExports, INTERVALS } from '../part.ts';
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

/** What buyers pay by. */
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
