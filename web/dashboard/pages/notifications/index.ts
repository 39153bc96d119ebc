import { createRoute } from '@tanstack/react-router';
import { defineArea } from '../../app/area.ts';
import { lazyPage } from '../../app/lazy-page.ts';
import { workspaceRoute } from '../../app/routes.ts';
import { BellIcon } from '../../components/icons.tsx';

export interface NotificationFilters {
  unread?: true;
  type?: string;
}

const notificationsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/notifications',
  validateSearch: (search): NotificationFilters => ({
    ...(search.unread === true ? { unread: true } : {}),
    ...(typeof search.type === 'string' ? { type: search.type } : {}),
  }),
  component: lazyPage(() => import('./notifications-page.tsx'), 'NotificationsPage'),
});

export const notifications = defineArea({
  id: 'notifications',
  changes: 'own',
  label: { en: 'Notifications', de: 'Mitteilungen' },
  group: 'account',
  to: '/notifications',
  Icon: BellIcon,
  routes: [notificationsRoute],
});
