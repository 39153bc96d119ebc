import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError, badRequest } from '../../kernel/errors.ts';
import { hasEmptyParameter } from '../allowed-methods.ts';

/** Where the router is sent with a path that it could not decode: the chain runs, and refuses it here. */
const UNDECODABLE = '/undecodable';

/** The request's own address, unless its path is broken percent-encoding. */
export function routableUrl({ url = '/' }: Pick<IncomingMessage, 'url'>): string {
  if (!url.includes('%')) return url;
  try {
    decodeURIComponent(/^[^?#]*/.exec(url)?.[0] ?? url);
    return url;
  } catch {
    return UNDECODABLE;
  }
}

/** No endpoint, page or file answers this request. */
export function isUnroutable(request: FastifyRequest): boolean {
  const { endpoint, gone } = request;
  if (endpoint !== null) return gone !== null || hasEmptyParameter(request.params);
  return request.is404 || request.routeOptions.config.unroutable === true || holdsNul(request.params);
}

/** No page has such an address, and PostgreSQL takes no text with it; endpoints refuse it by their schemas. */
function holdsNul(params: unknown): boolean {
  return Object.values(Object(params)).some((value) => String(value).includes('\0'));
}

interface Paths {
  withdrawn: readonly string[];
  /** The methods of a path; none when it does not exist. */
  allowed(path: string): readonly string[];
}

/**
 * Responds to requests without a route: after a key was counted, before a body is read
 * (docs/decisions/lists-and-ids.md#bodies). An unknown path is 404, a known one with another method 405 with
 * `Allow`, the withdrawn catalog and endpoints past their sunset 410.
 */
export function unroutable(app: FastifyInstance, paths: Paths): void {
  const refuse = (request: FastifyRequest): AppError => {
    if (request.originalUrl !== request.url) {
      return badRequest('path', 'The path is not valid percent-encoding.');
    }
    if (request.gone !== null) return request.gone;
    const path = request.url.split('?', 1)[0] ?? '';
    if (paths.withdrawn.includes(path)) return new AppError('CATALOG_DISABLED');
    const methods = paths.allowed(path);
    if (methods.length === 0) return new AppError('NOT_FOUND', { message: 'Path not found.' });
    const allow = methods.join(', ');
    return new AppError('METHOD_NOT_ALLOWED', {
      message: `${request.method} is not supported for this path. Allowed: ${allow}.`,
      headers: { Allow: allow },
    });
  };
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      return done(badRequest('Host', 'HTTP/1.1 requests must include a Host header.'));
    }
    done(isUnroutable(request) ? refuse(request) : undefined);
  });
  // Hooks run on unknown paths only when this handler is set.
  app.setNotFoundHandler((request) => {
    throw refuse(request);
  });
}
