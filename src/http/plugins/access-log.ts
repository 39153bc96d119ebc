import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Caller } from '../../kernel/access.ts';
import type { HttpPorts } from '../ports.ts';

/** One line and one observation for each answered request. */
export function accessLog(app: FastifyInstance, ports: Pick<HttpPorts, 'accessLog' | 'metrics'>): void {
  app.addHook('onResponse', (request, reply, done) => {
    const operation = request.routeOptions.config.route?.operationId ?? 'other';
    const ms = reply.elapsedTime;
    ports.metrics.observe(operation, request.method, reply.statusCode, ms / 1000);
    ports.accessLog.info(
      {
        requestId: request.id,
        operation,
        method: request.method,
        path: openPath(request),
        status: reply.statusCode,
        ms: roundedMs(ms),
        ...actorOf(request.caller),
      },
      'request',
    );
    done();
  });
}

function actorOf(caller: Caller | null): { keyId?: string; sessionId?: string } {
  if (caller === null) return {};
  const { kind, id } = caller.actor;
  return kind === 'key' ? { keyId: id } : { sessionId: id };
}

/** Longer than every id: a key or a token at an address that is almost right. */
const SECRET = /[\w-]{40,}/g;
const MOST_LOGGED = 500;

/**
 * The path without its query, and as its pattern where a parameter called `token` makes it a secret; elsewhere
 * nothing in it that could be one is left.
 */
export function openPath({ originalUrl, routeOptions }: FastifyRequest): string {
  const pattern = routeOptions.url ?? '';
  if (/:token\b/.test(pattern)) return pattern;
  const [path = ''] = originalUrl.split('?', 1);
  return path.replace(SECRET, '*').slice(0, MOST_LOGGED);
}

/** To tenths. */
export function roundedMs(ms: number): number {
  return Math.round(ms * 10) / 10;
}
