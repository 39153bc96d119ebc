import { createRoute } from '@tanstack/react-router';
import { defineArea } from '../../app/area.ts';
import { lazyPage } from '../../app/lazy-page.ts';
import { workspaceRoute } from '../../app/routes.ts';
import { MailIcon } from '../../components/icons.tsx';

const mailboxRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/mailbox',
  component: lazyPage(() => import('./mailbox-page.tsx'), 'MailboxPage'),
});

const mailRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/mailbox/$mailId',
  component: lazyPage(() => import('./mail-page.tsx'), 'MailPage'),
});

export const mailbox = defineArea({
  id: 'mailbox',
  changes: 'own',
  label: { en: 'Mailbox', de: 'Postfach' },
  group: 'developers',
  to: '/mailbox',
  needs: 'mailbox',
  Icon: MailIcon,
  routes: [mailboxRoute, mailRoute],
});
