import {
  createLinks,
  createSubscribers,
  subscriberEvents,
  subscriberPages,
  subscriberRoutes,
} from '../../features/audience/subscribers/index.ts';
import type { OptionalModule } from '../core.ts';
import { INTERVALS } from '../feature-module.ts';

export const subscribers: OptionalModule = {
  events: subscriberEvents,
  build(core) {
    const { cursors, config } = core;
    const links = createLinks({ ...core, publicUrl: config.PUBLIC_URL });
    const subscribers = createSubscribers({ ...core, links });
    return {
      routes: () => subscriberRoutes({ subscribers, cursors }),
      pages: ({ assets }) => [subscriberPages({ subscribers, assets })],
      tasks: () => [{ name: 'asked subscribers', everyMs: INTERVALS.hour, run: () => subscribers.cleanUp() }],
    };
  },
};
