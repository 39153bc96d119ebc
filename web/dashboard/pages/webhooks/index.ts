import { createRoute } from '@tanstack/react-router';
import { defineArea } from '../../app/area.ts';
import { lazyPage } from '../../app/lazy-page.ts';
import { workspaceRoute } from '../../app/routes.ts';
import { WebhookIcon } from '../../components/icons.tsx';
import { TABS, type Tab } from './tabs.ts';

const webhooksRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/webhooks',
  component: lazyPage(() => import('./webhooks-page.tsx'), 'WebhooksPage'),
});

const newWebhookRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/webhooks/new',
  component: lazyPage(() => import('./new-webhook-page.tsx'), 'NewWebhookPage'),
});

const webhookRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/webhooks/$webhookId',
  validateSearch: (search): { tab?: Tab; failed?: true; eventId?: string } => {
    const tab = TABS.find((name) => name === search.tab);
    return {
      ...(tab === undefined ? {} : { tab }),
      ...(search.failed === true ? { failed: true } : {}),
      ...(typeof search.eventId === 'string' ? { eventId: search.eventId } : {}),
    };
  },
  component: lazyPage(() => import('./webhook-page.tsx'), 'WebhookPage'),
});

export const webhooks = defineArea({
  id: 'webhooks',
  label: { en: 'Webhooks', de: 'Webhooks' },
  group: 'developers',
  to: '/webhooks',
  Icon: WebhookIcon,
  routes: [webhooksRoute, newWebhookRoute, webhookRoute],
  actions: [
    { id: 'new-webhook', label: { en: 'Add a webhook', de: 'Webhook anlegen' }, to: '/webhooks/new' },
  ],
});
