/**
 * Upload sessions and the bytes that come by them.
 *
 * Terminology: a *piece* is what one request brings; the *writer* is the request that is bringing one. An upload
 * is *whole* when all its bytes are stored, and *completed* when its video has them.
 */
export { uploadEvents } from './events.ts';
export { uploadRoutes } from './routes.ts';
export { toUpload, Upload } from './schemas.ts';
export type { Uploads } from './service.ts';
export { createUploads } from './service.ts';
export { tusEndpoint } from './tus.ts';
