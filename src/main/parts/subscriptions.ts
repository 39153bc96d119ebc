import { memberPath } from '../../features/commerce/members/index.ts';
import type { CardService, PaymentEvents, Payments } from '../../features/commerce/payments/index.ts';
import {
  createSimulations,
  createSubscriptionConsumers,
  createSubscriptions,
  type Subscriptions,
  subscriptionRoutes,
} from '../../features/commerce/subscriptions/index.ts';
import { type TierCapacity, tierUpdated } from '../../features/commerce/tiers/index.ts';
import type { Mailbox, MailCaps } from '../../features/integration/mail/index.ts';
import { INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

interface Needs extends BaseContext {
  mailbox: Mailbox;
  mailCaps: MailCaps;
  payments: Payments;
  payment: PaymentEvents;
  cards: CardService;
  tierPlaces: TierCapacity;
}

/** Builds the subscriptions of members to tiers, and their renewals. */
export function subscriptionsPart(needs: Needs): ModuleWithExports<{ subscriptions: Subscriptions }> {
  const { config, cursors, payments, payment, cards } = needs;
  const publicUrl = config.PUBLIC_URL;
  const subscriptions = createSubscriptions({
    ...needs,
    places: needs.tierPlaces,
    memberPage: (creator) => `${publicUrl}${memberPath(creator)}`,
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
    exports: { subscriptions },
    module: {
      routes: () => subscriptionRoutes({ subscriptions, simulations, cursors }),
      consumers: createSubscriptionConsumers({ subscriptions, payment, tierUpdated }),
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
    },
  };
}
