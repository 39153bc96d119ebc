import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { isUuidV4, newUuid } from '../../kernel/ids.ts';

export const REQUEST_ID_HEADER = 'X-SVC-Request-Id';

/** The sender's id when it is a strict UUIDv4, otherwise a new one (docs/concepts/conventions.md#headers). */
export function requestIdOf(request: IncomingMessage): string {
  const sent = request.headers['x-svc-request-id'];
  return typeof sent === 'string' && isUuidV4(sent) ? sent : newUuid();
}

/** Every response carries the request id. */
export function requestId(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-svc-request-id', request.id);
    done();
  });
}
