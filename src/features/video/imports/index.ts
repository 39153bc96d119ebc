/**
 * Imports: files that are fetched from a URL and become videos (docs/concepts/imports.md).
 *
 * Terminology: a *validator* is a server's identifier of exactly these bytes (a strong ETag, or
 * Last-Modified); it lets an interrupted download request the missing bytes.
 */
export { createImportConsumers } from './consumers.ts';
export { importEvents } from './events.ts';
export { createImportRunner } from './fetch.service.ts';
export { importJob } from './jobs.ts';
export { importRoutes } from './routes.ts';
export { createImports, type ImportDeps, type Imports } from './service.ts';
