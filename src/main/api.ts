import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { apiKeyRoutes } from '../features/api-keys/index.ts';
import { authPages, authRoutes, twoFactorRoutes } from '../features/auth/index.ts';
import { healthPages, healthRoutes } from '../features/health/index.ts';
import { livePages, streamRoutes, watchPages } from '../features/streams/index.ts';
import { eventLogRoutes, webhookRoutes } from '../features/webhooks/index.ts';
import { BASE_PATH, createApp } from '../http/app.ts';
import { loadAssets } from '../http/assets.ts';
import { prepareDrain } from '../http/drain.ts';
import { landingPage } from '../http/landing.ts';
import { openApiDocument } from '../http/openapi.ts';
import type { Route } from '../http/route.ts';
import { createCursorCodec } from '../kernel/cursor.ts';
import { AppError } from '../kernel/errors.ts';
import { createPlayback, notFound } from '../media/playback/index.ts';
import { brokenConstraint, sqlState } from '../platform/db/index.ts';
import { createAccessLogger } from '../platform/logger.ts';
import type { Container } from './container.ts';
import { createPlaybackTokens, createStreamLinks } from './links.ts';

const WEB_DIST = join(import.meta.dirname, '../../web/dist');
const UNIQUE_VIOLATION = '23505';
const PROBE_MS = 1000;
const DRAIN_MS = 10_000;

/** A unique-constraint failure that no feature translated (contract 7, rule 3). */
function conflict(error: unknown): AppError | null {
  if (sqlState(error) !== UNIQUE_VIOLATION) return null;
  return new AppError('CONFLICT', { cause: error, internal: brokenConstraint(error) ?? 'unique' });
}

/** Every endpoint below the base URL. */
export function apiRoutes(container: Container, mediaRuns: () => boolean): Route[] {
  const { streams, secrets, clock, config, webhooks, eventLog, auth } = container;
  const cursors = createCursorCodec(Buffer.from(secrets.sign('cursors', 'key'), 'base64url'));
  const links = createStreamLinks(config, createPlaybackTokens(secrets, clock));
  return [
    ...healthRoutes({ probes: probes(container, mediaRuns), clock }),
    ...authRoutes(auth),
    ...twoFactorRoutes(auth),
    ...apiKeyRoutes({ apiKeys: container.apiKeys, cursors }),
    ...streamRoutes({ streams, links, cursors }),
    ...webhookRoutes({ webhooks, cursors }),
    ...eventLogRoutes({ eventLog, cursors }),
  ];
}

function probes({ sql }: Container, mediaRuns: () => boolean) {
  return {
    media: mediaRuns,
    database: async () => {
      const late = new Promise<false>((resolve) => setTimeout(resolve, PROBE_MS, false).unref());
      const alive = sql`select 1`.then(
        () => true,
        () => false,
      );
      return Promise.race([alive, late]);
    },
  };
}

/** The api role: builds the request chain and listens. Rejects with the system's error when it cannot. */
export async function startApi(
  container: Container,
  mediaRuns: () => boolean,
): Promise<{ app: FastifyInstance; drain: () => Promise<void> }> {
  const { config, clock, log, metrics, apiKeys, secrets, gates, catalogue, counters, auth } = container;
  const perMinute = counters({ name: 'minute', window: 60, withoutStore: 'open' });
  const perDay = counters({ name: 'day', window: 'day', withoutStore: 'open' });
  const caps = (windowSec: number) =>
    counters({ name: `cap${windowSec}`, window: windowSec, withoutStore: 'insured' });
  const playback = createPlayback({ liveDir: join(config.DATA_DIR, 'live') });
  const assets = loadAssets({ dir: WEB_DIST, log });
  const tokens = createPlaybackTokens(secrets, clock);
  const routes = apiRoutes(container, mediaRuns);
  const document = openApiDocument(routes, catalogue.definitions, BASE_PATH);
  const app = await createApp({
    ports: {
      keys: apiKeys,
      verifyUserToken: auth.tokens.verify,
      counters: {
        perMinute: (key) => perMinute.hit(key),
        perDay: (key) => perDay.hit(key),
        dayCount: (key) => perDay.peek(key),
        window: caps,
      },
      idempotency: container.idempotency,
      leases: container.leases,
      originLock: { refusal: async () => null },
      metrics: { observe: metrics.observeRequest },
      conflict,
      clock,
      log,
      accessLog: createAccessLogger(config.LOG_LEVEL, { process: 'api' }),
    },
    routes,
    pages: [
      healthPages({ probes: probes(container, mediaRuns) }),
      landingPage({ assets }),
      livePages({ gates, files: { ...playback, notFound }, tokens }),
      watchPages({ gates, tokens, assets, clock, publicUrl: config.PUBLIC_URL }),
      authPages({ links: auth.links, assets, counters: { window: caps } }),
      assets.register,
      (instance) => instance.get('/openapi.json', async () => document),
    ],
    trustProxy: config.TRUST_PROXY,
  });
  const drain = prepareDrain(app, DRAIN_MS);
  await app.listen({ port: config.PORT, host: config.HOST });
  return { app, drain };
}
