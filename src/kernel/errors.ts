import type { QuotaExceededDetails } from './plans.ts';

/**
 * Registry of all error codes (docs/concepts/conventions.md#errors,
 * docs/decisions/errors.md#additional-error-codes). An entry has its HTTP status, the message for clients,
 * and the text of the documentation (Markdown); the OpenAPI enum and `docs/errors.md` are generated from it.
 */
export const ERRORS = {
  BAD_REQUEST: {
    status: 400,
    message: 'A request parameter is invalid.',
    description:
      'A parameter is missing, has the wrong type, or is out of range. `field` names the first invalid input: a body member with dots for nesting (`chapters.0.startSec`), a query parameter, a header by its documented name, or `body`, `query` or `path` for the whole part. Body values are never coerced: `"100"` is not an integer. Fix the input before retrying; the same request fails again.',
  },
  INVALID_EMAIL: {
    status: 400,
    message: 'Enter a valid email address.',
    description:
      'The address is not in the form `name@host.tld`, or it is longer than 254 characters. It is trimmed and lowercased before validation.',
  },
  WEAK_PASSWORD: {
    status: 400,
    message: 'The password must have at least 12 characters.',
    description: 'Length is the only requirement: at least 12 characters.',
  },
  INVALID_IDEMPOTENCY_KEY: {
    status: 400,
    message: 'Idempotency-Key must be 8 to 255 characters: letters, digits, "_" and "-".',
    description:
      'The `Idempotency-Key` header is shorter than 8 or longer than 255 characters, contains a character other than `A-Z a-z 0-9 _ -`, or was sent twice. A UUID works well. The request was not processed.',
  },
  UNKNOWN_EVENT: {
    status: 400,
    message: 'Unknown event type.',
    description:
      '`event` is not an event type listed by `GET /me/webhooks/events`. Patterns such as `stream.*` are valid only in subscriptions.',
  },
  UNAUTHORIZED: {
    status: 401,
    message: 'Authentication required. Send an API key as "Authorization: Bearer <key>" or "X-API-Key".',
    description:
      'The request contains neither an API key nor a valid dashboard session. Keys in the query string are ignored, and `Authorization` schemes other than `Bearer` count as missing. A session ends on sign-out, after 14 days without use, or 90 days after sign-in.',
  },
  INVALID_KEY_FORMAT: {
    status: 401,
    message: 'Invalid API key format: keys start with "pk_".',
    description:
      'The value sent as the API key does not start with `pk_`. Send a user token in `X-User-Token`, together with the key.',
  },
  INVALID_KEY: {
    status: 401,
    message: 'Invalid API key.',
    description:
      'No API key matches this value. Check for missing or duplicated characters, and that the key belongs to this installation.',
  },
  KEY_DISABLED: {
    status: 401,
    message: 'This API key has been revoked.',
    description:
      'The key was revoked, its rotation overlap has ended, or its account is suspended. Use another key.',
  },
  KEY_EXPIRED: {
    status: 401,
    message: 'This API key has expired.',
    description:
      '`expiresAt` has passed. Create a new key with one that is still valid; `api_key.expiring` is sent seven days before a key expires.',
  },
  INVALID_USER_TOKEN: {
    status: 401,
    message: 'The user token is invalid, expired, or belongs to another user.',
    description:
      "`X-User-Token` is not valid, has expired, belongs to a user other than the API key's owner, or is missing on an endpoint that requires one. Sign in again. Each key works with the tokens of one user.",
  },
  INVALID_CREDENTIALS: {
    status: 401,
    message: 'Incorrect email or password.',
    description:
      'The response is identical for an unknown email address, a wrong password, a suspended account, and a wrong or used second factor.',
  },
  SECOND_FACTOR_REQUIRED: {
    status: 401,
    message: 'Two-factor authentication is required.',
    description:
      'This is not a failure: the password was correct. Send the `challengeId` next to `error`, with a code from the authenticator app, to `POST /auth/login/2fa` within `expiresIn` seconds.',
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    message: 'This API key is read-only.',
    description:
      "A READ_ONLY key can use only GET and HEAD, and can revoke itself. With its owner's user token it can also create READ_ONLY keys and revoke other keys. Use a key with scope STANDARD or FULL_ACCESS.",
  },
  PERMISSION_DENIED: {
    status: 403,
    message: 'This API key does not have the required permission.',
    description:
      'The key has a permission list that does not include the permission named in the message. Write permissions include read (`videos:write` allows what `videos:read` does); `videos:*` and `*` include both. Keys whose list includes no read permission for videos, streams, restreams or rooms can read all four. A key with an empty list has every permission except finance. Account-wide settings, such as the embed allowlist, notification preferences and two-factor authentication, require a live key or a live-mode session; test mode returns this code too.',
  },
  FINANCIAL_SCOPE_REQUIRED: {
    status: 403,
    message: 'This endpoint requires a FULL_ACCESS key or a finance permission.',
    description:
      'Reading financial data requires scope FULL_ACCESS or one of `finance:read`, `finance:write`, `finance:*` or `*`; changing it requires FULL_ACCESS or one of the last three. This applies to GET requests too.',
  },
  OWNER_SCOPE_REQUIRED: {
    status: 403,
    message: 'This action requires a FULL_ACCESS key or a user token.',
    description:
      'Creating or rotating a key, or revoking a key other than the current one, requires an owner credential: a FULL_ACCESS key, or any key together with an `X-User-Token` from a sign-in.',
  },
  MINT_CEILING_EXCEEDED: {
    status: 403,
    message: 'A key cannot grant more access than it has.',
    description:
      'A new key can have at most the scope, permissions, mode, expiration, address and domain restrictions, and daily quota of the key that creates it. `field` names the one that exceeds it. A key with an expiration can only create keys that expire no later, so `expiresAt` is required; the same applies to its restrictions.',
  },
  EMAIL_NOT_VERIFIED: {
    status: 403,
    message: "Verify the account's email address first.",
    description:
      "API keys and sessions work once the account's email address is verified through the emailed link. Request a new link on `/verify-email`.",
  },
  IP_NOT_ALLOWED: {
    status: 403,
    message: 'This API key cannot be used from this IP address.',
    description:
      "The key has an `ipAllowlist` that does not include the caller's IP address. Behind a proxy, the operator's `TRUST_PROXY` setting determines that address.",
  },
  DOMAIN_NOT_ALLOWED: {
    status: 403,
    message: 'This API key cannot be used from this domain.',
    description:
      'The key has a `domainAllowlist` that does not include the host of `Origin` (or `Referer`), or the request has neither header.',
  },
  ADMIN_ONLY: {
    status: 403,
    message: 'This endpoint is restricted to administrators.',
    description:
      'API keys cannot use this endpoint, whatever their scope. It requires a person signed in to the dashboard, and in some cases a platform administrator.',
  },
  CSRF_REJECTED: {
    status: 403,
    message: 'Cross-site request rejected.',
    description:
      "A dashboard session can make changes only from the platform's own pages: `Origin` must match `PUBLIC_URL` or `https://` and one of `PLATFORM_HOSTS`, including scheme and port, and `X-CSRF-Token` must be the `csrfToken` from `GET /auth/session`. Signing in requires a matching `Origin` too. Programs should use an API key, which needs neither header.",
  },
  PASSWORD_REQUIRED: {
    status: 403,
    message: 'Confirm your password to continue.',
    description:
      'This action has effects that outlast the session, so the session must have confirmed its password within the last ten minutes; signing in counts. Send the password to `POST /auth/session/password` and retry. API keys are never asked for a password.',
  },
  REGISTRATION_CLOSED: {
    status: 403,
    message: 'Registration requires an invitation.',
    description:
      'The operator creates the accounts on this platform or invites people to create one (`REGISTRATION`): `inviteToken` is missing, unknown, already used, expired, or was issued for another email address.',
  },
  QUOTA_EXCEEDED: {
    status: 403,
    message: 'Plan limit reached.',
    description:
      'The plan does not allow more of this resource; the message names the limit. Delete something or upgrade the plan.',
  },
  integration_domain_required: {
    status: 403,
    message: 'Add and verify an integration domain to use this endpoint.',
    description:
      'Checkout and payment requests must come from a platform host or a verified integration domain. The account does not have a verified domain in the mode of this key. Add one with `POST /me/integration-domains`. `error` is the code itself, as a string.',
  },
  origin_not_allowed: {
    status: 403,
    message: 'This origin is not a verified integration domain.',
    description:
      'The account has verified integration domains, but the request came from none of them: `Origin` (or `Referer`) is missing, is not https, or names another host. Servers must send `Origin: https://<domain>`. `error` is the code itself, as a string.',
  },
  NOT_FOUND: {
    status: 404,
    message: 'Resource not found.',
    description:
      'The path or resource does not exist, or it belongs to another account or to the other mode. The response does not distinguish between these cases.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: 'Method not allowed.',
    description:
      'The path exists but does not support this method; the `Allow` header lists the supported methods.',
  },
  CONFLICT: {
    status: 409,
    message: 'The request conflicts with the current state of the resource.',
    description:
      'The resource is in a state that does not allow this operation, or a value that must be unique is already taken (`field` names it). Fetch the resource again before retrying.',
  },
  EMAIL_EXISTS: {
    status: 409,
    message: 'An account with this email address already exists.',
    description: 'The email address is already registered, or a concurrent registration completed first.',
  },
  IDEMPOTENCY_IN_FLIGHT: {
    status: 409,
    message: 'A request with this Idempotency-Key is still in progress.',
    description:
      'The first request with this `Idempotency-Key` did not finish within three seconds. Retry with the same key to get its response once it completes.',
  },
  CATALOG_DISABLED: {
    status: 410,
    message: 'The catalog endpoints have been removed.',
    description:
      '`/search`, `/trending` and `/feed` have been removed permanently. Lists of your own resources are still available.',
  },
  UPLOAD_EXPIRED: {
    status: 410,
    message: 'The upload session has expired.',
    description:
      'The upload session ended seven days after its last byte, or because its file was rejected. Create a new upload session.',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    message: 'Request timed out.',
    description:
      'The request headers, or a body that is not an upload, did not arrive within one minute. The connection is closed. Retry on a faster connection or with a smaller body.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    message: 'Request headers are too large.',
    description:
      'The request line and headers together exceed 16 KB. The connection is closed. Check for oversized cookies or tokens.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    message: 'Request body is too large.',
    description: 'JSON bodies are limited to 1 MB; file limits are documented on each endpoint.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: 'Unsupported media type. Send the body as application/json.',
    description:
      'Request bodies must be `application/json`; endpoints that accept files also take `multipart/form-data`.',
  },
  IDEMPOTENCY_KEY_REUSE: {
    status: 422,
    message: 'This Idempotency-Key was already used with a different request body.',
    description:
      'This `Idempotency-Key` was used with a different body within the last 24 hours. Bodies are compared as JSON values before validation: whitespace and field order do not matter, and an invalid body also counts as different. Use a new key for a new request.',
  },
  RATE_LIMITED: {
    status: 429,
    message: 'Too many requests. Retry after the time in Retry-After.',
    description:
      'The key\'s requests per minute, or a limit on this endpoint, are used up. Wait `Retry-After` seconds. The per-IP limits of `POST /auth/login`, `POST /auth/register`, `/channel/*` and `/videos/{id}/related` return `error` as the string "Too many requests" with `retryAfter` next to it.',
  },
  DAILY_QUOTA_EXCEEDED: {
    status: 429,
    message: 'Daily quota exceeded for this API key.',
    description:
      "The key's `dailyQuota` is used up until 00:00 UTC; `X-RateLimit-Daily-Reset` is the reset time.",
  },
  RATE_LIMIT: {
    status: 429,
    message: 'Too many view events for this video from this IP address.',
    description:
      'One IP address sent more than 30 views of one video within a minute. Only `POST /videos/{id}/views` returns this code.',
  },
  SSE_PER_KEY_CAP: {
    status: 429,
    message: 'Too many open event streams.',
    description:
      'A key can have at most 25 open event streams of all kinds, and an account at most 400 open `/me/events/stream` connections across its keys; the message names the limit that was reached. Close one; a dropped connection frees its slot after 45 seconds.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    message: 'Service temporarily unavailable. Try again.',
    description:
      'The server is overloaded, or a component it depends on, such as the database, is unavailable. Retry after `Retry-After` seconds with exponential backoff. The request may have been processed: use an `Idempotency-Key` to retry safely.',
  },
  INSUFFICIENT_STORAGE: {
    status: 507,
    message: 'The server is out of storage space.',
    description:
      "The server's disk is nearly full. Reads still work; new data is rejected until the operator frees space. Stored data is not affected.",
  },
  INTERNAL_ERROR: {
    status: 500,
    message: 'Internal server error.',
    description:
      "An unexpected server error. Details are not disclosed; the operator can find them in the log under the response's `X-SVC-Request-Id`. Retrying may help, and is safe with an `Idempotency-Key`.",
  },
  SECOND_FACTOR_UNAVAILABLE: {
    status: 503,
    message: 'Two-factor authentication could not be started. Try again.',
    description:
      'The password was correct, but the two-factor challenge could not be stored. Retry the request.',
  },
} as const satisfies Record<string, { status: number; message: string; description: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** Codes whose body has `error` as a string (docs/concepts/integration-domains.md#the-origin-lock). */
const STRING_BODY: ReadonlySet<ErrorCode> = new Set(['integration_domain_required', 'origin_not_allowed']);

/** Reports whether the code itself is the string value of `error`. */
export function isTextCode(code: ErrorCode): boolean {
  return STRING_BODY.has(code);
}

interface AppErrorOptions {
  /** Replaces the registry's public message; it reaches the client. */
  message?: string;
  /** The offending input: a body path with dots, a query parameter, or a header by its documented name. */
  field?: string;
  /** Details for the log only. */
  internal?: string;
  cause?: unknown;
  headers?: Record<string, string>;
  /** Details of QUOTA_EXCEEDED: the rejected resource and its workspace. */
  quota?: QuotaExceededDetails;
  /** Replaces the `error` object of the body by this text (docs/concepts/conventions.md#errors). */
  plainText?: string;
  /** Additional fields of the body next to `error` (docs/concepts/conventions.md#errors). */
  extra?: Readonly<Record<string, string | number | boolean>>;
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
  readonly quota: QuotaExceededDetails | undefined;
  readonly #plainText: string | undefined;
  readonly #extra: AppErrorOptions['extra'];

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    super(options.message ?? ERRORS[code].message, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.status = ERRORS[code].status;
    this.field = options.field;
    this.internal = options.internal;
    this.headers = options.headers ?? DEFAULT_HEADERS[code] ?? {};
    this.quota = options.quota;
    this.#plainText = options.plainText ?? (STRING_BODY.has(code) ? code : undefined);
    this.#extra = options.extra;
  }

  /** The response body (docs/concepts/conventions.md#envelopes, docs/concepts/integration-domains.md#the-origin-lock). */
  body(): object {
    if (this.#plainText !== undefined) return { success: false, error: this.#plainText, ...this.#extra };
    const { code, message, field } = this;
    const error = field === undefined ? { code, message } : { code, message, field };
    return { success: false, ...this.#extra, error };
  }
}

/** 403 QUOTA_EXCEEDED: the plan of a workspace has no more of a resource. */
export function quotaExceeded(quota: QuotaExceededDetails, message: string): AppError {
  return new AppError('QUOTA_EXCEEDED', { message, quota });
}

/** 400 BAD_REQUEST that names the offending input. */
export function badRequest(field: string, message: string): AppError {
  return new AppError('BAD_REQUEST', { field, message });
}

/**
 * 429 with `Retry-After`.
 *
 * @param form the code; `text` is RATE_LIMITED with `error` as a string (docs/concepts/conventions.md#errors).
 */
export function tooManyRequests(
  form: 'text' | 'RATE_LIMITED' | 'RATE_LIMIT' | 'DAILY_QUOTA_EXCEEDED',
  resetInMs: number,
): AppError {
  const retryAfter = Math.max(1, Math.ceil(resetInMs / 1000));
  const headers = { 'Retry-After': String(retryAfter) };
  if (form !== 'text') return new AppError(form, { headers });
  return new AppError('RATE_LIMITED', { headers, plainText: 'Too many requests', extra: { retryAfter } });
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
