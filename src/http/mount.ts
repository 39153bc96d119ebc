import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { HttpPorts } from './ports.ts';
import type { Page, Route } from './route.ts';

/** `{name}` of the contract becomes `:name` of the router. */
export function routerPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

function isPage(value: unknown): value is Page<unknown> {
  return typeof value === 'object' && value !== null && 'items' in value && 'nextCursor' in value;
}

/** Puts one declared endpoint on the wire: input check, handler, envelope. */
export function mountRoute(app: FastifyInstance, base: string, route: Route, ports: HttpPorts): void {
  app.route({
    method: route.method,
    url: base + routerPath(route.path),
    config: { route },
    schema: { response: { [route.reply.status]: envelopeSchema(route) } },
    handler: async (request, reply) => {
      const run = route.prepare({ params: request.params, query: request.query, body: request.body });
      const result = await run({
        requestId: request.id,
        caller: request.caller,
        ip: request.ip,
        log: ports.log,
      });
      reply.status(route.reply.status);
      if (route.reply.list !== true) return { success: true, data: result };
      if (!isPage(result)) throw new Error(`${route.operationId} must return a page`);
      return listEnvelope(request, reply, result);
    },
  });
}

function listEnvelope(request: FastifyRequest, reply: FastifyReply, page: Page<unknown>): object {
  const { items, nextCursor, limit } = page;
  if (nextCursor !== null) {
    const next = new URL(request.url, 'http://local');
    next.searchParams.set('cursor', nextCursor);
    reply.header('Link', `<${next.pathname}${next.search}>; rel="next"`);
  }
  return { success: true, data: items, pagination: { nextCursor, hasMore: nextCursor !== null, limit } };
}

const PAGINATION = {
  type: 'object',
  required: ['nextCursor', 'hasMore', 'limit'],
  properties: {
    nextCursor: { type: ['string', 'null'] },
    hasMore: { type: 'boolean' },
    limit: { type: 'integer' },
  },
};

/** The success envelope of contract 2.1, and the page of `api.md` C1. */
export function envelopeSchema(route: Route): object {
  const { schema, list } = route.reply;
  const success = { type: 'boolean', const: true };
  if (list !== true) {
    return { type: 'object', required: ['success', 'data'], properties: { success, data: schema } };
  }
  return {
    type: 'object',
    required: ['success', 'data', 'pagination'],
    properties: { success, data: { type: 'array', items: schema }, pagination: PAGINATION },
  };
}
