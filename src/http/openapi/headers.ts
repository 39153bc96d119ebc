import { ERRORS, type ErrorCode } from '../../kernel/errors.ts';
import { LATEST_VERSION } from '../plugins/version.ts';
import type { Route } from '../route.ts';
import { type Json, refTo } from './json.ts';

const UUID = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$';
const REQUEST_ID = '0b9f5c2e-7d41-4a8e-9c53-2f6b1d8e4a70';

const count = (description: string, example: number) => ({
  description,
  schema: { type: 'integer', examples: [example] },
});

/** Headers of requests that every endpoint takes. */
export const PARAMETERS: Record<string, Json> = {
  RequestId: header('X-SVC-Request-Id', 'Echoed if it is a UUIDv4; otherwise replaced.', {
    pattern: UUID,
    examples: [REQUEST_ID],
  }),
  ApiVersion: header(
    'Svc-API-Version',
    'API version to use: `1`, `1.0`, `1.0.0`, or a date since the first release, which selects the release of that day. Defaults to the latest 1.x.',
    { pattern: '^(1|1\\.0|1\\.0\\.0|20\\d\\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01]))$', examples: ['1'] },
  ),
  IdempotencyKey: header(
    'Idempotency-Key',
    'Repeating a request with the same key returns the first response. A UUID works well.',
    { pattern: '^[A-Za-z0-9_-]{8,255}$', examples: ['5d1f6a0e-3c55-4a6b-8f0e-91b1d0b7c2aa'] },
  ),
  LastEventId: header('Last-Event-ID', 'Resumes after this event.', { examples: [REQUEST_ID] }),
};

function header(name: string, description: string, schema: object): Json {
  return { name, in: 'header', required: false, description, schema: { type: 'string', ...schema } };
}

/** Headers of answers, by the name of their component. */
const ANSWERED: Record<string, { name: string; header: Json }> = {
  RequestId: {
    name: 'X-SVC-Request-Id',
    header: {
      description: 'Identifies the request in the server log.',
      required: true,
      schema: { type: 'string', pattern: UUID, examples: [REQUEST_ID] },
    },
  },
  ApiVersion: {
    name: 'Svc-API-Version',
    header: {
      description: 'API release that handled the request.',
      required: true,
      schema: { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+$', examples: [LATEST_VERSION] },
    },
  },
  KeyMode: {
    name: 'Svc-Key-Mode',
    header: {
      description: 'Mode of the key; absent if no key was accepted.',
      schema: { type: 'string', enum: ['live', 'test'] },
    },
  },
  RateLimitLimit: {
    name: 'X-RateLimit-Limit',
    header: count('Requests allowed per minute for the key; absent if no key was accepted.', 1000),
  },
  RateLimitRemaining: {
    name: 'X-RateLimit-Remaining',
    header: count('Remaining requests; -1 while the count is unavailable.', 999),
  },
  RateLimitReset: {
    name: 'X-RateLimit-Reset',
    header: count('Unix seconds when the next minute window of the key starts.', 1_795_165_260),
  },
  DailyLimit: {
    name: 'X-RateLimit-Daily-Limit',
    header: count('Requests allowed per UTC day for the key; absent without a daily limit.', 10_000),
  },
  DailyRemaining: {
    name: 'X-RateLimit-Daily-Remaining',
    header: count('Remaining requests; -1 while the count is unavailable.', 9_999),
  },
  DailyReset: {
    name: 'X-RateLimit-Daily-Reset',
    header: count('Unix seconds when the next day starts.', 1_795_219_200),
  },
  RetryAfter: { name: 'Retry-After', header: count('Seconds to wait before retrying.', 30) },
  Link: {
    name: 'Link',
    header: {
      description: 'Next page as `rel="next"`; absent on the last page.',
      schema: { type: 'string', examples: ['</api/v1/streams?cursor=eyJ2IjoxfQ>; rel="next"'] },
    },
  },
  IdempotencyState: {
    name: 'X-SVC-Idempotency',
    header: {
      description: 'How the Idempotency-Key was handled; absent without one.',
      schema: { type: 'string', enum: ['stored', 'replayed', 'not_stored', 'unavailable'] },
    },
  },
  IdempotentReplay: {
    name: 'X-SVC-Idempotent-Replay',
    header: {
      description: '`true` if the response is a replay.',
      schema: { type: 'string', const: 'true' },
    },
  },
};

/** `components.headers`. */
export const HEADERS: Record<string, Json> = Object.fromEntries(
  Object.entries(ANSWERED).map(([key, { header: declared }]) => [key, declared]),
);

const ALWAYS = ['RequestId', 'ApiVersion'];
const COUNTED = [
  ...ALWAYS,
  'KeyMode',
  'RateLimitLimit',
  'RateLimitRemaining',
  'RateLimitReset',
  'DailyLimit',
  'DailyRemaining',
  'DailyReset',
];

const refs = (keys: readonly string[]) =>
  Object.fromEntries(keys.map((key) => [ANSWERED[key]?.name ?? key, refTo('headers', key)]));

/** Headers of an endpoint's success. */
export function successHeaders(route: Route): Json {
  return refs([
    ...(route.auth === 'none' ? ALWAYS : COUNTED),
    ...(route.reply.list === true ? ['Link'] : []),
    ...(route.idempotent ? ['IdempotencyState', 'IdempotentReplay'] : []),
  ]);
}

/** Headers of a refusal that has one of these codes, which share a status: before the key is known nothing is counted. */
export function errorHeaders(codes: readonly ErrorCode[]): Json {
  const statuses = codes.map((code) => ERRORS[code].status);
  // Among the 401s of endpoints with a key, that of the user token follows the key check, and so does a wrong
  // password.
  const isUncounted = statuses.includes(401) && !codes.includes('INVALID_USER_TOKEN');
  if (isUncounted || statuses.includes(431)) return refs(ALWAYS);
  const mayRetry = statuses.includes(429) || codes.includes('SERVICE_UNAVAILABLE');
  return refs(mayRetry ? [...COUNTED, 'RetryAfter'] : COUNTED);
}
