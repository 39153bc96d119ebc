/**
 * Modules that no other code depends on, one per line: without one, the program works and lacks only its
 * feature.
 */
export { analytics } from './parts/analytics.ts';
export { calendars } from './parts/calendars.ts';
export { channels } from './parts/channels.ts';
export { clips } from './parts/clips.ts';
export { imports } from './parts/imports.ts';
export { notifications } from './parts/notifications.ts';
export { playlists } from './parts/playlists.ts';
export { privacy } from './parts/privacy.ts';
export { quota } from './parts/quota.ts';
export { revenue } from './parts/revenue.ts';
export { subscribers } from './parts/subscribers.ts';
export { summary } from './parts/summary.ts';
export { analyticsRollups } from './parts/sums.ts';
export { support } from './parts/support.ts';
