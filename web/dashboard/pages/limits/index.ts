import { createRoute } from '@tanstack/react-router';
import { defineArea } from '../../app/area.ts';
import { lazyPage } from '../../app/lazy-page.ts';
import { workspaceRoute } from '../../app/routes.ts';
import { GaugeIcon } from '../../components/icons.tsx';

const limitsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/limits',
  component: lazyPage(() => import('./limits-page.tsx'), 'LimitsPage'),
});

export const limits = defineArea({
  id: 'limits',
  changes: 'own',
  label: { en: 'Usage', de: 'Nutzung' },
  group: 'developers',
  to: '/limits',
  Icon: GaugeIcon,
  routes: [limitsRoute],
});
