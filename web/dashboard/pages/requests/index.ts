import { createRoute } from '@tanstack/react-router';
import { defineArea } from '../../app/area.ts';
import { lazyPage } from '../../app/lazy-page.ts';
import { workspaceRoute } from '../../app/routes.ts';
import { RequestIcon } from '../../components/icons.tsx';

export interface RequestFilters {
  requestId?: string;
  path?: string;
  errors?: true;
}

const requestsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/requests',
  validateSearch: (search): RequestFilters => ({
    ...(typeof search.requestId === 'string' ? { requestId: search.requestId } : {}),
    ...(typeof search.path === 'string' ? { path: search.path } : {}),
    ...(search.errors === true ? { errors: true } : {}),
  }),
  component: lazyPage(() => import('./requests-page.tsx'), 'RequestsPage'),
});

export const requests = defineArea({
  id: 'requests',
  changes: 'own',
  label: { en: 'Requests', de: 'Anfragen' },
  group: 'developers',
  to: '/requests',
  Icon: RequestIcon,
  routes: [requestsRoute],
});
