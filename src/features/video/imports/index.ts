/**
 * Imports: files that are fetched from a URL and become videos (docs/concepts/imports.md).
 *
 * Terminology: a *validator* is a server's identifier of exactly these bytes (a strong ETag, or
 * Last-Modified); it lets an interrupted download request the missing bytes.
 */
export type { Imports } from './service.ts';
