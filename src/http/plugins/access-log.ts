import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { HttpPorts } from '../ports.ts';

/** One line and one observation for each answered request. */
export function accessLog(app: FastifyInstance, ports: Pick<HttpPorts, 'accessLog' | 'metrics'>): void {
  app.addHook('onResponse', (request, reply, done) => {
    const operation = request.endpoint?.operationId ?? 'other';
    const { method, id: requestId, caller } = request;
    const { statusCode: status, elapsedTime: ms } = reply;
    ports.metrics.observe(operation, method, status, ms / 1000);
    const path = redactPath(request);
    const actor = caller?.actor ?? null;
    ports.accessLog.note({ requestId, operation, method, path, status, ms: roundedMs(ms), actor });
    done();
  });
}

/** Longer than every id: a key or a token at an address that is almost right. */
const SECRET = /[\w-]{40,}/g;
const SECRET_LENGTH = 40;
const MAX_LOGGED_CHARACTERS = 500;

/**
 * The path without its query, and as its pattern where a parameter called `token` makes it a secret; elsewhere
 * nothing in it that could be one is left.
 */
export function redactPath(request: FastifyRequest): string {
  const pattern = secretPattern(request);
  if (pattern !== null) return pattern;
  const { originalUrl } = request;
  const end = originalUrl.indexOf('?');
  const path = end === -1 ? originalUrl : originalUrl.slice(0, end);
  return hasLongPart(path) ? path.replace(SECRET, '*').slice(0, MAX_LOGGED_CHARACTERS) : path;
}

/** Returns null when no parameter has this name. Fastify creates `routeOptions` on each access. */
function secretPattern(request: FastifyRequest): string | null {
  const { endpoint } = request;
  if (endpoint !== null && !endpoint.path.includes('{token}')) return null;
  const { url = '' } = request.routeOptions;
  return /:token\b/.test(url) ? url : null;
}

/** Only in such a path can a secret be: to look for it costs more than the rest of a line. */
function hasLongPart(path: string): boolean {
  if (path.length > MAX_LOGGED_CHARACTERS) return true;
  for (let start = 0, end = 0; start < path.length; start = end + 1) {
    end = path.indexOf('/', start);
    if (end === -1) end = path.length;
    if (end - start >= SECRET_LENGTH) return true;
  }
  return false;
}

/** To tenths. */
export function roundedMs(ms: number): number {
  return Math.round(ms * 10) / 10;
}
