import type { FastifyInstance } from 'fastify';

export function isBelow(basePath: string, url: string): boolean {
  const next = url.charAt(basePath.length);
  return url.startsWith(basePath) && (next === '' || next === '/' || next === '?' || next === '#');
}

/**
 * What no cache may keep and no browser may guess about: every answer is of the type that it says, and those of the
 * API are for the holder of a key alone, many with a secret in them (docs/decisions/errors.md#response-caching).
 */
export function securityHeaders(app: FastifyInstance, basePath: string): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-content-type-options', 'nosniff');
    if (isBelow(basePath, request.originalUrl)) reply.header('cache-control', 'no-store');
    done();
  });
}
