import {
  createNotifications,
  createNotifier,
  notificationRoutes,
} from '../../features/integration/notifications/index.ts';
import type { OptionalModule } from '../core.ts';
import { INTERVALS } from '../feature-module.ts';

export const notifications: OptionalModule = {
  build(core) {
    const notifications = createNotifications(core);
    return {
      routes: () => notificationRoutes({ notifications, cursors: core.cursors }),
      tasks: () => [
        { name: 'old notifications', everyMs: INTERVALS.hour, run: () => notifications.cleanUp() },
      ],
      consumers: [createNotifier(core)],
    };
  },
};
