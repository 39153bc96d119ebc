import { createRoute } from '@tanstack/react-router';
import { defineArea } from '../../app/area.ts';
import { lazyPage } from '../../app/lazy-page.ts';
import { workspaceRoute } from '../../app/routes.ts';
import { DomainIcon } from '../../components/icons.tsx';

const domainsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/domains',
  component: lazyPage(() => import('./domains-page.tsx'), 'DomainsPage'),
});

export const domains = defineArea({
  id: 'domains',
  label: { en: 'Domains', de: 'Domains' },
  group: 'developers',
  to: '/domains',
  Icon: DomainIcon,
  routes: [domainsRoute],
});
