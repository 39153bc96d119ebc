import type { Mailbox, MailCaps } from '../../integration/mail/index.ts';
import { type Declarations, type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { memberPath } from '../members/index.ts';
import type { CardService, PaymentEvents, Payments } from '../payments/index.ts';
import type { TierCapacity, tierUpdated } from '../tiers/index.ts';
import { createSubscriptionConsumers } from './consumers.ts';
import { subscriptionEvents } from './events.ts';
import { subscriptionRoutes } from './routes.ts';
import { createSubscriptions, type Subscriptions } from './service.ts';
import { createSimulations } from './simulation.service.ts';

export { memberChanges, membersAt } from './metrics.repository.ts';

export const subscriptionsDeclarations: Declarations = { events: subscriptionEvents };

interface SubscriptionsDeps extends Pick<Platform, 'clock' | 'config' | 'cursors' | 'db' | 'events' | 'log'> {
  cards: CardService;
  mailCaps: MailCaps;
  mailbox: Mailbox;
  payment: PaymentEvents;
  payments: Payments;
  tierCapacity: TierCapacity;
  memberPath: typeof memberPath;
  tierUpdated: typeof tierUpdated;
}

/** Builds the subscriptions of members to tiers, and their renewals. */
export function createSubscriptionsModule(
  deps: SubscriptionsDeps,
): FeatureModule & { subscriptions: Subscriptions } {
  const { config, cursors, payments, payment, cards } = deps;
  const publicUrl = config.PUBLIC_URL;
  const subscriptions = createSubscriptions({
    ...deps,
    places: deps.tierCapacity,
    memberPage: (creator) => `${publicUrl}${deps.memberPath(creator)}`,
    publicUrl,
  });
  const simulations = createSimulations({
    subscriptions,
    async dispute(workspaceId, purchaseId, step) {
      await cards.dispute(workspaceId, purchaseId, step);
      await payments.hints.run();
    },
  });
  return {
    subscriptions,
    routes: () => subscriptionRoutes({ subscriptions, simulations, cursors }),
    consumers: createSubscriptionConsumers({ subscriptions, payment, tierUpdated: deps.tierUpdated }),
    tasks: () => [
      {
        name: 'subscriptions',
        everyMs: INTERVALS.minute,
        // Told before it happens.
        run: async () => {
          await subscriptions.letters.send();
          await subscriptions.renewals.renewDue();
        },
      },
    ],
  };
}
