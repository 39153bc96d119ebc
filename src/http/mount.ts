import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { AppError } from '../kernel/errors.ts';
import { isCsvRows, sendCsv, tableName } from './csv.ts';
import type { EventStreamHandler, EventStreams } from './event-stream.ts';
import { HandlerContext } from './handler-context.ts';
import { namedSchema } from './named-schema.ts';
import { idempotencyKeyOf, JSON_TYPE, replayOrRun } from './plugins/idempotency.ts';
import { readUpload } from './plugins/upload.ts';
import type { HttpPorts } from './ports.ts';
import { ExistingResource, type Page, type Route } from './route.ts';
import { Nullable } from './schema.ts';

/** `{name}` of a declaration becomes `:name` of the router. */
export function routerPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

function isPage(value: unknown): value is Page<unknown> {
  return typeof value === 'object' && value !== null && 'items' in value && 'nextCursor' in value;
}

interface MountPorts extends HttpPorts {
  streams: EventStreams;
}

/** Puts one declared endpoint on the wire: input check, handler, envelope. */
export function mountRoute(app: FastifyInstance, base: string, route: Route, ports: MountPorts): void {
  const written = writer(route);
  app.route({
    method: route.method,
    url: base + routerPath(route.path),
    config: { route },
    async handler(request, reply) {
      const key = route.idempotent ? idempotencyKeyOf(request.headers) : null;
      const { caller } = request;
      const upload = route.upload === undefined ? null : await readUpload(request, route.upload);
      const body = upload === null ? request.body : upload.fields;
      const prepare = () => {
        if (request.bodyFailure !== null) throw request.bodyFailure;
        return route.prepare({ params: request.params, query: request.query, body });
      };
      const asked = { request, reply, sessions: ports.sessions, log: ports.log, upload: upload?.file };
      const context = new HandlerContext(asked, acceptedOf(route, request, reply));
      if (key !== null && caller !== null) {
        const handler = () => {
          const run = prepare();
          return async (idempotentRunId: string | null) =>
            written(
              await run(idempotentRunId === null ? context : context.withIdempotentRunId(idempotentRunId)),
              request,
              reply,
            );
        };
        const isLeased = route.idempotent === 'leased';
        return replayOrRun(ports, { key, caller, isLeased, request, reply, prepare: handler });
      }
      const run = prepare();
      if (context.acceptsEventStream)
        return openTail({ request, reply, route, ports, tail: await run(context) });
      if (context.acceptsCsv) return openTable(reply, route, await run(context));
      const text = written(await run(context), request, reply);
      reply.header('content-type', JSON_TYPE);
      return text;
    },
  });
}

type Write = (value: Record<string, unknown>) => string;

/** Sets the status of what a handler has given, and writes its envelope. */
function writer(route: Route) {
  let write: Write | undefined;
  return (given: unknown, request: FastifyRequest, reply: FastifyReply): string => {
    const isThere = given instanceof ExistingResource;
    reply.status(isThere ? 200 : route.reply.status);
    const result = isThere ? given.value : given;
    // With the first answer: to compile those of all routes takes as long as the rest of a start.
    write ??= reply.compileSerializationSchema(envelopeSchema(route));
    return write(envelope(route, request, reply, result));
  };
}

/** Returns the alternative formats to JSON that the client accepts and the endpoint offers. */
function acceptedOf({ reply: { envelope, tail, csv } }: Route, request: FastifyRequest, reply: FastifyReply) {
  if (tail === undefined && csv === undefined) return { events: envelope === 'events', csv: false };
  reply.header('Vary', [reply.getHeader('Vary'), 'Accept'].filter(Boolean).join(', '));
  const { accept } = request.headers;
  const events = tail !== undefined && prefers('text/event-stream', accept);
  return { events, csv: csv !== undefined && prefers('text/csv', accept) };
}

/** Named, and not less wanted than JSON (RFC 9110, 12.5.1). */
function prefers(type: string, accept = ''): boolean {
  const wanted = new Map(
    accept.split(',').map((range) => {
      const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
      const quality = parameters.find((parameter) => parameter.startsWith('q='));
      return [type, quality === undefined ? 1 : Number(quality.slice(2))];
    }),
  );
  const quality = wanted.get(type) ?? 0;
  return quality > 0 && quality >= (wanted.get('application/json') ?? 0);
}

function isTail(value: unknown): value is EventStreamHandler {
  return typeof value === 'function';
}

function openTable(reply: FastifyReply, { operationId, path, reply: { csv } }: Route, rows: unknown) {
  if (csv === undefined || !isCsvRows(rows)) throw new Error(`${operationId} must return rows`);
  const name = tableName(path, reply.request.params);
  return sendCsv(reply.status(200), { name, columns: csv, rows });
}

interface OpenTail {
  request: FastifyRequest;
  reply: FastifyReply;
  route: Route;
  ports: MountPorts;
  tail: unknown;
}

async function openTail({ request, reply, route, ports, tail }: OpenTail): Promise<FastifyReply> {
  const { caller } = request;
  if (caller === null) throw new AppError('UNAUTHORIZED');
  if (!isTail(tail)) throw new Error(`${route.operationId} must return a tail`);
  const perAccount = route.reply.envelope === 'events' ? route.reply.perAccount : undefined;
  await ports.streams.openForKey({ request, reply }, caller, perAccount, tail);
  return reply;
}

function envelope(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  result: unknown,
): Record<string, unknown> {
  if (route.reply.envelope === 'flat') return { success: true, ...asObject(route, result) };
  if (route.reply.list !== true) return { success: true, data: result };
  if (!isPage(result)) throw new Error(`${route.operationId} must return a page`);
  return listEnvelope(request, reply, result);
}

/** Keeps the router from taking the path for one with a parameter; `unroutable` answers 405. */
export function mountMethodNotAllowed(app: FastifyInstance, method: string, path: string): void {
  app.route({
    method,
    url: routerPath(path),
    config: { unroutable: true },
    handler: () => Promise.reject(new Error(`${method} ${path} must have been rejected`)),
  });
}

function asObject(route: Route, result: unknown): object {
  if (typeof result === 'object' && result !== null) return result;
  throw new Error(`${route.operationId} must return an object`);
}

/** One that is written the same in a link; to parse others takes longer. */
const PLAIN_PATH = /^\/[\w/.~-]*$/;

function listEnvelope(
  request: FastifyRequest,
  reply: FastifyReply,
  page: Page<unknown>,
): Record<string, unknown> {
  const { items, nextCursor, limit, meta } = page;
  if (nextCursor !== null) {
    // Parsed like in the router.
    const [path = ''] = request.url.split(/[?#]/, 1);
    const next = new URLSearchParams(request.url.slice(path.length + 1));
    next.set('cursor', nextCursor);
    const at = PLAIN_PATH.test(path) ? path : new URL(path, 'http://local').pathname;
    const links = [reply.getHeader('Link'), `<${at}?${next}>; rel="next"`];
    reply.header('Link', links.filter((link) => link !== undefined).join(', '));
  }
  const data = meta === undefined ? items : { ...meta, rows: items };
  return { success: true, data, pagination: { nextCursor, hasMore: nextCursor !== null, limit } };
}

const Pagination = namedSchema(
  'Pagination',
  Type.Object({
    nextCursor: Nullable(
      Type.String({ description: 'Pass as `cursor` to get the next page; null on the last page.' }),
    ),
    hasMore: Type.Boolean(),
    limit: Type.Integer({ description: 'Page size of the request.' }),
  }),
  { nextCursor: null, hasMore: false, limit: 25 },
);

/** The success envelope of docs/concepts/conventions.md#envelopes, and the page of docs/concepts/conventions.md#lists. */
export function envelopeSchema(route: Route): Record<string, unknown> {
  const { schema, list, meta } = route.reply;
  const success = { type: 'boolean', const: true };
  if (route.reply.envelope === 'flat') {
    const { required, properties } = route.reply.schema;
    return { type: 'object', required: ['success', ...required], properties: { success, ...properties } };
  }
  if (list !== true) {
    return { type: 'object', required: ['success', 'data'], properties: { success, data: schema } };
  }
  const rows = { type: 'array', items: schema };
  const data =
    meta === undefined
      ? rows
      : { ...meta, required: [...meta.required, 'rows'], properties: { ...meta.properties, rows } };
  return {
    type: 'object',
    required: ['success', 'data', 'pagination'],
    properties: { success, data, pagination: Pagination },
  };
}
