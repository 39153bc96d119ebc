import type { FastifyInstance } from 'fastify';

/** CORS policy of pages of other origins. */
export interface CorsPolicy {
  methods: readonly string[];
  accepted: readonly string[];
  exposed: readonly string[];
  /** Time for which a browser caches the response to its preflight. */
  maxAgeSec: number;
}

/**
 * Any page may call the API with a key, and none with the cookies of the browser: `*` allows no credentials (Fetch,
 * "CORS protocol and credentials"). A preflight is answered here, before a key is asked for, as browsers send none with it.
 */
export function cors(app: FastifyInstance, { methods, accepted, exposed, maxAgeSec }: CorsPolicy): void {
  const readable = exposed.join(', ');
  const preflight = {
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': accepted.join(', '),
    'access-control-max-age': String(maxAgeSec),
    'content-length': '0',
  };
  app.addHook('onRequest', (request, reply, done) => {
    if (request.endpoint === null && request.routeOptions.config.cors === false) return done();
    reply.header('access-control-allow-origin', '*');
    reply.header('access-control-expose-headers', readable);
    if (request.method !== 'OPTIONS') return done();
    reply.code(204).headers(preflight).send();
  });
  // Only for the hook, which has answered.
  app.options('*', (_request, reply) => reply.send());
}
