import { createRootRoute, createRoute, redirect } from '@tanstack/react-router';
import { currentSession } from './session.ts';

/** Above everything. Its frame and its not-found page are set in `router.tsx`. */
export const rootRoute = createRootRoute();

/** Parent of the pages that need no session. */
export const publicRoute = createRoute({ getParentRoute: () => rootRoute, id: 'public' });

/** Parent of all others: without a session it leads to the sign-in page, and from there back. */
export const workspaceRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'workspace',
  beforeLoad: ({ location }) => {
    const session = currentSession();
    if (session === null) throw redirect({ href: signInHref(location.href) });
    if (!session.user.emailVerified) throw redirect({ href: '/check-mail' });
  },
});

function signInHref(next: string): string {
  return next === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(next)}`;
}
