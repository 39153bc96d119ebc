import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FileReply, FileRequest } from '../../../media/contract/index.ts';
import type { Viewer } from './access.service.ts';

/** Returns the viewer of a request. */
export function viewerOf(
  request: Pick<FastifyRequest, 'headers' | 'ip'> & { query: { token?: string } },
): Viewer {
  return { token: request.query.token, asking: request };
}

export function fileRequestOf(
  { method, headers }: Pick<FastifyRequest, 'method' | 'headers'>,
  isPrivate: boolean,
): FileRequest {
  const ifRange = headers['if-range'];
  return {
    method: method === 'HEAD' ? 'HEAD' : 'GET',
    range: headers.range,
    ifNoneMatch: headers['if-none-match'],
    ifRange: typeof ifRange === 'string' ? ifRange : undefined,
    isPrivate,
  };
}

/** Response headers that scripts of other sites may read. */
const EXPOSED = 'Content-Length, Content-Range, Date, ETag';

/**
 * Sends the response with the cross-origin policy of the server: scripts of every site may read it.
 *
 * @param onlyFor the only origin whose scripts may read it, or null for none, when it depends on the caller.
 */
export function sendFile(reply: FastifyReply, answer: FileReply, onlyFor?: string | null): FastifyReply {
  const { status, headers, body } = answer;
  reply.status(status).headers(headers).header('Access-Control-Expose-Headers', EXPOSED);
  if (onlyFor !== undefined) {
    reply.removeHeader('Access-Control-Allow-Origin');
    if (onlyFor !== null) reply.header('Access-Control-Allow-Origin', onlyFor);
    reply.header(
      'Vary',
      [reply.getHeader('Vary'), 'Origin', 'Referer'].flatMap((name) => name ?? []).join(', '),
    );
  }
  // Fastify would send null as JSON.
  return reply.send(body ?? undefined);
}
