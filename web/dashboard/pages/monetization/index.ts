import { createRoute } from '@tanstack/react-router';
import { defineArea } from '../../app/area.ts';
import { lazyPage } from '../../app/lazy-page.ts';
import { workspaceRoute } from '../../app/routes.ts';
import { MoneyIcon } from '../../components/icons.tsx';
import { type FormSearch, formSearch } from './search.ts';

const tiersRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/monetization/tiers',
  validateSearch: (search): FormSearch => formSearch(search),
  component: lazyPage(() => import('./tiers-page.tsx'), 'TiersPage'),
});

const codesRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/monetization/codes',
  validateSearch: (search): FormSearch => formSearch(search),
  component: lazyPage(() => import('./codes-page.tsx'), 'CodesPage'),
});

export const monetization = defineArea({
  id: 'monetization',
  label: { en: 'Monetization', de: 'Einnahmen' },
  group: 'content',
  to: '/monetization/tiers',
  Icon: MoneyIcon,
  routes: [tiersRoute, codesRoute],
  actions: [
    { id: 'new-tier', label: { en: 'New tier', de: 'Neue Stufe' }, to: '/monetization/tiers?new=true' },
    {
      id: 'new-code',
      label: { en: 'New discount code', de: 'Neuer Rabattcode' },
      to: '/monetization/codes?new=true',
    },
  ],
});
