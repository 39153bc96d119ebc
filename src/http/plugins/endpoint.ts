import type { FastifyInstance } from 'fastify';

/** Finds the endpoint that a request is for, once: Fastify makes `routeOptions` anew each time they are read. */
export function endpoint(app: FastifyInstance): void {
  app.decorateRequest('endpoint', null);
  app.addHook('onRequest', (request, _reply, done) => {
    request.endpoint = request.routeOptions.config.route ?? null;
    done();
  });
}
