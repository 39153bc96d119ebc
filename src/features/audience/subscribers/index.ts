/**
 * Subscribers: the list of people whom a creator may write to (docs/concepts/subscribers.md).
 */
export { subscriberEvents } from './events.ts';
export { createLinks } from './links.ts';
export { subscriberRoutes } from './routes.ts';
export { createSubscribers } from './service.ts';
export { subscriberPages } from './subscriber.pages.ts';
