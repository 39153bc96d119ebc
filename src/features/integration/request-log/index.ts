/** Responses to each workspace's requests, `/me/requests`: the last 7 days. */
export { requestLogRoutes } from './routes.ts';
export { createRequestLog, type RequestLog } from './service.ts';
