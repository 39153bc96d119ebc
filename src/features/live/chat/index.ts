/**
 * The chat of streams: posts by keys and by guests of the watch page, history, moderation.
 *
 * Terminology: a *guest* is a visitor of one stream's page who has set a name; a *time-out* is a ban that
 * expires.
 */
export { createChatConsumers } from './consumers.ts';
export { guestChatPages } from './guest.pages.ts';
export { createGuestSessions } from './guests.ts';
export { toMessage } from './messages.ts';
export { chatPanel } from './panel.views.ts';
export { chatRoutes } from './routes.ts';
export { RESTRICTED_MODES } from './rules.ts';
export { createChat } from './service.ts';
