import './augment.ts';
import { type FastifyInstance, fastify } from 'fastify';
import { AllowedMethods } from './allowed-methods.ts';
import { EventStreams } from './event-stream.ts';
import { mountMethodNotAllowed, mountRoute } from './mount.ts';
import { accessLog } from './plugins/access-log.ts';
import { authenticate, userToken } from './plugins/authenticate.ts';
import { BODY_LIMIT_BYTES, bodyDeadline, jsonBody } from './plugins/body.ts';
import { cors } from './plugins/cors.ts';
import { assertDeprecationPolicy, deprecation } from './plugins/deprecation.ts';
import { endpoint } from './plugins/endpoint.ts';
import { errorHandler, handleClientError } from './plugins/errors.ts';
import { limits } from './plugins/limits.ts';
import { routableUrl, unroutable } from './plugins/not-found.ts';
import { originLock } from './plugins/origin-lock.ts';
import { policy } from './plugins/policy.ts';
import { quotas } from './plugins/quotas.ts';
import { rateLimit } from './plugins/rate-limit.ts';
import { requestId, requestIdOf } from './plugins/request-id.ts';
import { requestLog } from './plugins/request-log.ts';
import { securityHeaders } from './plugins/security-headers.ts';
import { acceptUploads } from './plugins/upload.ts';
import { version, versionHeader } from './plugins/version.ts';
import type { HttpPorts } from './ports.ts';
import type { Route } from './route.ts';
import { isWebSocket, routeUpgrades } from './web-socket.ts';

/** The version segment is part of the base URL (contract, introduction). */
export const BASE_PATH = '/api/v1';
const WITHDRAWN = ['/search', '/trending', '/feed'].map((path) => BASE_PATH + path);

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
  'Deprecation',
  'Sunset',
];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const ACCEPTED = [
  'Authorization',
  'X-API-Key',
  'X-User-Token',
  'Content-Type',
  'Idempotency-Key',
  'X-SVC-Request-Id',
  'Svc-API-Version',
  'Last-Event-ID',
  // Clients of WHIP and WHEP, for candidates.
  'If-Match',
  // Players, for segments.
  'Range',
  'If-Range',
  'If-None-Match',
];

export interface AppOptions {
  ports: HttpPorts;
  /** Below the base URL. */
  routes: readonly Route[];
  /** Pages and files outside the base URL; each registers its own Fastify routes. */
  pages: readonly ((app: FastifyInstance) => void)[];
  /**
   * Trust in `X-Forwarded-For` for the client address: that number of proxies in a row, or proxies with these
   * addresses.
   */
  trustProxy: false | number | string[];
}

function trustedProxies(trusted: AppOptions['trustProxy']) {
  return typeof trusted === 'number' ? (_address: string, hop: number) => hop < trusted : trusted;
}

/** Registers the hooks that record each response when it is sent. */
function noteAnswers(app: FastifyInstance, ports: HttpPorts): void {
  accessLog(app, ports);
  requestLog(app, BASE_PATH, ports);
  quotas(app, ports);
}

/** The whole request chain, in the order in which it runs (ARCHITECTURE.md#request-chain). */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { ports, routes } = options;
  const app = fastify({
    logger: false,
    trustProxy: trustedProxies(options.trustProxy),
    genReqId: requestIdOf,
    bodyLimit: BODY_LIMIT_BYTES,
    // Longer than any request line: an id that is none of ours, however long, is 404
    // (docs/decisions/errors.md#missing-and-foreign-look-alike).
    routerOptions: { maxParamLength: 65_536 },
    rewriteUrl: routableUrl,
    // Uploads last for hours: `bodyDeadline` limits every other body, and Node the headers.
    requestTimeout: 0,
    // A drain waits in a hook (`drain.ts`).
    pluginTimeout: 0,
    // A request that arrives while the program drains is still answered.
    return503OnClosing: false,
    // Answered by `unroutable`, with the envelope that Node's own refusal lacks.
    http: { requireHostHeader: false, shouldUpgradeCallback: isWebSocket },
    clientErrorHandler: handleClientError,
  });
  // Node rejects expectations other than 100-continue with a bare 417 by default.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));

  endpoint(app);
  requestId(app);
  bodyDeadline(app);
  versionHeader(app);
  securityHeaders(app, BASE_PATH);
  noteAnswers(app, ports);
  cors(app, { methods: METHODS, accepted: ACCEPTED, exposed: EXPOSED, maxAgeSec: 86_400 });
  deprecation(app, { ...ports, basePath: BASE_PATH });
  authenticate(app, ports);
  rateLimit(app, ports);
  version(app);
  const allow = new AllowedMethods();
  unroutable(app, { withdrawn: WITHDRAWN, allowed: (path) => allow.methods(path) });
  userToken(app, ports);
  policy(app, ports);
  originLock(app, ports);
  limits(app, ports);
  jsonBody(app);
  app.setErrorHandler(errorHandler(ports.log, ports.databaseFailure));
  const streams = new EventStreams(app, ports);
  app.decorate('eventStreams', streams);
  const mounted = { ...ports, streams };

  for (const route of routes) {
    assertDeprecationPolicy(route);
    allow.add(route.method, BASE_PATH + route.path);
    if (route.upload === undefined) mountRoute(app, BASE_PATH, route, mounted);
  }
  await app.register(async (scope) => {
    await acceptUploads(scope);
    for (const route of routes) if (route.upload !== undefined) mountRoute(scope, BASE_PATH, route, mounted);
  });
  for (const { method, path } of allow.shadowed()) mountMethodNotAllowed(app, method, path);
  routeUpgrades(app);
  for (const page of options.pages) page(app);
  return app;
}
