import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { avatarPages, meRoutes } from '../features/accounts/index.ts';
import { apiKeyRoutes } from '../features/api-keys/index.ts';
import { authPages, authRoutes, twoFactorRoutes } from '../features/auth/index.ts';
import { domainRoutes } from '../features/domains/index.ts';
import { eventLogRoutes } from '../features/event-log/index.ts';
import { healthPages, healthRoutes } from '../features/health/index.ts';
import { importRoutes } from '../features/imports/index.ts';
import { notificationRoutes } from '../features/notifications/index.ts';
import { createPlaylists, playlistRoutes } from '../features/playlists/index.ts';
import { streamRoutes, VIEWER_FLUSH_MS, type Viewers } from '../features/streams/index.ts';
import { transferPages, Upload, uploadRoutes } from '../features/uploads/index.ts';
import {
  audienceRoutes,
  playbackTokenRoutes,
  videoPartRoutes,
  videoRoutes,
} from '../features/videos/index.ts';
import { webhookRoutes } from '../features/webhooks/index.ts';
import { BASE_PATH, createApp } from '../http/app.ts';
import { loadAssets } from '../http/assets.ts';
import { prepareDrain } from '../http/drain.ts';
import { landingPage } from '../http/landing.ts';
import { openApiDocument } from '../http/openapi.ts';
import type { Route } from '../http/route.ts';
import { startSchedule } from '../jobs/schedule.ts';
import { type CursorCodec, createCursorCodec } from '../kernel/cursor.ts';
import { AppError } from '../kernel/errors.ts';
import { brokenConstraint, sqlState } from '../platform/db/index.ts';
import { createAccessLogger, type Logger } from '../platform/logger.ts';
import type { Container } from './container.ts';
import { createPlaybackTokens, createStreamLinks, createVideoLinks, createVideoTokens } from './links.ts';
import { playbackPages } from './playback.ts';
import { playlistVideos } from './playlist-videos.ts';
import { readiness } from './readiness.ts';

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
    ...healthRoutes({
      probes: probes(container, mediaRuns),
      readiness: readiness(container, mediaRuns),
      clock,
    }),
    ...notificationRoutes({ notifications: container.notifications, cursors }),
    ...authRoutes(auth),
    ...twoFactorRoutes(auth),
    ...ownRoutes(container, cursors),
    ...streamRoutes({ streams, links, cursors }),
    ...ownVideoRoutes(container, cursors),
    ...uploadRoutes({ uploads: container.uploads, cursors }),
    ...importRoutes({ imports: container.imports, cursors }),
    ...playbackTokenRoutes({
      gates: container.videoGates,
      tokens: createVideoTokens(secrets, clock),
      publicUrl: config.PUBLIC_URL,
    }),
    ...webhookRoutes({ webhooks, cursors }),
    ...eventLogRoutes({ eventLog, cursors }),
  ];
}

/** What partners see and change of their own account. */
function ownRoutes({ profiles, apiKeys, domains, auth, config }: Container, cursors: CursorCodec): Route[] {
  return [
    ...meRoutes({
      profiles,
      keyOf: async (caller) => {
        const { name, expires_at: expiresAt } = await apiKeys.getOwn(caller, caller.keyId);
        return { name, expiresAt };
      },
      hasTwoFactor: async (accountId) => (await auth.twoFactor.state(accountId)).enabled,
      publicUrl: config.PUBLIC_URL,
    }),
    ...apiKeyRoutes({ apiKeys, cursors }),
    ...domainRoutes({ domains, cursors }),
  ];
}

function ownVideoRoutes(container: Container, cursors: CursorCodec): Route[] {
  const { db, events, videos, captions, thumbnails, audience, config, secrets, clock } = container;
  const links = createVideoLinks(config, createVideoTokens(secrets, clock));
  const playlists = createPlaylists({ db, events, clock, videosOf: playlistVideos(videos, links) });
  return [
    ...videoRoutes({ videos, links, cursors, Upload }),
    ...videoPartRoutes({ captions, thumbnails, links, cursors }),
    ...audienceRoutes({ audience, links }),
    ...playlistRoutes({ playlists, cursors }),
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
): Promise<{ app: FastifyInstance; routes: Route[]; drain: () => Promise<void> }> {
  const { config, clock, log, metrics, apiKeys, viewers, catalogue, counters, auth } = container;
  const perMinute = counters({ name: 'minute', window: 60, withoutStore: 'open' });
  const perDay = counters({ name: 'day', window: 'day', withoutStore: 'open' });
  const caps = (windowSec: number) =>
    counters({ name: `cap${windowSec}`, window: windowSec, withoutStore: 'insured' });
  const assets = loadAssets({ dir: WEB_DIST, log });
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
      originLock: container.domains,
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
      ...(await playbackPages(container, assets)),
      authPages({ links: auth.links, assets, counters: { window: caps } }),
      avatarPages({ profiles: container.profiles }),
      transferPages({ uploads: container.uploads }),
      assets.register,
      (instance) => instance.get('/openapi.json', async () => document),
    ],
    trustProxy: config.TRUST_PROXY,
  });
  const drain = prepareDrain(app, DRAIN_MS);
  await app.listen({ port: config.PORT, host: config.HOST });
  const stopCounting = countViewers(viewers, log);
  return {
    app,
    routes,
    async drain() {
      await drain();
      await stopCounting();
    },
  };
}

/** Writes the viewers of this process until the returned function is called. */
function countViewers(viewers: Viewers, log: Logger): () => Promise<void> {
  const task = { name: 'viewer counts', everyMs: VIEWER_FLUSH_MS, run: () => viewers.flush() };
  const schedule = startSchedule([task], log);
  return async () => {
    await schedule.stop();
    await viewers
      .leave()
      .catch((error: unknown) => log.warn({ err: error }, 'the viewers were not taken out'));
  };
}
