/**
 * Notifications of an account, in its list and by email. Terminology: a *channel* is a delivery path: in-app
 * (the list of the API) or email; a *notice* is the text of an event for a person, before the preferences
 * select its channels.
 */
import { type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { Mailbox } from '../mail/index.ts';
import { createNotifier } from './consumers.ts';
import { notificationRoutes } from './routes.ts';
import { createNotifications } from './service.ts';

interface NotificationsDeps extends Pick<Platform, 'catalogue' | 'clock' | 'config' | 'cursors' | 'db'> {
  mailbox: Mailbox;
}

export function createNotificationsModule(deps: NotificationsDeps): FeatureModule {
  const notifications = createNotifications(deps);
  return {
    routes: () => notificationRoutes({ notifications, cursors: deps.cursors }),
    tasks: () => [
      { name: 'notification cleanup', everyMs: INTERVALS.hour, run: () => notifications.cleanUp() },
    ],
    consumers: [createNotifier(deps)],
  };
}
