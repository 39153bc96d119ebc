/** Support: tickets of an account, answered by the operator. */
export { supportEvents } from './events.ts';
export { supportRoutes } from './routes.ts';
export { toMessage, toTicket, toTicketWithMessages } from './schemas.ts';
export { createSupport, type Support } from './service.ts';
