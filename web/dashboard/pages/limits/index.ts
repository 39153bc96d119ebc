import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { defineArea } from '../../app/area.ts';
import { workspaceRoute } from '../../app/routes.ts';
import { GaugeIcon } from '../../components/icons.tsx';

const limitsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/limits',
  component: lazyRouteComponent(() => import('./limits-page.tsx'), 'LimitsPage'),
});

export const limits = defineArea({
  id: 'limits',
  label: { en: 'Limits', de: 'Grenzen' },
  group: 'developers',
  to: '/limits',
  Icon: GaugeIcon,
  routes: [limitsRoute],
});
