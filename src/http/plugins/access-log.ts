import type { FastifyInstance } from 'fastify';
import type { HttpPorts } from '../ports.ts';

/**
 * One line and one observation for each answered request. The path is logged without its query, and as its
 * pattern where a parameter called `token` makes it a secret; elsewhere nothing in it that could be one is.
 */
export function accessLog(app: FastifyInstance, ports: Pick<HttpPorts, 'accessLog' | 'metrics'>): void {
  app.addHook('onResponse', (request, reply, done) => {
    const operation = request.routeOptions.config.route?.operationId ?? 'other';
    const ms = reply.elapsedTime;
    const pattern = request.routeOptions.url ?? '';
    ports.metrics.observe(operation, request.method, reply.statusCode, ms / 1000);
    ports.accessLog.info(
      {
        requestId: request.id,
        operation,
        method: request.method,
        path: /:token\b/.test(pattern) ? pattern : openly(request.url),
        status: reply.statusCode,
        ms: Math.round(ms * 10) / 10,
        keyId: request.caller?.keyId,
      },
      'request',
    );
    done();
  });
}

/** Longer than every id: a key or a token at an address that is almost right. */
const SECRET = /[\w-]{40,}/g;
const MOST_LOGGED = 500;

function openly(url: string): string {
  const [path = ''] = url.split('?', 1);
  return path.replace(SECRET, '*').slice(0, MOST_LOGGED);
}
