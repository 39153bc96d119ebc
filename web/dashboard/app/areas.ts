import { account } from '../pages/account/index.ts';
import { analytics } from '../pages/analytics/index.ts';
import { audience } from '../pages/audience/index.ts';
import { auth } from '../pages/auth/index.ts';
import { booking } from '../pages/booking/index.ts';
import { channel } from '../pages/channel/index.ts';
import { domains } from '../pages/domains/index.ts';
import { events } from '../pages/events/index.ts';
import { home } from '../pages/home/index.ts';
import { keys } from '../pages/keys/index.ts';
import { limits } from '../pages/limits/index.ts';
import { live } from '../pages/live/index.ts';
import { mailbox } from '../pages/mailbox/index.ts';
import { monetization } from '../pages/monetization/index.ts';
import { notifications } from '../pages/notifications/index.ts';
import { requests } from '../pages/requests/index.ts';
import { rooms } from '../pages/rooms/index.ts';
import { team } from '../pages/team/index.ts';
import { videos } from '../pages/videos/index.ts';
import { webhooks } from '../pages/webhooks/index.ts';

/** All areas in the order of the navigation: by group, then in the order of this list. */
export const areas = [
  auth,
  home,
  live,
  videos,
  rooms,
  booking,
  analytics,
  audience,
  channel,
  monetization,
  keys,
  webhooks,
  events,
  requests,
  domains,
  limits,
  notifications,
  team,
  account,
  mailbox,
] as const;
