import { auth } from '../pages/auth/index.ts';
import { home } from '../pages/home/index.ts';
import { limits } from '../pages/limits/index.ts';
import { live } from '../pages/live/index.ts';
import { mailbox } from '../pages/mailbox/index.ts';
import { notifications } from '../pages/notifications/index.ts';
import { videos } from '../pages/videos/index.ts';

/** Every area, in the order of the navigation: its group first, then as they stand here. */
export const areas = [auth, home, live, videos, limits, notifications, mailbox] as const;
