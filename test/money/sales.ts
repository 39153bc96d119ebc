import type { EventConsumer, Events } from '../../src/events/index.ts';
import { createCheckoutConsumers } from '../../src/features/commerce/checkout/consumers.ts';
import { createCheckoutPayments } from '../../src/features/commerce/checkout/pay.service.ts';
import { createCheckouts } from '../../src/features/commerce/checkout/service.ts';
import { createDiscountCodes } from '../../src/features/commerce/discount-codes/service.ts';
import { memberPath } from '../../src/features/commerce/members/service.ts';
import {
  paymentDisputeClosed,
  paymentDisputed,
  paymentFailed,
  paymentRefunded,
  paymentSucceeded,
} from '../../src/features/commerce/payments/events.ts';
import type { CardService, Payments } from '../../src/features/commerce/payments/index.ts';
import { testCardOf } from '../../src/features/commerce/payments/providers/sandbox/cards.ts';
import { createSubscriptionConsumers } from '../../src/features/commerce/subscriptions/consumers.ts';
import { createSubscriptions } from '../../src/features/commerce/subscriptions/service.ts';
import { tierUpdated } from '../../src/features/commerce/tiers/events.ts';
import { createTiers, tierCapacity } from '../../src/features/commerce/tiers/service.ts';
import { notFound } from '../../src/kernel/errors.ts';
import type { TestClock } from '../harness/clock.ts';
import type { TestDatabase } from '../harness/database.ts';

const payment = {
  succeeded: paymentSucceeded,
  failed: paymentFailed,
  refunded: paymentRefunded,
  disputed: paymentDisputed,
  disputeClosed: paymentDisputeClosed,
};

interface Deps {
  database: TestDatabase;
  clock: TestClock;
  events: Events;
  payments: Payments;
  cards: CardService;
  log: { warn(...said: unknown[]): void };
}

const unasked = () => Promise.reject(new Error('no test asks for this'));

/** Bookings have separate sequences. */
const bookings = {
  offer: unasked,
  make: unasked,
  claim: unasked,
  release: unasked,
  isPending: unasked,
  reprice: unasked,
  confirm: unasked,
  expire: unasked,
  holdOf: unasked,
};

export type Sales = ReturnType<typeof createSales>;

/** Tiers, codes, checkouts and subscriptions, wired as the program wires them. */
export function createSales({ database: { db }, clock, events, payments, cards, log }: Deps) {
  const publicUrl = 'http://marquee.test';
  const mailbox = { enqueue: () => Promise.resolve() };
  const mailCaps = { mayMail: () => Promise.resolve(true) };
  const base = { db, clock, events, payments, log, mailbox, mailCaps, publicUrl, places: tierCapacity };
  const owners = { creatorOf: unasked, creatorNamed: unasked, workspaceOf: unasked, ownerOf: unasked };
  const tiers = createTiers({ ...base, ...owners });
  const codes = createDiscountCodes({ ...base, hasProduct: unasked });
  const memberPage = () => publicUrl;
  const subscriptions = createSubscriptions({ ...base, memberPage });
  const ports = {
    ...{ ...base, bookings, discountCodes: codes, memberPath, subscriptions, testCardOf, tiers },
    cards,
    async videoOf(workspaceId: string, id: string) {
      const row = await db
        .selectFrom('video')
        .select(['title', 'visibility', 'price_cents'])
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .executeTakeFirst();
      if (row === undefined) throw notFound();
      return { title: row.title, priceCents: row.visibility === 'PURCHASE' ? row.price_cents : null };
    },
    mayLeadTo: () => Promise.resolve(true),
  };
  const consumers: EventConsumer[] = [
    ...createSubscriptionConsumers({ subscriptions, payment, tierUpdated }),
    ...createCheckoutConsumers(ports, payment),
  ];
  return {
    tiers,
    codes,
    subscriptions,
    cards,
    checkouts: createCheckouts(ports),
    checkoutPayments: createCheckoutPayments(ports),
    consumers,
  };
}
