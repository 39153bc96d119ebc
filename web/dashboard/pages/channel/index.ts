import { createRoute } from '@tanstack/react-router';
import { defineArea } from '../../app/area.ts';
import { lazyPage } from '../../app/lazy-page.ts';
import { workspaceRoute } from '../../app/routes.ts';
import { ChannelIcon } from '../../components/icons.tsx';

const channelRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/channel',
  component: lazyPage(() => import('./channel-page.tsx'), 'ChannelPage'),
});

export const channel = defineArea({
  id: 'channel',
  label: { en: 'Channel', de: 'Kanal' },
  group: 'content',
  to: '/channel',
  Icon: ChannelIcon,
  routes: [channelRoute],
});
