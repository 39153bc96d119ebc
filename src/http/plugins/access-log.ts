import type { FastifyInstance } from 'fastify';
import type { HttpPorts } from '../ports.ts';

/**
 * One line and one observation for each answered request. The path is logged without its query, and as its
 * pattern where a parameter called `token` makes it a secret.
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
        path: /:token\b/.test(pattern) ? pattern : request.url.split('?', 1)[0],
        status: reply.statusCode,
        ms: Math.round(ms * 10) / 10,
        keyId: request.caller?.keyId,
      },
      'request',
    );
    done();
  });
}
