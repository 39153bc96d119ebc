/** Upload sessions and their transfers. */
export type { Upload } from './schemas.ts';
export type { Uploads } from './service.ts';
