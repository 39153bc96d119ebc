import { type EventConsumer, on } from '../../../events/index.ts';
import type { PaymentEvents } from '../payments/index.ts';
import type { tierUpdated } from '../tiers/index.ts';
import type { Subscriptions } from './service.ts';

interface Deps {
  subscriptions: Subscriptions;
  payment: PaymentEvents;
  tierUpdated: typeof tierUpdated;
}

/** Creates the consumers of payment results, and of prices that apply to existing members. */
export function createSubscriptionConsumers({ subscriptions, payment, tierUpdated }: Deps): EventConsumer[] {
  const { outcomes } = subscriptions;
  return [
    on(payment.succeeded, (tx, { data }, append) => outcomes.succeeded({ tx, append }, data)),
    on(payment.failed, (tx, { data }, append) => outcomes.failed({ tx, append }, data)),
    on(payment.refunded, (tx, { data }, append) => outcomes.refunded({ tx, append }, data)),
    on(payment.disputed, (tx, { data }, append) => outcomes.disputed({ tx, append }, data)),
    on(payment.disputeClosed, (tx, { data }, append) => outcomes.disputeClosed({ tx, append }, data)),
    on(tierUpdated, async (tx, { workspaceId, data }, append) => {
      if (!data.migrateExisting) return;
      await subscriptions.migratePrice({ tx, append }, workspaceId, data.tierId);
    }),
  ];
}
