import { createRoute, redirect } from '@tanstack/react-router';
import { defineArea } from '../../app/area.ts';
import { lazyPage } from '../../app/lazy-page.ts';
import { publicRoute } from '../../app/routes.ts';
import { currentSession } from '../../app/session.ts';

/** Returns the path to open after the sign-in; only paths of the dashboard are accepted. */
function nextOf(search: Record<string, unknown>): { next?: string | undefined } {
  const { next } = search;
  return typeof next === 'string' && /^\/(?![/\\])/.test(next) ? { next } : { next: undefined };
}

/** Returns the public page that sent the visitor here, if it is one that offers to follow. */
function backOf({ back }: Record<string, unknown>): { back?: string } {
  return typeof back === 'string' && /^\/(?:@[a-z0-9_-]+|watch\/\w+)$/.test(back) ? { back } : {};
}

function leaveWhenSignedIn({ search }: { search: { next?: string | undefined } }): void {
  const session = currentSession();
  if (session === null) return;
  throw redirect({ href: session.user.emailVerified ? (search.next ?? '/') : '/check-mail' });
}

const signInRoute = createRoute({
  getParentRoute: () => publicRoute,
  path: '/sign-in',
  validateSearch: (search): { next?: string | undefined; back?: string } => ({
    ...nextOf(search),
    ...backOf(search),
  }),
  beforeLoad: leaveWhenSignedIn,
  component: lazyPage(() => import('./sign-in-page.tsx'), 'SignInPage'),
});

const signUpRoute = createRoute({
  getParentRoute: () => publicRoute,
  path: '/sign-up',
  validateSearch: (search): { next?: string | undefined; invite?: string; email?: string } => ({
    ...nextOf(search),
    ...(typeof search.invite === 'string' ? { invite: search.invite } : {}),
    ...(typeof search.email === 'string' ? { email: search.email } : {}),
  }),
  beforeLoad: leaveWhenSignedIn,
  component: lazyPage(() => import('./sign-up-page.tsx'), 'SignUpPage'),
});

const checkMailRoute = createRoute({
  getParentRoute: () => publicRoute,
  path: '/check-mail',
  beforeLoad: () => {
    const session = currentSession();
    if (session === null) throw redirect({ href: '/sign-in' });
    if (session.user.emailVerified) throw redirect({ href: '/' });
  },
  component: lazyPage(() => import('./check-mail-page.tsx'), 'CheckMailPage'),
});

export const auth = defineArea({
  id: 'auth',
  changes: 'own',
  label: { en: 'Sign in', de: 'Anmelden' },
  routes: [signInRoute, signUpRoute, checkMailRoute],
});
