import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { healthPages, healthRoutes } from '../features/health/index.ts';
import { livePages, streamRoutes } from '../features/streams/index.ts';
import { webhookRoutes } from '../features/webhooks/index.ts';
import { BASE_PATH, createApp } from '../http/app.ts';
import { openApiDocument } from '../http/openapi.ts';
import type { Route } from '../http/route.ts';
import { createCursorCodec } from '../kernel/cursor.ts';
import { AppError } from '../kernel/errors.ts';
import { createPlayback, notFound } from '../media/playback/index.ts';
import { memoryCounter, memoryDayCounter } from '../platform/counters.ts';
import { brokenConstraint, sqlState } from '../platform/db/index.ts';
import type { Container } from './container.ts';
import { createPlaybackTokens, createStreamLinks } from './links.ts';

const UNIQUE_VIOLATION = '23505';
const PROBE_MS = 1000;

/** A unique-constraint failure that no feature translated (contract 7, rule 3). */
function conflict(error: unknown): AppError | null {
  if (sqlState(error) !== UNIQUE_VIOLATION) return null;
  return new AppError('CONFLICT', { cause: error, internal: brokenConstraint(error) ?? 'unique' });
}

/** Every endpoint below the base URL. */
export function apiRoutes(container: Container, mediaRuns: () => boolean): Route[] {
  const { streams, secrets, clock, config, webhooks } = container;
  const cursors = createCursorCodec(Buffer.from(secrets.sign('cursors', 'key'), 'base64url'));
  const links = createStreamLinks(config, createPlaybackTokens(secrets, clock));
  return [
    ...healthRoutes({ probes: probes(container, mediaRuns), clock }),
    ...streamRoutes({ streams, links, cursors }),
    ...webhookRoutes({ webhooks, cursors }),
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
export async function startApi(container: Container, mediaRuns: () => boolean): Promise<FastifyInstance> {
  const { config, clock, log, metrics, apiKeys, secrets, gates, catalogue } = container;
  const perMinute = memoryCounter(60);
  const perDay = memoryDayCounter(() => clock.ms());
  const playback = createPlayback({ liveDir: join(config.DATA_DIR, 'live') });
  const routes = apiRoutes(container, mediaRuns);
  const document = openApiDocument(routes, catalogue.definitions, BASE_PATH);
  const app = await createApp({
    ports: {
      keys: apiKeys,
      // No sign-in has happened yet that could have made a valid one.
      verifyUserToken: async () => null,
      counters: { perMinute: (key) => perMinute.hit(key), perDay: (key) => perDay.hit(key) },
      metrics: { observe: metrics.observeRequest },
      conflict,
      clock,
      log,
    },
    routes,
    pages: [
      healthPages({ probes: probes(container, mediaRuns) }),
      livePages({ gates, files: { ...playback, notFound }, tokens: createPlaybackTokens(secrets, clock) }),
      (instance) => instance.get('/openapi.json', async () => document),
    ],
    trustProxy: config.TRUST_PROXY,
  });
  await app.listen({ port: config.PORT, host: config.HOST });
  return app;
}
