import type { Mailbox, MailCaps } from '../../integration/mail/index.ts';
import { type Declarations, type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import { subscriberEvents } from './events.ts';
import { createLinks } from './links.ts';
import { subscriberRoutes } from './routes.ts';
import { createSubscribers, type Subscribers } from './service.ts';
import { subscriberPages } from './subscriber.pages.ts';

interface SubscribersDeps
  extends Pick<Platform, 'clock' | 'config' | 'cursors' | 'db' | 'events' | 'secrets'> {
  mailCaps: MailCaps;
  mailbox: Mailbox;
}

export const subscribersDeclarations: Declarations = { events: subscriberEvents };

export function createSubscribersModule(deps: SubscribersDeps): FeatureModule & { subscribers: Subscribers } {
  const { cursors, config } = deps;
  const links = createLinks({ ...deps, publicUrl: config.PUBLIC_URL });
  const subscribers = createSubscribers({ ...deps, links });
  return {
    subscribers,
    routes: () => subscriberRoutes({ subscribers, cursors }),
    pages: ({ assets }) => [subscriberPages({ subscribers, assets })],
    tasks: () => [
      { name: 'unconfirmed subscribers', everyMs: INTERVALS.hour, run: () => subscribers.cleanUp() },
    ],
  };
}
