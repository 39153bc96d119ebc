import { createRoute } from '@tanstack/react-router';
import { defineArea } from '../../app/area.ts';
import { lazyPage } from '../../app/lazy-page.ts';
import { workspaceRoute } from '../../app/routes.ts';
import { EventIcon } from '../../components/icons.tsx';

const eventsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/events',
  validateSearch: (search): { type?: string } =>
    typeof search.type === 'string' ? { type: search.type } : {},
  component: lazyPage(() => import('./events-page.tsx'), 'EventsPage'),
});

export const events = defineArea({
  id: 'events',
  changes: 'own',
  label: { en: 'Events', de: 'Ereignisse' },
  group: 'developers',
  to: '/events',
  Icon: EventIcon,
  routes: [eventsRoute],
});
