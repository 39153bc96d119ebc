import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError, badRequest, ERRORS, notFound } from './errors.ts';

/** docs/concepts/conventions.md#errors: every code with its status. */
const CONTRACT: Record<string, number> = {
  UNAUTHORIZED: 401,
  INVALID_KEY_FORMAT: 401,
  INVALID_KEY: 401,
  KEY_DISABLED: 401,
  KEY_EXPIRED: 401,
  INVALID_USER_TOKEN: 401,
  INVALID_CREDENTIALS: 401,
  SECOND_FACTOR_REQUIRED: 401,
  INSUFFICIENT_SCOPE: 403,
  PERMISSION_DENIED: 403,
  FINANCIAL_SCOPE_REQUIRED: 403,
  OWNER_SCOPE_REQUIRED: 403,
  MINT_CEILING_EXCEEDED: 403,
  EMAIL_NOT_VERIFIED: 403,
  IP_NOT_ALLOWED: 403,
  DOMAIN_NOT_ALLOWED: 403,
  ADMIN_ONLY: 403,
  QUOTA_EXCEEDED: 403,
  integration_domain_required: 403,
  origin_not_allowed: 403,
  BAD_REQUEST: 400,
  INVALID_EMAIL: 400,
  WEAK_PASSWORD: 400,
  INVALID_IDEMPOTENCY_KEY: 400,
  UNKNOWN_EVENT: 400,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  EMAIL_EXISTS: 409,
  IDEMPOTENCY_IN_FLIGHT: 409,
  CATALOG_DISABLED: 410,
  IDEMPOTENCY_KEY_REUSE: 422,
  RATE_LIMITED: 429,
  DAILY_QUOTA_EXCEEDED: 429,
  RATE_LIMIT: 429,
  SSE_PER_KEY_CAP: 429,
  SECOND_FACTOR_UNAVAILABLE: 503,
  INTERNAL_ERROR: 500,
};
/** docs/decisions/errors.md#additional-error-codes, and the health check's 503. */
const ADDITIONAL_CODES: Record<string, number> = {
  CONFLICT: 409,
  REQUEST_TIMEOUT: 408,
  HEADERS_TOO_LARGE: 431,
  INSUFFICIENT_STORAGE: 507,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  UPLOAD_EXPIRED: 410,
  SERVICE_UNAVAILABLE: 503,
};

test('the registry has every documented code with its status, plus our own few', () => {
  const registry = Object.fromEntries(Object.entries(ERRORS).map(([code, { status }]) => [code, status]));
  for (const [code, status] of Object.entries({ ...CONTRACT, ...ADDITIONAL_CODES })) {
    assert.equal(registry[code], status, code);
  }
});

/** Codes that a key never gets: rejections of the dashboard's session and of its registration. */
const OF_SESSIONS = ['CSRF_REJECTED', 'PASSWORD_REQUIRED', 'REGISTRATION_CLOSED'];

test('no code beyond those is in use at 401, 403, 422 or 429, but for sessions', () => {
  const ours = Object.entries(ERRORS).flatMap(([code, { status }]) =>
    [401, 403, 422, 429].includes(status) && !(code in CONTRACT) ? [code] : [],
  );
  assert.deepEqual(ours.sort(), OF_SESSIONS);
  assert.equal('RATE_LIMIT_EXCEEDED' in ERRORS, false);
});

test('the messages are distinct sentences for the client', () => {
  const messages = Object.values(ERRORS).map(({ message }) => message);
  for (const message of messages) assert.match(message, /^[A-Z].*[.]$/);
  assert.equal(new Set(messages).size, messages.length);
});

test('the body contains only the public half', () => {
  const error = new AppError('CONFLICT', {
    field: 'username',
    message: 'Taken.',
    internal: 'constraint account_username',
    cause: new Error('secret'),
  });
  assert.deepEqual(error.body(), {
    success: false,
    error: { code: 'CONFLICT', message: 'Taken.', field: 'username' },
  });
  assert.deepEqual(Object.keys(Object(Object(notFound().body()).error)), ['code', 'message']);
  assert.deepEqual(badRequest('title', 'No.').body(), {
    success: false,
    error: { code: 'BAD_REQUEST', message: 'No.', field: 'title' },
  });
});

test('the codes of the origin lock have error as a text', () => {
  for (const code of ['integration_domain_required', 'origin_not_allowed'] as const) {
    assert.deepEqual(new AppError(code).body(), { success: false, error: code });
  }
});
