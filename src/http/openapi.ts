import type { TSchema } from 'typebox';
import { ERRORS, type ErrorCode, isTextCode } from '../kernel/errors.ts';
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
const IDEMPOTENCY_ERRORS: readonly ErrorCode[] = [
  'INVALID_IDEMPOTENCY_KEY',
  'IDEMPOTENCY_IN_FLIGHT',
  'IDEMPOTENCY_KEY_REUSE',
];
const GATE_ERRORS: Record<NonNullable<Route['gate']>, ErrorCode> = {
  'finance-read': 'FINANCIAL_SCOPE_REQUIRED',
  'finance-write': 'FINANCIAL_SCOPE_REQUIRED',
  owner: 'OWNER_SCOPE_REQUIRED',
  user: 'INVALID_USER_TOKEN',
  admin: 'ADMIN_ONLY',
};

/** What has nothing to do with the endpoint: even before a path is known. */
const ANY_REQUEST = ['BAD_REQUEST', 'REQUEST_TIMEOUT', 'HEADERS_TOO_LARGE', 'INTERNAL_ERROR'] as const;

/** Every code that an endpoint can answer: those of its policy and shapes, and its own. */
export function errorsOf(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>([...ANY_REQUEST, ...route.errors]);
  if (route.auth === 'key') for (const code of KEY_ERRORS) codes.add(code);
  if (route.auth !== 'none') codes.add('RATE_LIMITED').add('DAILY_QUOTA_EXCEEDED');
  if (route.gate !== null) codes.add(GATE_ERRORS[route.gate]);
  if (asksForScope(route)) codes.add('INSUFFICIENT_SCOPE');
  for (const { refusal } of route.limits ?? []) codes.add(refusal === 'plain' ? 'RATE_LIMITED' : refusal);
  if (route.permission !== null || route.liveOnly === true) codes.add('PERMISSION_DENIED');
  if (route.originLock) codes.add('integration_domain_required').add('origin_not_allowed');
  if (route.deprecated !== undefined) codes.add(route.deprecated.code);
  if (route.idempotent) for (const code of IDEMPOTENCY_ERRORS) codes.add(code);
  if (route.reply.envelope === 'events') codes.add('SSE_PER_KEY_CAP');
  if (route.method !== 'GET') codes.add('PAYLOAD_TOO_LARGE').add('UNSUPPORTED_MEDIA_TYPE');
  return [...codes].sort((a, b) => ERRORS[a].status - ERRORS[b].status || (a < b ? -1 : 1));
}

/** The owner's gate decides about the scope itself. */
function asksForScope({ auth, gate, writes, method }: Route): boolean {
  return auth === 'key' && gate !== 'owner' && (writes ?? method !== 'GET');
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
        content: { 'application/json': { schema: errorSchema(route, codes) } },
      },
    ]),
  );
}

/** The error envelope of contract 2.1, with the two exceptions of contract 7. */
function errorSchema(route: Route, codes: readonly ErrorCode[]): object {
  const plain = codes.includes('RATE_LIMITED') && route.limits?.some(({ refusal }) => refusal === 'plain');
  const texts: string[] = [...codes.filter(isTextCode), ...(plain === true ? ['Too many requests'] : [])];
  const error = {
    type: 'object',
    required: ['code', 'message'],
    properties: {
      code: { type: 'string', enum: codes.filter((code) => !isTextCode(code)) },
      message: { type: 'string' },
      field: { type: 'string' },
    },
  };
  return {
    type: 'object',
    required: ['success', 'error'],
    properties: {
      success: { const: false },
      error: texts.length === 0 ? error : { anyOf: [error, { type: 'string', enum: texts }] },
      ...(plain === true
        ? { retryAfter: { type: 'integer', description: 'Seconds; beside the text.' } }
        : {}),
      ...(codes.includes('SECOND_FACTOR_REQUIRED') ? SECOND_FACTOR : {}),
    },
  };
}

/** Members beside `error` that come with SECOND_FACTOR_REQUIRED alone. */
const SECOND_FACTOR = {
  twoFactorRequired: { const: true },
  challengeId: { type: 'string' },
  expiresIn: { type: 'integer', description: 'Seconds.' },
};

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

const HEADERS = ['RequestId', 'ApiVersion'].map(parameterRef);

function parameterRef(name: string): object {
  return { $ref: `#/components/parameters/${name}` };
}

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
      ...(route.auth === 'key' ? [parameterRef('UserToken')] : []),
      ...(route.idempotent ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ],
    ...(route.deprecated === undefined ? {} : { deprecated: true }),
    ...(hasBody || route.upload !== undefined ? { requestBody: requestBody(route) } : {}),
    responses: {
      [route.reply.status]: {
        description: route.reply.description ?? route.summary,
        content: content(route),
      },
      ...errorResponses(route),
    },
  };
}

function requestBody({ body, optionalBody, upload }: Route): object {
  const file = { type: 'string', contentMediaType: 'application/octet-stream' };
  const multipart =
    upload === undefined
      ? {}
      : {
          'multipart/form-data': {
            schema: {
              type: 'object',
              required: [upload.field],
              properties: { ...propertiesOf(body), [upload.field]: file },
            },
          },
        };
  const content = { 'application/json': { schema: body }, ...multipart };
  return { required: optionalBody !== true || upload !== undefined, content };
}

/** A field of a form is text, whatever it is in JSON. */
function propertiesOf(body: TSchema): Record<string, object> {
  const properties: unknown = 'properties' in body ? body.properties : {};
  return Object.fromEntries(Object.keys(Object(properties)).map((name) => [name, { type: 'string' }]));
}

function content(route: Route): object {
  if (route.reply.envelope === 'events') return { 'text/event-stream': { schema: route.reply.schema } };
  return { 'application/json': { schema: envelopeSchema(route) } };
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
        UserToken: header(
          'X-User-Token',
          'The access token of a sign-in; its user must be the owner of the key.',
        ),
        ApiVersion: header('Svc-API-Version', '`1`, `1.0`, `1.0.0` or a date; absent means the latest 1.x.'),
        IdempotencyKey: header('Idempotency-Key', '8 to 255 characters of A-Z, a-z, 0-9, "_" and "-".'),
      },
    },
  };
  // Schemas carry library symbols and shared objects; the document is plain JSON.
  return JSON.parse(JSON.stringify(document, (_, value: unknown) => titled(value)));
}

/** The name of a schema as its title: one `$id` more than once in a document is no valid JSON Schema. */
function titled(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('$id' in value)) return value;
  const { $id: title, ...schema } = value;
  return { title, ...schema };
}

function header(name: string, description: string): object {
  return { name, in: 'header', required: false, description, schema: { type: 'string' } };
}
