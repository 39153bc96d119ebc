import { createRoute } from '@tanstack/react-router';
import { defineArea } from '../../app/area.ts';
import { lazyPage } from '../../app/lazy-page.ts';
import { workspaceRoute } from '../../app/routes.ts';
import { MoneyIcon } from '../../components/icons.tsx';
import {
  type FormSearch,
  formSearch,
  type MembersSearch,
  membersSearch,
  type PaymentsSearch,
  type PayoutsSearch,
  paymentsSearch,
  payoutsSearch,
  type RevenueSearch,
  revenueSearch,
  type SalesSearch,
  salesSearch,
} from './search.ts';

const revenueRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/monetization',
  validateSearch: (search): RevenueSearch => revenueSearch(search),
  component: lazyPage(() => import('./revenue-page.tsx'), 'RevenuePage'),
});

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

const membersRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/monetization/members',
  validateSearch: (search): MembersSearch => membersSearch(search),
  component: lazyPage(() => import('./members-page.tsx'), 'MembersPage'),
});

const salesRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/monetization/sales',
  validateSearch: (search): SalesSearch => salesSearch(search),
  component: lazyPage(() => import('./sales-page.tsx'), 'SalesPage'),
});

const paymentsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/monetization/payments',
  validateSearch: (search): PaymentsSearch => paymentsSearch(search),
  component: lazyPage(() => import('./payments-page.tsx'), 'PaymentsPage'),
});

const payoutsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/monetization/payouts',
  validateSearch: (search): PayoutsSearch => payoutsSearch(search),
  component: lazyPage(() => import('./payouts-page.tsx'), 'PayoutsPage'),
});

export const monetization = defineArea({
  id: 'monetization',
  needs: 'finance',
  label: { en: 'Monetization', de: 'Einnahmen' },
  group: 'content',
  to: '/monetization',
  Icon: MoneyIcon,
  routes: [revenueRoute, tiersRoute, codesRoute, membersRoute, salesRoute, paymentsRoute, payoutsRoute],
  actions: [
    { id: 'new-tier', label: { en: 'New tier', de: 'Neue Stufe' }, to: '/monetization/tiers?new=true' },
    {
      id: 'new-code',
      label: { en: 'New discount code', de: 'Neuer Rabattcode' },
      to: '/monetization/codes?new=true',
    },
  ],
});
