import type { FastifyInstance } from 'fastify';

/** Looks up the endpoint of a request once: Fastify creates `routeOptions` on each access. */
export function endpoint(app: FastifyInstance): void {
  app.decorateRequest('endpoint', null);
  app.addHook('onRequest', (request, _reply, done) => {
    request.endpoint = request.routeOptions.config.route ?? null;
    done();
  });
}
