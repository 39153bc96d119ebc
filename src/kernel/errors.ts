import type { QuotaRefusal } from './plans.ts';

/**
 * The one registry of error codes (docs/concepts/conventions.md#errors, docs/decisions/errors.md#additional-error-codes).
 * A code carries its HTTP status, what a client is told, and what the documentation tells (Markdown); the
 * OpenAPI enum and `docs/errors` are made from it.
 */
export const ERRORS = {
  BAD_REQUEST: {
    status: 400,
    message: 'The request has an invalid parameter.',
    description:
      'Something in the request is missing, of the wrong type or out of range. `field` names the first such input: a member of the body with dots for nesting (`chapters.0.startSec`), a query parameter, a header by its documented name, or `body`, `query`, `path` for the whole. Nothing is coerced in bodies: `"100"` is no integer. Correct the input; the same request fails again.',
  },
  INVALID_EMAIL: {
    status: 400,
    message: 'The e-mail address is malformed.',
    description:
      'The address is not of the form `name@host.tld`, or longer than 254 characters. It is trimmed and lower-cased before it is looked at.',
  },
  WEAK_PASSWORD: {
    status: 400,
    message: 'The password must have at least 12 characters.',
    description: 'Length is the only rule: at least 12 characters.',
  },
  INVALID_IDEMPOTENCY_KEY: {
    status: 400,
    message: 'Idempotency-Key must be 8 to 255 characters of A-Z, a-z, 0-9, "_" and "-".',
    description:
      'The `Idempotency-Key` header is shorter than 8 or longer than 255 characters, has another character than `A-Z a-z 0-9 _ -`, or was sent twice. A UUID is a good key. The handler did not run.',
  },
  UNKNOWN_EVENT: {
    status: 400,
    message: 'The event is not in the catalogue.',
    description:
      '`event` is not a type of `GET /me/webhooks/events`. Patterns such as `stream.*` are for subscriptions only.',
  },
  UNAUTHORIZED: {
    status: 401,
    message: 'Send an API key as "Authorization: Bearer <key>" or "X-API-Key".',
    description:
      'No API key came, and no session of the dashboard that is good. A key in the query string is never read, and another `Authorization` scheme than `Bearer` counts as none. A session ends with a sign-out, 14 days after its last use and 90 days after its sign-in.',
  },
  INVALID_KEY_FORMAT: {
    status: 401,
    message: 'An API key starts with "pk_".',
    description:
      'What came as the API key does not start with `pk_`. A user token belongs in `X-User-Token`, beside the key.',
  },
  INVALID_KEY: {
    status: 401,
    message: 'The API key is unknown.',
    description:
      'No key with this text exists. Look for a cut or doubled character, or for the key of another installation.',
  },
  KEY_DISABLED: {
    status: 401,
    message: 'The API key has been revoked.',
    description:
      'The key was revoked, was replaced by a rotation whose overlap is over, or its account is suspended. Use another key.',
  },
  KEY_EXPIRED: {
    status: 401,
    message: 'The API key has expired.',
    description:
      'The `expiresAt` of the key has passed. Mint another one with a key that is still good; `api_key.expiring` tells a week before.',
  },
  INVALID_USER_TOKEN: {
    status: 401,
    message: 'The user token is invalid, expired, or belongs to another user.',
    description:
      '`X-User-Token` is no token of ours, is expired, is of another user than the owner of the API key, or is missing where an act of the user needs one. Sign in again. One key serves one user.',
  },
  INVALID_CREDENTIALS: {
    status: 401,
    message: 'The e-mail address or password is wrong.',
    description:
      'The answer is the same, byte for byte, for an unknown address, a wrong password, a suspended account and a wrong or used-up second factor.',
  },
  SECOND_FACTOR_REQUIRED: {
    status: 401,
    message: 'A second factor is required to sign in.',
    description:
      'Not a failure: the password was right. Send `challengeId`, which stands beside `error`, and the code of the authenticator app to `POST /auth/login/2fa` within `expiresIn` seconds.',
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    message: 'The scope of this API key does not allow writes.',
    description:
      'A READ_ONLY key may use GET and HEAD only, and revoke itself; beside a user token of its owner it mints READ_ONLY keys and revokes others. Use a key of scope STANDARD or FULL_ACCESS.',
  },
  PERMISSION_DENIED: {
    status: 403,
    message: 'This API key lacks a permission.',
    description:
      'The key has a list of permissions and the one that the message names is not in it. Writing includes reading (`videos:write` allows what `videos:read` does); `videos:*` and `*` include both. Videos, streams, restreams and rooms are read by every key whose list names no read of these four. A key with an empty list has everything outside finance. Settings of the whole account, such as the embed allow-list, the notification preferences and the second factor, are changed with a live key, or by a session in live mode: in the test mode they get this code, too.',
  },
  FINANCIAL_SCOPE_REQUIRED: {
    status: 403,
    message: 'This endpoint needs a FULL_ACCESS key or a finance permission.',
    description:
      'Money is read with scope FULL_ACCESS or one of `finance:read`, `finance:write`, `finance:*`, `*`, and changed with FULL_ACCESS or one of the last three. That holds for GET too.',
  },
  OWNER_SCOPE_REQUIRED: {
    status: 403,
    message: 'This action needs a FULL_ACCESS key or a user token.',
    description:
      'Minting a key, rotating one or revoking another than the key itself takes an owner-class credential: a FULL_ACCESS key, or `X-User-Token` from a sign-in beside any key.',
  },
  MINT_CEILING_EXCEEDED: {
    status: 403,
    message: 'A key cannot grant more than it holds itself.',
    description:
      'A key hands on at most what it holds: scope, permissions, mode, expiry, address and domain restrictions and daily quota. `field` names what exceeds. A key that expires mints only keys that expire no later, so it has to say `expiresAt`; the same goes for its restrictions.',
  },
  EMAIL_NOT_VERIFIED: {
    status: 403,
    message: 'The e-mail address of the account is not verified.',
    description:
      'Keys and sessions of an account work once its e-mail address is confirmed by the link that was sent there. The link can be asked for again on the page `/verify-email`.',
  },
  IP_NOT_ALLOWED: {
    status: 403,
    message: 'This API key may not be used from this address.',
    description:
      "The key has an `ipAllowlist` and the address of the caller is not in it. Behind a proxy, the operator's `TRUST_PROXY` decides which address that is.",
  },
  DOMAIN_NOT_ALLOWED: {
    status: 403,
    message: 'This API key may not be used from this domain.',
    description:
      'The key has a `domainAllowlist` and the host of `Origin`, else of `Referer`, is not in it, or neither header came.',
  },
  ADMIN_ONLY: {
    status: 403,
    message: 'This endpoint is for administrators.',
    description:
      'No API key, whatever its scope, reaches this endpoint: it wants a person who has signed in to the dashboard, and some want an administrator of the platform.',
  },
  CSRF_REJECTED: {
    status: 403,
    message: 'This call does not come from a page of this platform.',
    description:
      'A session of the dashboard changes something only for the own pages of the platform: `Origin` is that of `PUBLIC_URL`, or `https://` and one of `PLATFORM_HOSTS`, with scheme and port, and `X-CSRF-Token` is the `csrfToken` of `GET /auth/session`. Signing in wants such an `Origin`, too. Programs use an API key, which needs neither.',
  },
  PASSWORD_REQUIRED: {
    status: 403,
    message: 'Confirm your password first.',
    description:
      'What this does outlives a session, so a session has to have confirmed the password within the last ten minutes; signing in counts. Send it to `POST /auth/session/password` and try again. API keys are never asked.',
  },
  REGISTRATION_CLOSED: {
    status: 403,
    message: 'Nobody can register here without an invitation.',
    description:
      'The operator of this platform makes the accounts, or invites to make one (`REGISTRATION`): `inviteToken` is missing, unknown, used, expired, or of another address.',
  },
  QUOTA_EXCEEDED: {
    status: 403,
    message: 'A limit of the plan is reached.',
    description:
      'The plan allows no more of this: the message names the limit. Remove something, or change the plan.',
  },
  integration_domain_required: {
    status: 403,
    message: 'Declare and verify an integration domain to call this endpoint.',
    description:
      'Checkout and payment calls come from a platform host or from an integration domain that the account has declared and verified; this account has none in the mode of the key. Declare one with `POST /me/integration-domains`. `error` is the code itself, as a text.',
  },
  origin_not_allowed: {
    status: 403,
    message: 'The origin is not a verified integration domain.',
    description:
      'The account has verified integration domains, and the call comes from none of them: `Origin`, else `Referer`, is missing, is not https, or names another host. A server sends `Origin: https://its-domain`. `error` is the code itself, as a text.',
  },
  NOT_FOUND: {
    status: 404,
    message: 'There is no such resource.',
    description:
      'There is no such path or resource, or it belongs to another account or to the other mode: these cases are told apart by nothing.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: 'The path exists, the method does not.',
    description: 'The path exists; the `Allow` header lists its methods.',
  },
  CONFLICT: {
    status: 409,
    message: 'The request conflicts with the current state.',
    description:
      'The resource is in a state that does not allow this, or a value that must be unique is taken (`field` names it). Read the resource again before another try.',
  },
  EMAIL_EXISTS: {
    status: 409,
    message: 'The e-mail address is already registered.',
    description:
      'There is an account with this address, or another registration with it came first by a moment.',
  },
  IDEMPOTENCY_IN_FLIGHT: {
    status: 409,
    message: 'The first request with this Idempotency-Key is still running.',
    description:
      'The first request with this `Idempotency-Key` did not end within three seconds of waiting. Try again with the same key: it replays the answer once there is one.',
  },
  CATALOG_DISABLED: {
    status: 410,
    message: 'The catalogue endpoints are withdrawn.',
    description:
      '`/search`, `/trending` and `/feed` are withdrawn and do not come back. Lists of your own resources remain.',
  },
  UPLOAD_EXPIRED: {
    status: 410,
    message: 'The upload session has expired.',
    description:
      'The upload session has ended: seven days after its last byte, or because its file was refused. Start another one.',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    message: 'The request did not arrive in time.',
    description:
      'The headers were not there within a minute, or a body that is no upload took longer than a minute. The connection is closed. Send it again, on a better connection or in smaller parts.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    message: 'The headers of the request are too large.',
    description:
      'Request line and headers together have at most 16 KB. The connection is closed. Look for cookies or tokens that grew.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    message: 'The request body is too large.',
    description: 'A JSON body has at most 1 MB; a file has the limit that its endpoint names.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: 'Send the body as application/json.',
    description: 'Bodies are `application/json`; endpoints that take a file take `multipart/form-data` too.',
  },
  IDEMPOTENCY_KEY_REUSE: {
    status: 422,
    message: 'This Idempotency-Key was used with a different request body.',
    description:
      'This `Idempotency-Key` was used within 24 hours with another body. Bodies are compared as JSON values, before they are validated: whitespace and the order of fields do not matter, and an invalid body is another body, too. Use a new key for a new request.',
  },
  RATE_LIMITED: {
    status: 429,
    message: 'Too many requests; see Retry-After.',
    description:
      'The key\'s requests per minute, or a cap of this endpoint, are used up. Wait `Retry-After` seconds. The limiters for addresses of `POST /auth/login`, `POST /auth/register`, `/channel/*` and `/videos/{id}/related` send `error` as the text "Too many requests" with `retryAfter` beside it.',
  },
  DAILY_QUOTA_EXCEEDED: {
    status: 429,
    message: 'The daily quota of this API key is used up.',
    description:
      'The `dailyQuota` of the key is used up until 00:00 UTC; `X-RateLimit-Daily-Reset` has the second.',
  },
  RATE_LIMIT: {
    status: 429,
    message: 'Too many view events from this address for this video.',
    description:
      'One address has sent more than 30 views of one video in a minute. Only `POST /videos/{id}/views` answers this code.',
  },
  SSE_PER_KEY_CAP: {
    status: 429,
    message: 'Too many open event streams.',
    description:
      'A key has at most 25 open event streams, of all kinds together, and an account at most 400 of `/me/events/stream` on all its keys; the message says which cap it is. Close one; a connection that has died frees its place after 45 seconds.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    message: 'The service cannot answer now; try again.',
    description:
      'The server is overloaded, or a part that it needs, such as the database, does not answer. Retry after `Retry-After` seconds, with growing pauses. Whether a change was made before is unknown: an `Idempotency-Key` makes the repetition safe.',
  },
  INSUFFICIENT_STORAGE: {
    status: 507,
    message: 'The server has no room for new files.',
    description:
      'The disk of the server is nearly full. Reading goes on; new bytes are refused until the operator has made room. Nothing that was stored before is lost.',
  },
  INTERNAL_ERROR: {
    status: 500,
    message: 'Something went wrong on our side.',
    description:
      'A fault of the server. Nothing of its cause is told; the operator finds it in the log under the `X-SVC-Request-Id` of the answer. Trying again may help; with an `Idempotency-Key` it does no harm.',
  },
  SECOND_FACTOR_UNAVAILABLE: {
    status: 503,
    message: 'The second factor could not be started; try again.',
    description:
      'The password was right, and the challenge for the second factor could not be stored. Try again.',
  },
} as const satisfies Record<string, { status: number; message: string; description: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** Codes whose body has `error` as a plain string (docs/concepts/integration-domains.md#the-origin-lock). */
const STRING_BODY: ReadonlySet<ErrorCode> = new Set(['integration_domain_required', 'origin_not_allowed']);

/** Is the code itself the text of `error`? */
export function isTextCode(code: ErrorCode): boolean {
  return STRING_BODY.has(code);
}

interface AppErrorOptions {
  /** Replaces the registry's public message; it reaches the client. */
  message?: string;
  /** The offending input: a body path with dots, a query parameter, or a header by its documented name. */
  field?: string;
  /** For the log only. */
  internal?: string;
  cause?: unknown;
  headers?: Record<string, string>;
  /** Of QUOTA_EXCEEDED: what was refused to whom. */
  refusal?: QuotaRefusal;
  /** Replaces the `error` object of the body by this text (docs/concepts/conventions.md#errors). */
  plain?: string;
  /** Members of the body beside `error` (docs/concepts/conventions.md#errors). */
  beside?: Readonly<Record<string, string | number | boolean>>;
}

/** Headers of the responses with a code, unless the failure names others. */
const DEFAULT_HEADERS: Partial<Record<ErrorCode, Record<string, string>>> = {
  SERVICE_UNAVAILABLE: { 'Retry-After': '2' },
};

/** A failure with a code of the registry: a public half for the client and an internal half for the log. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly field: string | undefined;
  readonly internal: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly refusal: QuotaRefusal | undefined;
  readonly #plain: string | undefined;
  readonly #beside: AppErrorOptions['beside'];

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    super(options.message ?? ERRORS[code].message, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.status = ERRORS[code].status;
    this.field = options.field;
    this.internal = options.internal;
    this.headers = options.headers ?? DEFAULT_HEADERS[code] ?? {};
    this.refusal = options.refusal;
    this.#plain = options.plain ?? (STRING_BODY.has(code) ? code : undefined);
    this.#beside = options.beside;
  }

  /** The response body (docs/concepts/conventions.md#envelopes, docs/concepts/integration-domains.md#the-origin-lock). */
  body(): object {
    if (this.#plain !== undefined) return { success: false, error: this.#plain, ...this.#beside };
    const { code, message, field } = this;
    const error = field === undefined ? { code, message } : { code, message, field };
    return { success: false, ...this.#beside, error };
  }
}

/** 403 QUOTA_EXCEEDED: the plan of a workspace has no more of a resource. */
export function quotaExceeded(refusal: QuotaRefusal, message: string): AppError {
  return new AppError('QUOTA_EXCEEDED', { message, refusal });
}

/** 400 BAD_REQUEST that names the offending input. */
export function badRequest(field: string, message: string): AppError {
  return new AppError('BAD_REQUEST', { field, message });
}

/**
 * 429 with `Retry-After`.
 *
 * @param form the code; `plain` is RATE_LIMITED with `error` as a text (docs/concepts/conventions.md#errors).
 */
export function tooMany(
  form: 'plain' | 'RATE_LIMITED' | 'RATE_LIMIT' | 'DAILY_QUOTA_EXCEEDED',
  resetInMs: number,
): AppError {
  const retryAfter = Math.max(1, Math.ceil(resetInMs / 1000));
  const headers = { 'Retry-After': String(retryAfter) };
  if (form !== 'plain') return new AppError(form, { headers });
  return new AppError('RATE_LIMITED', { headers, plain: 'Too many requests', beside: { retryAfter } });
}

/**
 * 404 for a missing and for a foreign resource alike: existence is never revealed
 * (docs/decisions/errors.md#missing-and-foreign-look-alike).
 *
 * @param field the member of the body that names it, unless the path does.
 */
export function notFound(field?: string): AppError {
  return new AppError('NOT_FOUND', field === undefined ? {} : { field });
}
