/**
 * Notifications: what an account is told of, in its list and by mail.
 *
 * Terminology: a *channel* is a way to tell: in-app (the list of the API) or e-mail; a *notice* is what an event
 * says to a person, before the preferences decide over which channels it goes.
 */
export { createNotifier } from './consumers.ts';
export { notificationRoutes } from './routes.ts';
export { createNotifications, type Notifications } from './service.ts';
