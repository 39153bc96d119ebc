import { createRoute } from '@tanstack/react-router';
import { defineArea } from '../../app/area.ts';
import { lazyPage } from '../../app/lazy-page.ts';
import { workspaceRoute } from '../../app/routes.ts';
import { CalendarIcon } from '../../components/icons.tsx';
import {
  type BookingsSearch,
  bookingsSearch,
  type NewSearch,
  newSearch,
  type ProductsSearch,
  productsSearch,
} from './search.ts';

const bookingsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/booking',
  validateSearch: (search): BookingsSearch => bookingsSearch(search),
  component: lazyPage(() => import('./bookings-page.tsx'), 'BookingsPage'),
});

const productsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/booking/products',
  validateSearch: (search): ProductsSearch => productsSearch(search),
  component: lazyPage(() => import('./products-page.tsx'), 'ProductsPage'),
});

const productRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/booking/products/$id',
  validateSearch: (search): NewSearch => newSearch(search),
  component: lazyPage(() => import('./product-page.tsx'), 'ProductPage'),
});

const cohortRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/booking/cohorts/$id',
  component: lazyPage(() => import('./cohort-page.tsx'), 'CohortPage'),
});

const availabilityRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/booking/availability',
  component: lazyPage(() => import('./availability-page.tsx'), 'AvailabilityPage'),
});

export const booking = defineArea({
  id: 'booking',
  label: { en: 'Booking', de: 'Buchungen' },
  group: 'content',
  to: '/booking',
  Icon: CalendarIcon,
  routes: [bookingsRoute, productsRoute, productRoute, cohortRoute, availabilityRoute],
  actions: [
    {
      id: 'new-product',
      label: { en: 'New booking product', de: 'Neues Angebot' },
      to: '/booking/products?new=true',
    },
    {
      id: 'availability',
      label: { en: 'Availability', de: 'Wann du Zeit hast' },
      to: '/booking/availability',
    },
  ],
});
