/** Upload sessions and their transfers. */
export { uploadEvents } from './events.ts';
export { uploadRoutes } from './routes.ts';
export { toUpload, Upload } from './schemas.ts';
export type { Uploads } from './service.ts';
export { createUploads } from './service.ts';
export { tusEndpoint } from './tus.ts';
