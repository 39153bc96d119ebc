import { STATUS_CODES } from 'node:http';
import { AppError, ERRORS, type ErrorCode, isTextCode } from '../../kernel/errors.ts';
import type { Route } from '../route.ts';
import { errorHeaders } from './headers.ts';
import { type Json, pascal, refTo } from './json.ts';
import type { Schemas } from './schemas.ts';

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
const SESSION_ERRORS: readonly ErrorCode[] = ['UNAUTHORIZED', 'NOT_FOUND'];
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
  'session-owner': 'ADMIN_ONLY',
  admin: 'ADMIN_ONLY',
};
/** Errors independent of the endpoint, even before the path is known. */
const ANY_REQUEST = [
  'BAD_REQUEST',
  'REQUEST_TIMEOUT',
  'HEADERS_TOO_LARGE',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const;

/** Codes in the default error response of each status: only other codes appear in the name of a component. */
const USUAL: readonly ErrorCode[] = [
  ...KEY_ERRORS,
  ...ANY_REQUEST,
  'NOT_FOUND',
  'CONFLICT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'RATE_LIMITED',
  'DAILY_QUOTA_EXCEEDED',
];

/** Every code that an endpoint can answer: those of its policy and shapes, and its own. */
export function errorsOf(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>([...ANY_REQUEST, ...route.errors]);
  if (route.auth === 'key' || route.auth === 'optional') for (const code of KEY_ERRORS) codes.add(code);
  if (route.auth === 'optional') codes.delete('UNAUTHORIZED');
  if (takesSession(route)) for (const code of SESSION_ERRORS) codes.add(code);
  if (route.ownOrigin === true || (takesSession(route) && route.method !== 'GET')) codes.add('CSRF_REJECTED');
  if (route.recentPassword === true) codes.add('PASSWORD_REQUIRED');
  if (route.auth !== 'none') codes.add('RATE_LIMITED').add('DAILY_QUOTA_EXCEEDED');
  if (route.gate !== null) codes.add(GATE_ERRORS[route.gate]);
  if (asksForScope(route)) codes.add('INSUFFICIENT_SCOPE');
  for (const { refusal } of route.limits ?? []) codes.add(refusal === 'text' ? 'RATE_LIMITED' : refusal);
  if (route.permission !== null || route.onlyMode !== undefined) codes.add('PERMISSION_DENIED');
  if (route.originLock) codes.add('integration_domain_required').add('origin_not_allowed');
  if (route.deprecated !== undefined) codes.add(route.deprecated.code);
  if (route.idempotent) for (const code of IDEMPOTENCY_ERRORS) codes.add(code);
  if (route.reply.envelope === 'events' || route.reply.tail !== undefined) codes.add('SSE_PER_KEY_CAP');
  if (route.method !== 'GET') codes.add('PAYLOAD_TOO_LARGE').add('UNSUPPORTED_MEDIA_TYPE');
  return [...codes].sort((a, b) => ERRORS[a].status - ERRORS[b].status || (a < b ? -1 : 1));
}

/** `X-Account-Id` can name an account that is not there, whatever the path. */
function takesSession({ auth }: Route): boolean {
  return auth === 'key' || auth === 'session';
}

/** The owner's gate decides about the scope itself. */
function asksForScope({ auth, gate, writes, method }: Route): boolean {
  if (gate === 'owner' || gate === 'session-owner' || gate === 'admin') return false;
  return auth === 'key' && (writes ?? method !== 'GET');
}

/** The refusals of the document: one response for each set of codes of a status, whatever endpoints share it. */
export class ErrorResponses {
  readonly #schemas: Schemas;
  readonly #responses = new Map<string, Json>();

  constructor(schemas: Schemas) {
    this.#schemas = schemas;
  }

  /** The responses of an endpoint by their status. */
  of(route: Route): Record<string, Json> {
    const byStatus = new Map<number, ErrorCode[]>();
    for (const code of errorsOf(route)) {
      const { status } = ERRORS[code];
      byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
    }
    return Object.fromEntries([...byStatus].map(([status, codes]) => [status, this.#one(route, codes)]));
  }

  get responses(): Record<string, Json> {
    return Object.fromEntries([...this.#responses].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #one(route: Route, codes: readonly ErrorCode[]): Json {
    const isPlain = codes.includes('RATE_LIMITED') && route.limits?.some((one) => one.refusal === 'text');
    const name = nameOf(codes, isPlain === true);
    if (!this.#responses.has(name)) this.#responses.set(name, this.#response(name, codes, isPlain === true));
    return refTo('responses', name);
  }

  #response(name: string, codes: readonly ErrorCode[], isPlain: boolean): Json {
    const schema = this.#schemas.add(`${name}Error`, errorSchema(codes, isPlain));
    return {
      description: codes.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join('\n\n'),
      headers: errorHeaders(codes),
      content: { 'application/json': { schema, examples: examples(codes, isPlain) } },
    };
  }
}

function nameOf(codes: readonly ErrorCode[], isPlain: boolean): string {
  const status = codes[0] === undefined ? 0 : ERRORS[codes[0]].status;
  const usual = USUAL.filter((code) => ERRORS[code].status === status);
  const special = codes.filter((code) => !usual.includes(code));
  const lacks = usual.length > 0 && !usual.some((code) => codes.includes(code));
  const base = (STATUS_CODES[status] ?? String(status)).replaceAll(/[^A-Za-z]/g, '');
  return `${lacks ? '' : base}${special.map(pascal).join('')}${isPlain ? 'PerAddress' : ''}`;
}

/** The error envelope, with its two exceptions: codes that are the text of `error`, and limits of addresses. */
function errorSchema(codes: readonly ErrorCode[], isPlain: boolean): object {
  const texts: string[] = [...codes.filter(isTextCode), ...(isPlain ? ['Too many requests'] : [])];
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
      success: { type: 'boolean', const: false },
      error: texts.length === 0 ? error : { anyOf: [error, { type: 'string', enum: texts }] },
      ...(isPlain
        ? { retryAfter: { type: 'integer', description: 'Seconds to wait before retrying.' } }
        : {}),
      ...(codes.includes('SECOND_FACTOR_REQUIRED') ? SECOND_FACTOR : {}),
    },
  };
}

/** Fields next to `error` that only SECOND_FACTOR_REQUIRED has. */
const SECOND_FACTOR = {
  twoFactorRequired: { type: 'boolean', const: true },
  challengeId: { type: 'string' },
  expiresIn: { type: 'integer', description: 'Seconds.' },
};

function examples(codes: readonly ErrorCode[], isPlain: boolean): Record<string, Json> {
  const each = codes.map((code) => [code, { value: new AppError(code).body() }]);
  const plain = { success: false, error: 'Too many requests', retryAfter: 60 };
  return Object.fromEntries([...each, ...(isPlain ? [['perAddress', { value: plain }]] : [])]);
}
