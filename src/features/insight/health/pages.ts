import type { FastifyInstance } from 'fastify';
import type { HealthProbes } from './probes.ts';

/** Serves `/healthz` and `/readyz` for orchestrators: liveness and readiness. */
export function healthPages({ probes }: { probes: HealthProbes }): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/healthz', async () => ({ status: 'OK' }));
    app.get('/readyz', async (_request, reply) => {
      const ready = await probes.database();
      return reply.status(ready ? 200 : 503).send({ status: ready ? 'OK' : 'DOWN' });
    });
  };
}
