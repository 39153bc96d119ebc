/** API releases: their changes, the notifications about them, and the deprecation of endpoints. */
export { changelogEvents } from './events.ts';
export { RELEASES } from './releases.ts';
export { changelogRoutes } from './routes.ts';
export { type Changelog, createChangelog } from './service.ts';
