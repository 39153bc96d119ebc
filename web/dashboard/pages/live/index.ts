import { createRoute } from '@tanstack/react-router';
import { defineArea } from '../../app/area.ts';
import { lazyPage } from '../../app/lazy-page.ts';
import { workspaceRoute } from '../../app/routes.ts';
import { BroadcastIcon } from '../../components/icons.tsx';
import { type StreamsSearch, type StreamTab, streamsSearch, streamTab } from './search.ts';

const streamsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/live',
  validateSearch: (search): StreamsSearch => streamsSearch(search),
  component: lazyPage(() => import('./streams-page.tsx'), 'StreamsPage'),
});

const streamRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/live/$id',
  validateSearch: (search): { tab?: StreamTab } => streamTab(search),
  component: lazyPage(() => import('./stream-page.tsx'), 'StreamPage'),
});

export const live = defineArea({
  id: 'live',
  changes: 'content',
  label: { en: 'Live', de: 'Live' },
  group: 'content',
  to: '/live',
  Icon: BroadcastIcon,
  routes: [streamsRoute, streamRoute],
  actions: [{ id: 'new', label: { en: 'New stream', de: 'Neuer Stream' }, to: '/live?new=true' }],
});
