/** Releases of the interface: what they changed, who is told, and which endpoints end. */
export { changelogEvents } from './events.ts';
export { changelogRoutes } from './routes.ts';
export { type Changelog, createChangelog } from './service.ts';
