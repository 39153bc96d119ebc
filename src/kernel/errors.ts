/**
 * The one registry of error codes (contract 7, `api.md` C14). A code carries its HTTP status; the OpenAPI
 * enum and the documentation are made from this table.
 */
export const ERRORS = {
  BAD_REQUEST: { status: 400, message: 'The request has an invalid parameter.' },
  INVALID_EMAIL: { status: 400, message: 'The e-mail address is malformed.' },
  WEAK_PASSWORD: { status: 400, message: 'The password must have at least 12 characters.' },
  INVALID_IDEMPOTENCY_KEY: {
    status: 400,
    message: 'Idempotency-Key must be 8 to 255 characters of A-Z, a-z, 0-9, "_" and "-".',
  },
  UNKNOWN_EVENT: { status: 400, message: 'The event is not in the catalogue.' },
  UNAUTHORIZED: { status: 401, message: 'Send an API key as "Authorization: Bearer <key>" or "X-API-Key".' },
  INVALID_KEY_FORMAT: { status: 401, message: 'An API key starts with "pk_".' },
  INVALID_KEY: { status: 401, message: 'The API key is unknown.' },
  KEY_DISABLED: { status: 401, message: 'The API key has been revoked.' },
  KEY_EXPIRED: { status: 401, message: 'The API key has expired.' },
  INVALID_USER_TOKEN: {
    status: 401,
    message: 'The user token is invalid, expired, or belongs to another user.',
  },
  INVALID_CREDENTIALS: { status: 401, message: 'The e-mail address or password is wrong.' },
  SECOND_FACTOR_REQUIRED: { status: 401, message: 'A second factor is required to sign in.' },
  INSUFFICIENT_SCOPE: { status: 403, message: 'The scope of this API key does not allow writes.' },
  PERMISSION_DENIED: { status: 403, message: 'This API key lacks a permission.' },
  FINANCIAL_SCOPE_REQUIRED: {
    status: 403,
    message: 'This endpoint needs a FULL_ACCESS key or a finance permission.',
  },
  OWNER_SCOPE_REQUIRED: { status: 403, message: 'This action needs a FULL_ACCESS key or a user token.' },
  MINT_CEILING_EXCEEDED: { status: 403, message: 'A key cannot grant more than it holds itself.' },
  EMAIL_NOT_VERIFIED: { status: 403, message: 'The e-mail address of the account is not verified.' },
  IP_NOT_ALLOWED: { status: 403, message: 'This API key may not be used from this address.' },
  DOMAIN_NOT_ALLOWED: { status: 403, message: 'This API key may not be used from this domain.' },
  ADMIN_ONLY: { status: 403, message: 'This endpoint is for administrators.' },
  QUOTA_EXCEEDED: { status: 403, message: 'A limit of the plan is reached.' },
  integration_domain_required: {
    status: 403,
    message: 'Declare and verify an integration domain to call this endpoint.',
  },
  origin_not_allowed: { status: 403, message: 'The origin is not a verified integration domain.' },
  NOT_FOUND: { status: 404, message: 'There is no such resource.' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'The path exists, the method does not.' },
  CONFLICT: { status: 409, message: 'The request conflicts with the current state.' },
  EMAIL_EXISTS: { status: 409, message: 'The e-mail address is already registered.' },
  IDEMPOTENCY_IN_FLIGHT: {
    status: 409,
    message: 'The first request with this Idempotency-Key is still running.',
  },
  CATALOG_DISABLED: { status: 410, message: 'The catalogue endpoints are withdrawn.' },
  UPLOAD_EXPIRED: { status: 410, message: 'The upload session has expired.' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The request body is too large.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'Send the body as application/json.' },
  IDEMPOTENCY_KEY_REUSE: {
    status: 422,
    message: 'This Idempotency-Key was used with a different request body.',
  },
  RATE_LIMITED: { status: 429, message: 'Too many requests; see Retry-After.' },
  DAILY_QUOTA_EXCEEDED: { status: 429, message: 'The daily quota of this API key is used up.' },
  RATE_LIMIT: { status: 429, message: 'Too many view events from this address for this video.' },
  SSE_PER_KEY_CAP: { status: 429, message: 'Too many open event streams on this API key.' },
  SERVICE_UNAVAILABLE: { status: 503, message: 'The service cannot answer now; try again.' },
  INTERNAL_ERROR: { status: 500, message: 'Something went wrong on our side.' },
  SECOND_FACTOR_UNAVAILABLE: {
    status: 503,
    message: 'The second factor could not be started; try again.',
  },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** Codes whose body has `error` as a plain string (contract 5.3). */
const STRING_BODY: ReadonlySet<ErrorCode> = new Set(['integration_domain_required', 'origin_not_allowed']);

/** Is the code itself the text of `error`? */
export function isTextCode(code: ErrorCode): boolean {
  return STRING_BODY.has(code);
}

interface AppErrorOptions {
  /** Replaces the registry's public message; it reaches the client. */
  message?: string;
  /** The offending input: a body path with dots, a query parameter, or a header as the contract spells it. */
  field?: string;
  /** For the log only. */
  internal?: string;
  cause?: unknown;
  headers?: Record<string, string>;
  /** Replaces the `error` object of the body by this text (contract 7, rule 2). */
  plain?: string;
  /** Members of the body beside `error` (contract 7, SECOND_FACTOR_REQUIRED). */
  beside?: Readonly<Record<string, string | number | boolean>>;
}

/** A failure with a code of the registry: a public half for the client and an internal half for the log. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly field: string | undefined;
  readonly internal: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly #plain: string | undefined;
  readonly #beside: AppErrorOptions['beside'];

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    super(options.message ?? ERRORS[code].message, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.status = ERRORS[code].status;
    this.field = options.field;
    this.internal = options.internal;
    this.headers = options.headers ?? {};
    this.#plain = options.plain ?? (STRING_BODY.has(code) ? code : undefined);
    this.#beside = options.beside;
  }

  /** The response body (contract 2.1, 5.3, 7). */
  body(): object {
    if (this.#plain !== undefined) return { success: false, error: this.#plain, ...this.#beside };
    const { code, message, field } = this;
    const error = field === undefined ? { code, message } : { code, message, field };
    return { success: false, ...this.#beside, error };
  }
}

/** 400 BAD_REQUEST that names the offending input. */
export function badRequest(field: string, message: string): AppError {
  return new AppError('BAD_REQUEST', { field, message });
}

/** 404 for a missing and for a foreign resource alike: existence is never revealed (contract 5). */
export function notFound(): AppError {
  return new AppError('NOT_FOUND');
}
