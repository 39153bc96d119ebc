import { createRoute } from '@tanstack/react-router';
import { defineArea } from '../../app/area.ts';
import { lazyPage } from '../../app/lazy-page.ts';
import { workspaceRoute } from '../../app/routes.ts';
import { KeyIcon } from '../../components/icons.tsx';

const keysRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/keys',
  validateSearch: (search): { show?: 'usable' } => (search.show === 'usable' ? { show: 'usable' } : {}),
  component: lazyPage(() => import('./keys-page.tsx'), 'KeysPage'),
});

const newKeyRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/keys/new',
  component: lazyPage(() => import('./new-key-page.tsx'), 'NewKeyPage'),
});

const welcomeRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/welcome',
  component: lazyPage(() => import('./welcome-page.tsx'), 'WelcomePage'),
});

export const keys = defineArea({
  id: 'keys',
  label: { en: 'API keys', de: 'API-Schlüssel' },
  group: 'developers',
  to: '/keys',
  Icon: KeyIcon,
  routes: [keysRoute, newKeyRoute, welcomeRoute],
  actions: [{ id: 'new-key', label: { en: 'Create API key', de: 'API-Schlüssel anlegen' }, to: '/keys/new' }],
});
