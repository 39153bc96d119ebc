import { join } from 'node:path';
import { fastify } from 'fastify';
import { createAccess } from '../../src/features/audience/playback/access.service.ts';
import { beaconPage } from '../../src/features/audience/playback/beacon.pages.ts';
import { createBeacons } from '../../src/features/audience/playback/beacon.service.ts';
import type { StreamSnapshot, VideoSnapshot } from '../../src/features/audience/playback/index.ts';
import { liveWatchPages } from '../../src/features/audience/playback/live/watch.pages.ts';
import { createPlaybackSessions } from '../../src/features/audience/playback/playback-sessions.ts';
import { loadAssets } from '../../src/http/assets.ts';
import { landingPage } from '../../src/http/landing-page.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { createSecrets } from '../../src/platform/secrets.ts';
import { type SimulatedBroadcast, simulateBroadcast } from './broadcast.ts';

/** `npm test` builds the pages when their sources have changed. */
const WEB_DIST = join(import.meta.dirname, '../../web/dist');

/** The public pages of one stream, and a simulated broadcast behind them. */
export interface TestSite {
  url: string;
  /** Stream shown by the pages; tests change it. */
  stream: StreamSnapshot;
  /** Videos of the broadcast. */
  recordings: VideoSnapshot[];
  broadcast: SimulatedBroadcast;
  /** Beacons received from players: `0 str_… PLAY 360`. */
  beacons: string[];
  close(): Promise<void>;
}

const NO_COUNT = { count: 0, resetInMs: 0 };
const ANONYMOUS_VIEWER = {
  ...{ country: 'ZZ', device: null, browser: null, os: null, referrer: null, isBot: false, isSelf: false },
};

export async function startSite(): Promise<TestSite> {
  const broadcast = await simulateBroadcast();
  const stream = testStream();
  const recordings: VideoSnapshot[] = [];
  const beacons: string[] = [];
  const sessions = createPlaybackSessions({
    secrets: createSecrets(Buffer.alloc(32, 7)),
    clock: systemClock,
  });
  const streams = { get: async (id: string) => (id === stream.id ? stream : undefined) };
  const videos = { get: async (id: string) => recordings.find((video) => video.id === id) };
  const app = fastify();
  const assets = loadAssets({ dir: WEB_DIST, log: createLogger('silent') });
  assets.register(app);
  landingPage({ assets })(app);
  liveWatchPages({
    ...{ streams, videos },
    recordings: { get: async () => recordings.map(({ id }) => id) },
    sellers: async () => ({ offers: [], memberPath: '/members/somebody' }),
    access: createAccess({ entitlements: { allows: async () => false }, tokens: { read: () => null } }),
    reception: {
      recordImpression: async (_request, { id, grant, suffix }) =>
        sessions.mint({ id, grant, referrer: null, isSelf: false }, suffix),
    },
    assets,
    clock: systemClock,
    publicUrl: 'https://video.example',
    platformHosts: ['video.example'],
    hasWhep: () => false,
    mediaOrigins: ['https://bucket.example'],
  })(app);
  broadcast.register(app);
  beaconPage({
    beacons: createBeacons({
      ...{ streams, videos, sessions, clock: systemClock },
      viewers: { seen: () => {} },
      arrivals: {
        fingerprint: () => ({ ...ANONYMOUS_VIEWER, ipAgentHash: '' }),
        viewerOf: async () => ({ ...ANONYMOUS_VIEWER, hash: '' }),
      },
      facts: {
        isDuplicate: async () => false,
        lastNumber: async () => null,
        record({ number, subjectId, playerEvents = [] }) {
          for (const { type, quality } of playerEvents)
            beacons.push(`${number} ${subjectId} ${type} ${quality}`);
        },
      },
      // Here the 15 seconds between two beacons are shorter.
      counters: () => ({ hit: async () => NO_COUNT, peek: async () => NO_COUNT }),
    }),
  })(app);
  // A page of another origin, under another name of this host.
  app.get<{ Params: { '*': string } }>('/framed/*', ({ params }, reply) =>
    reply
      .type('text/html')
      .send(
        `<!doctype html><iframe src="http://127.0.0.1:${port()}/${params['*']}" allow="autoplay"></iframe>`,
      ),
  );
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const port = () => new URL(url).port;
  return {
    url,
    stream,
    recordings,
    broadcast,
    beacons,
    close: async () => {
      app.server.closeAllConnections();
      await app.close();
      await broadcast.close();
    },
  };
}

export function testStream(changes: Partial<StreamSnapshot> = {}): StreamSnapshot {
  return {
    id: 'str_01jexample0000000000000000',
    workspaceId: 'wsp_1',
    accountId: 'acc_1',
    tierIds: [],
    mode: 'live',
    title: 'Evening concert from the old harbour',
    description: 'Two sets of chamber jazz.\nDoors at 19:30, first set at 20:00.',
    visibility: 'PUBLIC',
    isLive: false,
    dvrWindowSec: 0,
    hasSignal: false,
    currentSessionId: null,
    liveSince: null,
    ended: null,
    scheduledStartAt: null,
    viewerCount: 0,
    creator: { username: 'harbourjazz', name: 'Harbour Jazz Club' },
    embedHosts: null,
    video: null,
    issues: [],
    ...changes,
  };
}
