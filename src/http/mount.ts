import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Caller } from '../kernel/access.ts';
import { AppError } from '../kernel/errors.ts';
import type { RequestContext, SessionKeeper, UploadedFile } from './context.ts';
import { isCsvRows, sendCsv } from './csv.ts';
import type { EventStreams, Tail } from './event-stream.ts';
import { isLasting, writeOnce } from './lasting.ts';
import { named } from './named.ts';
import { answerOnce, idempotencyKeyOf, JSON_TYPE } from './plugins/idempotency.ts';
import { readUpload } from './plugins/upload.ts';
import type { HttpPorts } from './ports.ts';
import { Existing, type Page, type Route } from './route.ts';
import { Nullable } from './schema.ts';
import { visitOf } from './visit.ts';

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
  let write: Write | undefined;
  let writeRow: Write | undefined;
  app.route({
    method: route.method,
    url: base + routerPath(route.path),
    config: { route },
    handler: async (request, reply) => {
      const key = route.idempotent ? idempotencyKeyOf(request.headers) : null;
      const { caller } = request;
      const upload = route.upload === undefined ? null : await readUpload(request, route.upload);
      const body = upload === null ? request.body : upload.fields;
      const run = route.prepare({ params: request.params, query: request.query, body });
      const context = contextOf(request, reply, route, ports, upload?.file);
      const handle = async (operationId: string | null = null) => {
        const given = await run(operationId === null ? context : { ...context, operationId });
        const isThere = given instanceof Existing;
        reply.status(isThere ? 200 : route.reply.status);
        const result = isThere ? given.value : given;
        // With the first answer: to compile those of all routes takes as long as the rest of a start.
        write ??= reply.compileSerializationSchema(envelopeSchema(route));
        writeRow ??= reply.compileSerializationSchema({ ...route.reply.schema });
        if (isLasting(result)) return `{"success":true,"data":${writeOnce(result, writeRow)}}`;
        const answer = envelope(route, request, reply, result);
        if (route.reply.list !== true || !isPage(result) || result.beside !== undefined) return write(answer);
        return writeList(answer, result.items, { write, writeRow });
      };
      if (context.acceptsEvents) return openTail({ request, reply, route, ports, tail: await run(context) });
      if (context.acceptsCsv) return openTable(reply, route, await run(context));
      if (key === null || caller === null) return sendJson(reply, await handle());
      const isLeased = route.idempotent === 'leased';
      return answerOnce(ports, { key, caller, isLeased, request, reply, handle });
    },
  });
}

type Write = (value: Record<string, unknown>) => string;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** The same text as from `write` alone, with the rows written one by one: many were written before. */
function writeList(
  answer: Record<string, unknown>,
  rows: readonly unknown[],
  { write, writeRow }: { write: Write; writeRow: Write },
): string {
  const frame = write({ ...answer, data: [] });
  const at = frame.indexOf('[]') + 1;
  const written = rows.filter(isRecord).map((row) => writeOnce(row, writeRow));
  return frame.slice(0, at) + written.join(',') + frame.slice(at);
}

/** @param text of JSON. */
function sendJson(reply: FastifyReply, text: string): FastifyReply {
  return reply.header('content-type', JSON_TYPE).send(text);
}

function contextOf(
  request: FastifyRequest,
  reply: FastifyReply,
  route: Route,
  ports: MountPorts,
  upload: UploadedFile | undefined,
): RequestContext<Caller | null> {
  const { caller, userTokenId, ip, id: requestId } = request;
  const userAgent = request.headers['user-agent'] ?? '';
  const { tail, csv } = route.reply;
  if (tail !== undefined || csv !== undefined)
    reply.header('Vary', [reply.getHeader('Vary'), 'Accept'].filter(Boolean).join(', '));
  const acceptsEvents =
    route.reply.envelope === 'events' ||
    (tail !== undefined && prefers('text/event-stream', request.headers.accept));
  const acceptsCsv = csv !== undefined && prefers('text/csv', request.headers.accept);
  const session = sessionKeeper(ports, reply);
  const visit = () => visitOf(request);
  const { log } = ports;
  const asked = { requestId, caller, userTokenId, ip, userAgent, visit, acceptsEvents, acceptsCsv, log };
  return upload === undefined
    ? { ...asked, session, operationId: null }
    : { ...asked, session, operationId: null, upload };
}

function sessionKeeper({ sessions }: Pick<HttpPorts, 'sessions'>, reply: FastifyReply): SessionKeeper {
  return {
    keep: (token) => void reply.header('Set-Cookie', sessions.cookie.keep(token)),
    drop: () => void reply.header('Set-Cookie', sessions.cookie.drop()),
  };
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

function isTail(value: unknown): value is Tail {
  return typeof value === 'function';
}

function openTable(reply: FastifyReply, { operationId, path, reply: { csv } }: Route, rows: unknown) {
  if (csv === undefined || !isCsvRows(rows)) throw new Error(`${operationId} must return rows`);
  const name = path.split('/').at(-1) ?? operationId;
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

function listEnvelope(
  request: FastifyRequest,
  reply: FastifyReply,
  page: Page<unknown>,
): Record<string, unknown> {
  const { items, nextCursor, limit, beside } = page;
  if (nextCursor !== null) {
    const next = new URL(request.url, 'http://local');
    next.searchParams.set('cursor', nextCursor);
    const links = [reply.getHeader('Link'), `<${next.pathname}${next.search}>; rel="next"`];
    reply.header('Link', links.filter((link) => link !== undefined).join(', '));
  }
  const data = beside === undefined ? items : { ...beside, rows: items };
  return { success: true, data, pagination: { nextCursor, hasMore: nextCursor !== null, limit } };
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
export function envelopeSchema(route: Route): Record<string, unknown> {
  const { schema, list, beside } = route.reply;
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
    beside === undefined
      ? rows
      : { ...beside, required: [...beside.required, 'rows'], properties: { ...beside.properties, rows } };
  return {
    type: 'object',
    required: ['success', 'data', 'pagination'],
    properties: { success, data, pagination: Pagination },
  };
}
