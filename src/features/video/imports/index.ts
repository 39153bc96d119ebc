/**
 * Imports: files that are fetched from an address and become videos (docs/concepts/imports.md).
 *
 * Terminology: a *validator* is what a server says to stand for exactly these bytes (a strong ETag, or
 * Last-Modified); with it, what is missing can be asked for after a break.
 */
export { createImportConsumers } from './consumers.ts';
export { importEvents } from './events.ts';
export { createImportRunner } from './fetch.service.ts';
export { importJob } from './jobs.ts';
export { importRoutes } from './routes.ts';
export { createImports, type ImportDeps, type Imports } from './service.ts';
