import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, badRequest } from '../../kernel/errors.ts';
import { newUuid } from '../../kernel/ids.ts';
import type { Logger } from '../../platform/logger.ts';
import { REQUEST_ID_HEADER } from './request-id.ts';
import { LATEST_VERSION, VERSION_HEADER } from './version.ts';

/** Maps any failure to a registered error; unexpected ones become an opaque 500. */
export function toAppError(error: unknown, databaseFailure: (error: unknown) => AppError | null): AppError {
  if (error instanceof AppError) return error;
  const fastify = frameworkError(error);
  if (fastify !== null) return fastify;
  return databaseFailure(error) ?? new AppError('INTERNAL_ERROR', { cause: error });
}

function frameworkError(error: unknown): AppError | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new AppError('PAYLOAD_TOO_LARGE');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new AppError('UNSUPPORTED_MEDIA_TYPE', { field: 'Content-Type' });
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return badRequest('body', 'The body does not match its Content-Length.');
    default:
      return null;
  }
}

/**
 * The one door out for failures (docs/concepts/conventions.md#errors). `databaseFailure` maps those of the database.
 */
export function errorHandler(log: Logger, databaseFailure: (error: unknown) => AppError | null) {
  return (error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply) => {
    const failure = hungUp(error, request)
      ? badRequest('body', CUT_SHORT)
      : toAppError(error, databaseFailure);
    if (failure.status >= 500) {
      log.error({ err: error, requestId: request.id, internal: failure.internal }, 'request failed');
    } else {
      logRejection(log, failure, request.id);
    }
    request.errorCode = failure.code;
    request.quotaRefusal = failure.quota ?? null;
    return reply.status(failure.status).headers(failure.headers).send(failure.body());
  };
}

const CUT_SHORT = 'The connection was closed before the body was complete.';

/**
 * Reports whether the client disconnected within its body: the response is not read, and it is not a server
 * failure.
 */
function hungUp(error: Error, { raw }: FastifyRequest): boolean {
  return 'code' in error && error.code === 'ECONNRESET' && !raw.complete && raw.destroyed;
}

/** The half of a refusal that only the log sees. */
export function logRejection(log: Logger, { code, internal }: AppError, requestId: string): void {
  if (internal !== undefined) log.info({ requestId, code, internal }, 'request refused');
}

function brokenRequest(code: string | undefined): AppError {
  if (code === 'HPE_HEADER_OVERFLOW') return new AppError('HEADERS_TOO_LARGE');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new AppError('REQUEST_TIMEOUT');
  return badRequest('request', 'This is not a valid HTTP request.');
}

/** Responds to connections too malformed to become a request: bad headers, header floods, slow headers. */
export function handleClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const failure = brokenRequest(error.code);
  const { status } = failure;
  const body = JSON.stringify(failure.body());
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `${REQUEST_ID_HEADER}: ${newUuid()}`,
      `${VERSION_HEADER}: ${LATEST_VERSION}`,
      `Vary: ${VERSION_HEADER}`,
      'Cache-Control: no-store',
      'X-Content-Type-Options: nosniff',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
