import { createRoute, createRouter } from '@tanstack/react-router';
import { PageSkeleton } from '../components/skeletons.tsx';
import { areas } from './areas.ts';
import { NotFoundPage } from './not-found-page.tsx';
import { PageFailed } from './page-failed.tsx';
import { PublicFrame } from './public-frame.tsx';
import { publicRoute, rootRoute, workspaceRoute } from './routes.ts';
import { Shell } from './shell.tsx';

publicRoute.update({ component: PublicFrame });
workspaceRoute.update({ component: Shell });

const routes = areas.flatMap((area) => [...area.routes]);
const isPublic = (route: (typeof routes)[number]) => route.options.getParentRoute() === publicRoute;

/** Route of unknown paths, inside the frame. */
const missingRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '$',
  component: NotFoundPage,
});

const routeTree = rootRoute.addChildren([
  publicRoute.addChildren(routes.filter(isPublic)),
  workspaceRoute.addChildren([...routes.filter((route) => !isPublic(route)), missingRoute]),
]);

export const router = createRouter({
  routeTree,
  basepath: '/dashboard',
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultPendingComponent: PageSkeleton,
  defaultNotFoundComponent: NotFoundPage,
  defaultErrorComponent: PageFailed,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
