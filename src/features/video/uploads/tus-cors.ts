import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../../kernel/errors.ts';

export const METHODS = 'OPTIONS, HEAD, POST, PATCH, PUT, DELETE';
const ACCEPTED = [
  'Authorization',
  'X-API-Key',
  'Content-Type',
  'Content-Range',
  'Tus-Resumable',
  'Upload-Length',
  'Upload-Defer-Length',
  'Upload-Offset',
  'Upload-Metadata',
  'Upload-Checksum',
  'X-HTTP-Method-Override',
  'X-Requested-With',
  'X-Request-ID',
  'X-SVC-Request-Id',
  // Whatever else a page adds; the star does not stand for Authorization.
  '*',
].join(', ');
const EXPOSED = [
  'Location',
  'Range',
  'Retry-After',
  'Tus-Resumable',
  'Tus-Version',
  'Tus-Extension',
  'Tus-Max-Size',
  'Tus-Checksum-Algorithm',
  'Upload-Offset',
  'Upload-Length',
  'Upload-Defer-Length',
  'Upload-Expires',
  'X-SVC-Request-Id',
].join(', ');

/** Lets any page read the response, unless `restrictOrigin` has limited it. */
export function allowAnyOrigin(reply: FastifyReply): void {
  if (!reply.hasHeader('Access-Control-Allow-Origin')) reply.header('Access-Control-Allow-Origin', '*');
  reply.header('Access-Control-Expose-Headers', EXPOSED);
}

/**
 * Leaves an upload to the pages of its `corsOrigin`, where it has one. A request without `Origin` comes from no
 * page.
 *
 * @throws {AppError} DOMAIN_NOT_ALLOWED for a page of another origin.
 */
export function restrictOrigin(
  request: FastifyRequest,
  reply: FastifyReply,
  corsOrigin: string | null,
): void {
  if (corsOrigin === null) return;
  const vary = reply.getHeader('Vary');
  reply.headers({
    Vary: vary === undefined ? 'Origin' : `${vary}, Origin`,
    'Access-Control-Allow-Origin': corsOrigin,
  });
  const { origin } = request.headers;
  if (origin === undefined || origin === corsOrigin) return;
  throw new AppError('DOMAIN_NOT_ALLOWED', {
    field: 'Origin',
    message: 'This upload is restricted to another origin.',
  });
}

export function answerPreflight(reply: FastifyReply): void {
  reply.headers({
    'Access-Control-Allow-Methods': METHODS,
    'Access-Control-Allow-Headers': ACCEPTED,
    'Access-Control-Max-Age': '86400',
  });
}
