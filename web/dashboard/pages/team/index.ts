import { createRoute } from '@tanstack/react-router';
import { defineArea } from '../../app/area.ts';
import { lazyPage } from '../../app/lazy-page.ts';
import { publicRoute, workspaceRoute } from '../../app/routes.ts';
import { RoomsIcon } from '../../components/icons.tsx';

const teamRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/team',
  component: lazyPage(() => import('./team-page.tsx'), 'TeamPage'),
});

/** Path in the invitation email; its reader may have no account yet. */
const invitationRoute = createRoute({
  getParentRoute: () => publicRoute,
  path: '/invitations/$token',
  component: lazyPage(() => import('./invitation-page.tsx'), 'InvitationPage'),
});

export const team = defineArea({
  id: 'team',
  changes: 'own',
  label: { en: 'Team', de: 'Team' },
  group: 'account',
  to: '/team',
  Icon: RoomsIcon,
  routes: [teamRoute, invitationRoute],
});
