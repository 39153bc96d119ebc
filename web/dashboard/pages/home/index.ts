import { createRoute } from '@tanstack/react-router';
import { defineArea } from '../../app/area.ts';
import { lazyPage } from '../../app/lazy-page.ts';
import { workspaceRoute } from '../../app/routes.ts';
import { HomeIcon } from '../../components/icons.tsx';

const homeRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/',
  component: lazyPage(() => import('./home-page.tsx'), 'HomePage'),
});

export const home = defineArea({
  id: 'home',
  changes: 'own',
  label: { en: 'Home', de: 'Start' },
  group: 'content',
  to: '/',
  Icon: HomeIcon,
  routes: [homeRoute],
});
