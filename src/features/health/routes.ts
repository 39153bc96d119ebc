import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { LATEST_VERSION } from '../../http/plugins/version.ts';
import { definePublicRoute, NoBody, NoParams, NoQuery, type Route } from '../../http/route.ts';
import { Instant, OneOf } from '../../http/schema.ts';
import type { Clock } from '../../kernel/clock.ts';
import { AppError } from '../../kernel/errors.ts';

/** The parts that decide whether the platform serves. */
export interface HealthProbes {
  database(): Promise<boolean>;
  /** The media role's process runs, or this node has none. */
  media(): boolean;
}

const Health = Type.Object({
  status: OneOf(['OK', 'DEGRADED', 'DOWN'] as const),
  version: Type.String(),
  time: Instant,
});

interface Deps {
  probes: HealthProbes;
  clock: Clock;
}

/** `/health` (`api.md` C6). */
export function healthRoutes({ probes, clock }: Deps): Route[] {
  return [
    definePublicRoute({
      auth: 'none',
      operationId: 'health.get',
      method: 'GET',
      path: '/health',
      summary: 'Is the service up?',
      description: 'DEGRADED still answers 200; 503 SERVICE_UNAVAILABLE while the database is out of reach.',
      permission: null,
      gate: null,
      idempotent: false,
      originLock: false,
      params: NoParams,
      query: NoQuery,
      body: NoBody,
      reply: { status: 200, schema: Health },
      errors: ['SERVICE_UNAVAILABLE'],
      async handler() {
        if (!(await probes.database())) throw new AppError('SERVICE_UNAVAILABLE');
        const status = probes.media() ? 'OK' : 'DEGRADED';
        return { status, version: LATEST_VERSION, time: clock.now().toISOString() };
      },
    }),
  ];
}

/** `/healthz` and `/readyz`, for orchestrators: the process lives; it can serve. */
export function healthPages({ probes }: Pick<Deps, 'probes'>): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/healthz', async () => ({ status: 'OK' }));
    app.get('/readyz', async (_request, reply) => {
      const ready = await probes.database();
      return reply.status(ready ? 200 : 503).send({ status: ready ? 'OK' : 'DOWN' });
    });
  };
}
