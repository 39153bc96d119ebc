import './augment.ts';
import cors from '@fastify/cors';
import { type FastifyInstance, fastify } from 'fastify';
import { AppError } from '../kernel/errors.ts';
import { AllowTable } from './allow-table.ts';
import { mountRoute } from './mount.ts';
import { accessLog } from './plugins/access-log.ts';
import { authenticate } from './plugins/authenticate.ts';
import { BODY_LIMIT_BYTES, jsonBody } from './plugins/body.ts';
import { answerBrokenRequest, errorHandler, notFoundHandler } from './plugins/errors.ts';
import { policy } from './plugins/policy.ts';
import { rateLimit } from './plugins/rate-limit.ts';
import { requestId, requestIdOf } from './plugins/request-id.ts';
import { version } from './plugins/version.ts';
import type { HttpPorts } from './ports.ts';
import type { Route } from './route.ts';

/** The version segment is part of the base URL (contract, introduction). */
export const BASE_PATH = '/api/v1';
const WITHDRAWN = ['/search', '/trending', '/feed'];

const EXPOSED = [
  'X-SVC-Request-Id',
  'X-SVC-Idempotency',
  'X-SVC-Idempotent-Replay',
  'Svc-API-Version',
  'Svc-Key-Mode',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-RateLimit-Daily-Limit',
  'X-RateLimit-Daily-Remaining',
  'X-RateLimit-Daily-Reset',
  'Retry-After',
  'Link',
  'Allow',
];
const ACCEPTED = [
  'Authorization',
  'X-API-Key',
  'X-User-Token',
  'Content-Type',
  'Idempotency-Key',
  'X-SVC-Request-Id',
  'Svc-API-Version',
  'Last-Event-ID',
];

export interface AppOptions {
  ports: HttpPorts;
  /** Below the base URL. */
  routes: readonly Route[];
  /** Pages and files outside the base URL; each registers its own Fastify routes. */
  pages: readonly ((app: FastifyInstance) => void)[];
  trustProxy: boolean;
}

/** The whole request chain, in the order in which it runs (architecture.md, "Policy is data on the route"). */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { ports, routes } = options;
  const app = fastify({
    logger: false,
    trustProxy: options.trustProxy,
    genReqId: requestIdOf,
    bodyLimit: BODY_LIMIT_BYTES,
    routerOptions: { maxParamLength: 4096 },
    requestTimeout: 60_000,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => {
      reply.header('X-SVC-Request-Id', request.id);
      onError(error, request, reply);
    },
  });
  const onError = errorHandler(ports.log, ports.conflict);

  requestId(app);
  version(app);
  accessLog(app, ports);
  await app.register(cors, {
    origin: '*',
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: ACCEPTED,
    exposedHeaders: EXPOSED,
    maxAge: 86_400,
    strictPreflight: false,
  });
  authenticate(app, ports);
  rateLimit(app, ports);
  policy(app);
  jsonBody(app);
  app.setErrorHandler(onError);

  const allow = new AllowTable();
  for (const route of routes) {
    allow.add(route.method, BASE_PATH + route.path);
    mountRoute(app, BASE_PATH, route, ports);
  }
  for (const path of WITHDRAWN) {
    app.all(BASE_PATH + path, () => {
      throw new AppError('CATALOG_DISABLED');
    });
  }
  notFoundHandler(app, (path) => allow.methods(path));
  for (const page of options.pages) page(app);
  return app;
}
