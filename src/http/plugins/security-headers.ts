import type { FastifyInstance } from 'fastify';

export function isBelow(basePath: string, url: string): boolean {
  const next = url.charAt(basePath.length);
  return url.startsWith(basePath) && (next === '' || next === '/' || next === '?' || next === '#');
}

/**
 * Sets the headers against caching and content sniffing: every response has exactly its declared type, and
 * those of the API are only for the holder of a key, many with a secret in them
 * (docs/decisions/errors.md#response-caching).
 */
export function securityHeaders(app: FastifyInstance, basePath: string): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-content-type-options', 'nosniff');
    if (isBelow(basePath, request.originalUrl)) reply.header('cache-control', 'no-store');
    done();
  });
}
