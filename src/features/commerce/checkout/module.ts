import { createSameOriginCheck } from '../../../http/same-origin.ts';
import type { Snapshots } from '../../../kernel/snapshots.ts';
import type { purchasableAt, StreamSnapshot, VideoSnapshot } from '../../audience/playback/index.ts';
import type { BookingSales } from '../../booking/bookings/index.ts';
import type { Domains } from '../../identity/domains/index.ts';
import type { Mailbox, MailCaps } from '../../integration/mail/index.ts';
import { type Declarations, type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { Videos } from '../../video/videos/index.ts';
import type { DiscountCodes } from '../discount-codes/index.ts';
import type { memberPath } from '../members/index.ts';
import type { CardService, PaymentEvents, Payments, STRIPE_PAGES, testCardOf } from '../payments/index.ts';
import type { Subscriptions } from '../subscriptions/index.ts';
import type { TierCapacity, Tiers } from '../tiers/index.ts';
import { buyPages } from './buy.pages.ts';
import { checkoutPages } from './checkout.pages.ts';
import { createCheckoutConsumers } from './consumers.ts';
import { checkoutEvents } from './events.ts';
import { createCheckoutPayments } from './pay.service.ts';
import type { CheckoutPorts } from './ports.ts';
import { checkoutRoutes } from './routes.ts';
import { type Checkouts, createCheckouts } from './service.ts';
import { createCheckoutSimulations } from './simulation.service.ts';

export { successUrl } from './rules.ts';

export const checkoutDeclarations: Declarations = { events: checkoutEvents };

interface CheckoutDeps
  extends Pick<Platform, 'caps' | 'clock' | 'config' | 'db' | 'events' | 'log' | 'secrets'> {
  bookingSales: BookingSales;
  cards: CardService;
  discountCodes: DiscountCodes;
  domains: Domains;
  mailCaps: MailCaps;
  mailbox: Mailbox;
  payment: PaymentEvents;
  payments: Payments;
  snapshots: { streams: Snapshots<StreamSnapshot>; videos: Snapshots<VideoSnapshot> };
  subscriptions: Subscriptions;
  tierCapacity: TierCapacity;
  tiers: Tiers;
  videos: Videos;
  purchasableAt: typeof purchasableAt;
  memberPath: typeof memberPath;
  /** Origins of the payment pages of providers. */
  providerPages: typeof STRIPE_PAGES;
  testCardOf: typeof testCardOf;
}

const SWEEP_MS = 15 * INTERVALS.second;

/** Builds the checkout of buyers. */
export function createCheckoutModule(deps: CheckoutDeps): FeatureModule & { checkouts: Checkouts } {
  const { config, clock, caps, secrets } = deps;
  const publicUrl = config.PUBLIC_URL;
  const ports = portsOf(deps);
  const checkouts = createCheckouts(ports);
  const checkoutPayments = createCheckoutPayments(ports);
  const simulations = createCheckoutSimulations({ checkouts, checkoutPayments });
  const isOwnOrigin = createSameOriginCheck(config);
  return {
    checkouts,
    routes: () => checkoutRoutes({ checkouts, simulations, mailCaps: deps.mailCaps, clock, publicUrl }),
    pages: ({ assets }) => [
      checkoutPages({
        ...{ ...ports, checkoutPayments, secrets, assets, isOwnOrigin, providerPages: deps.providerPages },
        counters: { window: caps },
        mailCaps: deps.mailCaps,
      }),
      buyPages({
        ...{ checkouts, assets, publicUrl },
        offeredAt: (id) => deps.purchasableAt(deps.snapshots, id),
        counters: { window: caps },
      }),
    ],
    consumers: createCheckoutConsumers(ports, deps.payment),
    tasks: () => [{ name: 'checkouts', everyMs: SWEEP_MS, run: () => checkoutPayments.sweep() }],
  };
}

function portsOf(deps: CheckoutDeps): CheckoutPorts {
  const { config, domains, tierCapacity: places, videos } = deps;
  const publicUrl = config.PUBLIC_URL;
  return {
    ...deps,
    bookings: deps.bookingSales,
    places,
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
    mayLeadTo: async (caller, url) => (await domains.refusal(caller, url)) === null,
  };
}
