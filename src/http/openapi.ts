import { ERRORS, type ErrorCode } from '../kernel/errors.ts';
import { envelopeSchema } from './mount.ts';
import { LATEST_VERSION } from './plugins/version.ts';
import { NoBody, type Route } from './route.ts';

/** An event type as the document describes it. */
export interface DocumentedEvent {
  type: string;
  description: string;
  data: object;
  sample: object;
}

const KEY_ERRORS: readonly ErrorCode[] = [
  'UNAUTHORIZED',
  'INVALID_KEY_FORMAT',
  'INVALID_KEY',
  'KEY_DISABLED',
  'KEY_EXPIRED',
  'INVALID_USER_TOKEN',
  'EMAIL_NOT_VERIFIED',
  'IP_NOT_ALLOWED',
  'DOMAIN_NOT_ALLOWED',
];
const GATE_ERRORS: Record<NonNullable<Route['gate']>, ErrorCode> = {
  'finance-read': 'FINANCIAL_SCOPE_REQUIRED',
  'finance-write': 'FINANCIAL_SCOPE_REQUIRED',
  owner: 'OWNER_SCOPE_REQUIRED',
  admin: 'ADMIN_ONLY',
};

/** Every code that an endpoint can answer: those of its policy and shapes, and its own. */
export function errorsOf(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>(['BAD_REQUEST', 'INTERNAL_ERROR', ...route.errors]);
  if (route.auth === 'key') for (const code of KEY_ERRORS) codes.add(code);
  if (route.auth !== 'none') codes.add('RATE_LIMITED').add('DAILY_QUOTA_EXCEEDED');
  if (route.gate !== null) codes.add(GATE_ERRORS[route.gate]);
  if (route.auth === 'key' && route.method !== 'GET') codes.add('INSUFFICIENT_SCOPE');
  if (route.permission !== null) codes.add('PERMISSION_DENIED');
  if (route.method !== 'GET') codes.add('PAYLOAD_TOO_LARGE').add('UNSUPPORTED_MEDIA_TYPE');
  return [...codes].sort((a, b) => ERRORS[a].status - ERRORS[b].status || (a < b ? -1 : 1));
}

function errorResponses(route: Route): Record<string, object> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(route)) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: codes.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join('\n\n'),
        content: { 'application/json': { schema: errorSchema(codes) } },
      },
    ]),
  );
}

function errorSchema(codes: readonly ErrorCode[]): object {
  return {
    type: 'object',
    required: ['success', 'error'],
    properties: {
      success: { const: false },
      error: {
        type: 'object',
        required: ['code', 'message'],
        properties: {
          code: { type: 'string', enum: codes },
          message: { type: 'string' },
          field: { type: 'string' },
        },
      },
    },
  };
}

interface ObjectSchema {
  properties: Record<string, object>;
  required?: readonly string[];
}

function parameters(schema: ObjectSchema, where: 'path' | 'query'): object[] {
  return Object.entries(schema.properties).map(([name, property]) => ({
    name,
    in: where,
    required: where === 'path' || (schema.required?.includes(name) === true && !('default' in property)),
    schema: property,
  }));
}

const HEADERS = ['RequestId', 'ApiVersion'].map((name) => ({ $ref: `#/components/parameters/${name}` }));

function operation(route: Route): object {
  const hasBody = route.body !== NoBody;
  return {
    operationId: route.operationId,
    tags: [route.operationId.split('.')[0]],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(route.auth === 'key' ? {} : { security: route.auth === 'none' ? [] : [{}, ...SECURITY] }),
    parameters: [
      ...parameters(route.params, 'path'),
      ...parameters(route.query, 'query'),
      ...HEADERS,
      ...(route.idempotent ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ],
    ...(hasBody
      ? { requestBody: { required: true, content: { 'application/json': { schema: route.body } } } }
      : {}),
    responses: {
      [route.reply.status]: {
        description: route.reply.description ?? route.summary,
        content: { 'application/json': { schema: envelopeSchema(route) } },
      },
      ...errorResponses(route),
    },
  };
}

function webhook(event: DocumentedEvent): object {
  const body = {
    type: 'object',
    required: ['id', 'type', 'created', 'livemode', 'data'],
    properties: {
      id: { type: 'string', format: 'uuid' },
      type: { const: event.type },
      created: { type: 'integer', description: 'Unix seconds.' },
      livemode: { type: 'boolean', description: 'The platform environment, not the key mode.' },
      data: event.data,
    },
  };
  return {
    post: {
      operationId: event.type,
      summary: event.description,
      requestBody: { content: { 'application/json': { schema: body } } },
      responses: { '2XX': { description: 'Received.' } },
    },
  };
}

const SECURITY = [{ bearer: [] }, { apiKey: [] }];

/** The OpenAPI 3.1 document, from the same declarations that validate and serialise. */
export function openApiDocument(
  routes: readonly Route[],
  events: readonly DocumentedEvent[],
  basePath: string,
): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = paths[route.path] ?? {};
    path[route.method.toLowerCase()] = operation(route);
    paths[route.path] = path;
  }
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Marquee Partner API',
      version: LATEST_VERSION,
      description: 'A creator video business with one API key.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: basePath }],
    security: SECURITY,
    paths,
    webhooks: Object.fromEntries(events.map((event) => [event.type, webhook(event)])),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
      parameters: {
        RequestId: header('X-SVC-Request-Id', 'Echoed when it is a strict UUIDv4; otherwise replaced.'),
        ApiVersion: header('Svc-API-Version', '`1`, `1.0`, `1.0.0` or a date; absent means the latest 1.x.'),
        IdempotencyKey: header('Idempotency-Key', '8 to 255 characters of A-Z, a-z, 0-9, "_" and "-".'),
      },
    },
  };
  // Schemas carry library symbols and shared objects; the document is plain JSON.
  return JSON.parse(JSON.stringify(document));
}

function header(name: string, description: string): object {
  return { name, in: 'header', required: false, description, schema: { type: 'string' } };
}
