import { createRoute } from '@tanstack/react-router';
import { defineArea } from '../../app/area.ts';
import { lazyPage } from '../../app/lazy-page.ts';
import { workspaceRoute } from '../../app/routes.ts';
import { ChartIcon } from '../../components/icons.tsx';
import { type AnalyticsSearch, analyticsSearch, type StreamSearch, streamSearch } from './search.ts';

const overviewRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/analytics',
  validateSearch: (search): AnalyticsSearch => analyticsSearch(search),
  component: lazyPage(() => import('./overview-page.tsx'), 'OverviewPage'),
});

const videoRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/analytics/videos/$id',
  validateSearch: (search): AnalyticsSearch => analyticsSearch(search),
  component: lazyPage(() => import('./video-page.tsx'), 'VideoPage'),
});

const streamRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/analytics/streams/$id',
  validateSearch: (search): StreamSearch => streamSearch(search),
  component: lazyPage(() => import('./stream-page.tsx'), 'StreamPage'),
});

export const analytics = defineArea({
  id: 'analytics',
  changes: 'own',
  label: { en: 'Analytics', de: 'Statistik' },
  group: 'content',
  to: '/analytics',
  Icon: ChartIcon,
  routes: [overviewRoute, videoRoute, streamRoute],
});
