import {
  createNotifications,
  createNotifier,
  notificationRoutes,
} from '../../features/notifications/index.ts';
import type { Noun } from '../core.ts';
import { EVERY } from '../part.ts';

export const notifications: Noun = {
  build(core) {
    const notifications = createNotifications(core);
    return {
      routes: () => notificationRoutes({ notifications, cursors: core.cursors }),
      tasks: () => [{ name: 'old notifications', everyMs: EVERY.hour, run: () => notifications.cleanUp() }],
      consumers: [createNotifier(core)],
    };
  },
};
