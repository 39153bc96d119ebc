import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { createQuotaSignals } from '../features/insight/quota/module.ts';
import type { Page, PageRole, Service } from '../features/module.ts';
import { BASE_PATH, createApp } from '../http/app.ts';
import { loadAssets } from '../http/assets.ts';
import { dashboardPage } from '../http/dashboard.ts';
import { createDrain } from '../http/drain.ts';
import { landingPage } from '../http/landing-page.ts';
import { openApiDocument } from '../http/openapi/document.ts';
import type { HttpPorts } from '../http/ports.ts';
import type { Route } from '../http/route.ts';
import { createSameOriginCheck } from '../http/same-origin.ts';
import { createSessionCookie } from '../http/session-cookie.ts';
import { staticResponse } from '../http/static-response.ts';
import { AppError } from '../kernel/errors.ts';
import { isTransientError, sqlState, violatedConstraint } from '../platform/db/index.ts';
import { createAccessLog } from '../platform/logger.ts';
import { ROOT } from '../platform/root.ts';
import type { Container } from './container.ts';
import type { HeldPort } from './held-ports.ts';
import { startServices, stopServices } from './lifecycle.ts';
import { mediaOriginsOf } from './media-origins.ts';

const WEB_DIST = join(ROOT, 'web/dist');
const UNIQUE_VIOLATION = '23505';

/** Translates a failure of the database that no feature has translated. */
function databaseFailure(error: unknown): AppError | null {
  if (isTransientError(error)) return new AppError('SERVICE_UNAVAILABLE', { cause: error });
  if (sqlState(error) !== UNIQUE_VIOLATION) return null;
  return new AppError('CONFLICT', { cause: error, internal: violatedConstraint(error) ?? 'unique' });
}

/** Returns every endpoint below the base URL, with deprecations from the releases. */
export function apiRoutes({ modules, changelog }: Container, mediaRuns: () => boolean): Route[] {
  const routes = modules.flatMap((module) => module.routes?.({ mediaRuns }) ?? []);
  return routes.map((route) => {
    const deprecated = changelog.deprecations.get(`${route.method} ${route.path}`);
    return deprecated === undefined ? route : { ...route, deprecated };
  });
}

async function pagesOf({ modules, store }: Container, role: PageRole): Promise<Page[]> {
  const mediaOrigins = await mediaOriginsOf(store);
  const pages = await Promise.all(modules.map((module) => module.pages?.(role) ?? []));
  return [
    landingPage(role),
    dashboardPage({ assets: role.assets, mediaOrigins }),
    ...pages.flat(),
    role.assets.register,
  ];
}

/** Returns the dependencies of the HTTP layer. */
function httpPorts(container: Container): HttpPorts {
  const { config, clock, log, metrics, apiKeys, auth } = container;
  const { perMinute, perDay } = container.requestCounts;
  return {
    keys: apiKeys,
    verifyUserToken: auth.tokens.verify,
    sessions: {
      ...auth.sessions,
      cookie: createSessionCookie(config.PUBLIC_URL),
      isOwnOrigin: createSameOriginCheck(config),
    },
    counters: {
      perMinute: (key) => perMinute.hit(key),
      perDay: (key) => perDay.hit(key),
      dayCount: (key) => perDay.peek(key),
      window: container.caps,
    },
    idempotency: container.idempotency,
    leases: container.leases,
    originLock: container.domains,
    metrics: { observe: metrics.observeRequest },
    databaseFailure,
    clock,
    log,
    accessLog: createAccessLog(config.LOG_LEVEL, 'api'),
    requestLog: container.requestLog,
    quotas: createQuotaSignals(container.bus),
    deprecatedUses: { note: container.changelog.noteUse },
  };
}

/** The API role with its request chain, before it listens. */
export interface BuiltApi {
  app: FastifyInstance;
  routes: Route[];
  /** @param held the port; null listens on the one of the configuration. */
  open(held: Pick<HeldPort, 'giveTo'> | null): Promise<void>;
  /**
   * Stops the role without resetting a connection (docs/guides/operations.md#stop-a-node).
   *
   * @param delaySec how long new connections are still accepted; 0 where another process accepts them on the
   *   same port. Default: `DRAIN_DELAY`.
   */
  drain(delaySec?: number): Promise<void>;
}

/** Builds the api role and listens. Rejects with the system's error when it cannot. */
export async function startApi(container: Container, mediaRuns: () => boolean): Promise<BuiltApi> {
  const api = await buildApi(container, mediaRuns);
  await api.open(null);
  return api;
}

/** Builds the api role. */
export async function buildApi(container: Container, mediaRuns: () => boolean): Promise<BuiltApi> {
  const { config, log, catalogue, readiness } = container;
  const assets = loadAssets({ dir: WEB_DIST, log });
  const routes = apiRoutes(container, mediaRuns);
  const documented = { routes, events: catalogue.definitions, url: config.PUBLIC_URL + BASE_PATH };
  const document = () => JSON.stringify(openApiDocument(documented));
  const app = await createApp({
    ports: httpPorts(container),
    routes,
    pages: [
      ...(await pagesOf(container, { assets, mediaRuns })),
      (instance) => instance.get('/openapi.json', staticResponse('application/json', document)),
    ],
    trustProxy: config.TRUST_PROXY,
  });
  const drain = createDrain(app, config.DRAIN_TIMEOUT * 1000);
  await container.durableWindows?.load();
  await app.ready();
  let services: Service[] = [];
  return {
    app,
    routes,
    async open(held) {
      readiness.start();
      if (held === null) await app.listen({ port: config.PORT, host: config.HOST });
      else await held.giveTo(app.server);
      services = startServices(container.modules, 'api');
    },
    async drain(delaySec = config.DRAIN_DELAY) {
      readiness.drain();
      await drain(delaySec * 1000);
      await stopServices(services);
    },
  };
}
