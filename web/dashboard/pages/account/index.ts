import { createRoute } from '@tanstack/react-router';
import { defineArea } from '../../app/area.ts';
import { lazyPage } from '../../app/lazy-page.ts';
import { workspaceRoute } from '../../app/routes.ts';
import { UserIcon } from '../../components/icons.tsx';

const accountRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/account',
  component: lazyPage(() => import('./account-page.tsx'), 'AccountPage'),
});

export const account = defineArea({
  id: 'account',
  changes: 'own',
  label: { en: 'Settings', de: 'Einstellungen' },
  group: 'account',
  to: '/account',
  Icon: UserIcon,
  routes: [accountRoute],
});
