import type { FastifyInstance } from 'fastify';
import type { ProcessReadiness } from '../../../platform/readiness.ts';

/** Serves `/healthz` and `/readyz` for orchestrators and load balancers: liveness and readiness. */
export function healthPages({ readiness }: { readiness: ProcessReadiness }): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/healthz', async () => ({ status: 'OK' }));
    app.get('/readyz', async (_request, reply) => {
      const status = readiness.status();
      return reply.status(status === 'OK' ? 200 : 503).send({ status });
    });
  };
}
