import { createRoute } from '@tanstack/react-router';
import { defineArea } from '../../app/area.ts';
import { lazyPage } from '../../app/lazy-page.ts';
import { workspaceRoute } from '../../app/routes.ts';
import { RoomsIcon } from '../../components/icons.tsx';
import { type RoomsSearch, roomsSearch } from './search.ts';

const roomsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/rooms',
  validateSearch: (search): RoomsSearch => roomsSearch(search),
  component: lazyPage(() => import('./rooms-page.tsx'), 'RoomsPage'),
});

const roomRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/rooms/$id',
  component: lazyPage(() => import('./room-page.tsx'), 'RoomPage'),
});

export const rooms = defineArea({
  id: 'rooms',
  changes: 'content',
  label: { en: 'Rooms', de: 'Räume' },
  group: 'content',
  to: '/rooms',
  Icon: RoomsIcon,
  routes: [roomsRoute, roomRoute],
  actions: [{ id: 'new', label: { en: 'New room', de: 'Neuer Raum' }, to: '/rooms?new=true' }],
});
