import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { AppError } from '../kernel/errors.ts';
import type { Logger } from '../platform/logger.ts';
import { EventStreams, type Tail } from './event-stream.ts';
import { named } from './named.ts';
import { answerOnce, idempotencyKeyOf } from './plugins/idempotency.ts';
import { readUpload } from './plugins/upload.ts';
import type { HttpPorts } from './ports.ts';
import type { Page, Route } from './route.ts';
import { Nullable } from './schema.ts';

/** `{name}` of a declaration becomes `:name` of the router. */
export function routerPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

function isPage(value: unknown): value is Page<unknown> {
  return typeof value === 'object' && value !== null && 'items' in value && 'nextCursor' in value;
}

/** Puts one declared endpoint on the wire: input check, handler, envelope. */
export function mountRoute(app: FastifyInstance, base: string, route: Route, ports: HttpPorts): void {
  if (route.reply.envelope === 'events') {
    const streams = new EventStreams(app, ports, route.reply.perAccount);
    mountEventStream(app, base, route, { streams, log: ports.log });
    return;
  }
  app.route({
    method: route.method,
    url: base + routerPath(route.path),
    config: { route },
    schema: { response: { [route.reply.status]: envelopeSchema(route) } },
    handler: async (request, reply) => {
      const key = route.idempotent ? idempotencyKeyOf(request.headers) : null;
      const { caller, userTokenId, ip, id: requestId } = request;
      const upload = route.upload === undefined ? null : await readUpload(request, route.upload);
      const body = upload === null ? request.body : upload.fields;
      const run = route.prepare({ params: request.params, query: request.query, body });
      const userAgent = request.headers['user-agent'] ?? '';
      const file = upload === null ? {} : { upload: upload.file };
      const context = { requestId, caller, userTokenId, ip, userAgent, log: ports.log, ...file };
      const handle = async () => {
        const result = await run(context);
        reply.status(route.reply.status);
        return envelope(route, request, reply, result);
      };
      if (key === null || caller === null) return handle();
      return answerOnce(ports, { key, caller, request, reply, handle });
    },
  });
}

function isTail(value: unknown): value is Tail {
  return typeof value === 'function';
}

function mountEventStream(
  app: FastifyInstance,
  base: string,
  route: Route,
  { streams, log }: { streams: EventStreams; log: Logger },
): void {
  app.route({
    method: route.method,
    url: base + routerPath(route.path),
    config: { route },
    handler: async (request, reply) => {
      const { caller, userTokenId, ip, id: requestId } = request;
      if (caller === null) throw new AppError('UNAUTHORIZED');
      const run = route.prepare({ params: request.params, query: request.query, body: request.body });
      const userAgent = request.headers['user-agent'] ?? '';
      const tail = await run({ requestId, caller, userTokenId, ip, userAgent, log });
      if (!isTail(tail)) throw new Error(`${route.operationId} must return a tail`);
      await streams.open(request, reply, caller, tail);
      return reply;
    },
  });
}

function envelope(route: Route, request: FastifyRequest, reply: FastifyReply, result: unknown): object {
  if (route.reply.envelope === 'flat') return { success: true, ...asObject(route, result) };
  if (route.reply.list !== true) return { success: true, data: result };
  if (!isPage(result)) throw new Error(`${route.operationId} must return a page`);
  return listEnvelope(request, reply, result);
}

/** Keeps the router from taking the path for one with a parameter; `unroutable` answers 405. */
export function mountRefusal(app: FastifyInstance, method: string, path: string): void {
  app.route({
    method,
    url: routerPath(path),
    config: { unroutable: true },
    handler: () => Promise.reject(new Error(`${method} ${path} must have been refused`)),
  });
}

function asObject(route: Route, result: unknown): object {
  if (typeof result === 'object' && result !== null) return result;
  throw new Error(`${route.operationId} must return an object`);
}

function listEnvelope(request: FastifyRequest, reply: FastifyReply, page: Page<unknown>): object {
  const { items, nextCursor, limit } = page;
  if (nextCursor !== null) {
    const next = new URL(request.url, 'http://local');
    next.searchParams.set('cursor', nextCursor);
    const links = [reply.getHeader('Link'), `<${next.pathname}${next.search}>; rel="next"`];
    reply.header('Link', links.filter((link) => link !== undefined).join(', '));
  }
  return { success: true, data: items, pagination: { nextCursor, hasMore: nextCursor !== null, limit } };
}

const Pagination = named(
  'Pagination',
  Type.Object({
    nextCursor: Nullable(Type.String({ description: 'Goes back as `cursor`; null on the last page.' })),
    hasMore: Type.Boolean(),
    limit: Type.Integer({ description: 'As it was asked for.' }),
  }),
  { nextCursor: null, hasMore: false, limit: 25 },
);

/** The success envelope of docs/api/conventions.md#envelopes, and the page of docs/api/conventions.md#lists. */
export function envelopeSchema(route: Route): object {
  const { schema, list } = route.reply;
  const success = { type: 'boolean', const: true };
  if (route.reply.envelope === 'flat') {
    const { required, properties } = route.reply.schema;
    return { type: 'object', required: ['success', ...required], properties: { success, ...properties } };
  }
  if (list !== true) {
    return { type: 'object', required: ['success', 'data'], properties: { success, data: schema } };
  }
  return {
    type: 'object',
    required: ['success', 'data', 'pagination'],
    properties: { success, data: { type: 'array', items: schema }, pagination: Pagination },
  };
}
