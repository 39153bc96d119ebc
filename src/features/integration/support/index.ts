/** Support: tickets of an account, answered by the operator, and reports of public pages. */
export { adminSupportRoutes } from './admin.routes.ts';
export { supportEvents } from './events.ts';
export { reportPages } from './report.pages.ts';
export { createReports } from './reports.service.ts';
export type { TicketRow } from './repository.ts';
export { supportRoutes } from './routes.ts';
export { toMessage, toTicket, toTicketWithMessages } from './schemas.ts';
export { createSupport, type Support } from './service.ts';
