import { createRoute } from '@tanstack/react-router';
import { defineArea } from '../../app/area.ts';
import { lazyPage } from '../../app/lazy-page.ts';
import { workspaceRoute } from '../../app/routes.ts';
import { FilmIcon } from '../../components/icons.tsx';
import { type VideosSearch, videosSearch } from './search.ts';

const videosRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/videos',
  validateSearch: (search): VideosSearch => videosSearch(search),
  component: lazyPage(() => import('./videos-page.tsx'), 'VideosPage'),
});

const videoRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/videos/$id',
  component: lazyPage(() => import('./video-page.tsx'), 'VideoPage'),
});

export const videos = defineArea({
  id: 'videos',
  changes: 'content',
  label: { en: 'Videos', de: 'Videos' },
  group: 'content',
  to: '/videos',
  Icon: FilmIcon,
  routes: [videosRoute, videoRoute],
  actions: [
    { id: 'import', label: { en: 'Import a video', de: 'Video importieren' }, to: '/videos?add=import' },
  ],
});
