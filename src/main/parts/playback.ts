import { join } from 'node:path';
import {
  createStreamGates,
  createViewers,
  livePages,
  type StreamGate,
  VIEWER_FLUSH_MS,
  type Viewers,
  watchPages,
} from '../../features/streams/index.ts';
import {
  createAdmissions,
  createVideoGates,
  embeddableVideo,
  ownVideosOnly,
  playbackTokenRoutes,
  videoFilePages,
  videoWatchPages,
} from '../../features/videos/index.ts';
import { EMBED_SIZE } from '../../http/media-page.ts';
import { type Embeddable, oembedPage } from '../../http/oembed.ts';
import { startSchedule } from '../../jobs/schedule.ts';
import { isOpen } from '../../kernel/visibility.ts';
import { createPlayback, createVodPlayback, notFound } from '../../media/playback/index.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Built, Page, PageRole, Service } from '../part.ts';
import type { Base } from '../wiring.ts';
import type { Addresses } from './addresses.ts';

type Needs = Base & Addresses;

interface Gives {
  gates: ReturnType<typeof createStreamGates>;
  viewers: Viewers;
}

/** What viewers see and load: live streams, videos, and the pages around them. */
export function playbackPart(needs: Needs): Built<Gives> {
  const { config, log, videoTokens: tokens } = needs;
  const gates = createStreamGates(needs);
  const viewers = createViewers(needs);
  const videoGates = createVideoGates(needs);
  return {
    gives: { gates, viewers },
    part: {
      routes: () => playbackTokenRoutes({ gates: videoGates, tokens, publicUrl: config.PUBLIC_URL }),
      pages: async (role) => [
        ...livePagesOf(needs, { gates, viewers }, role),
        ...(await videoPagesOf(needs, videoGates, role)),
        oembedPage({
          publicUrl: config.PUBLIC_URL,
          hosts: needs.platformHosts,
          find: async (id) =>
            (await embeddableVideo(videoGates, config.PUBLIC_URL, id)) ??
            embeddableStream(await gates.get(id)),
        }),
      ],
      services: { api: () => countViewers(viewers, log) },
    },
  };
}

function livePagesOf(needs: Needs, { gates, viewers }: Gives, { assets }: PageRole): Page[] {
  const { config, clock, streamTokens: tokens } = needs;
  const live = createPlayback({ liveDir: join(config.DATA_DIR, 'live') });
  return [
    livePages({ gates, files: { ...live, notFound }, tokens, viewers }),
    watchPages({ gates, tokens, assets, clock, publicUrl: config.PUBLIC_URL }),
  ];
}

async function videoPagesOf(
  { config, store, platformHosts, videoTokens: tokens }: Needs,
  gates: ReturnType<typeof createVideoGates>,
  { assets }: PageRole,
): Promise<Page[]> {
  const admissions = createAdmissions({ gates, tokens, entitlements: ownVideosOnly, platformHosts });
  const vod = createVodPlayback({ store, accelPrefix: config.ACCEL_REDIRECT_PREFIX });
  const sample = await store.signedUrl('origin', 60);
  const mediaOrigins = sample === null ? [] : [new URL(sample).origin];
  const publicUrl = config.PUBLIC_URL;
  return [
    videoFilePages({ admissions, files: { ...vod, notFound } }),
    videoWatchPages({ admissions, tokens, assets, publicUrl, platformHosts, mediaOrigins }),
  ];
}

function embeddableStream(gate: StreamGate | undefined): Embeddable | null {
  if (gate === undefined || !isOpen(gate.visibility)) return null;
  const { title, creator, video } = gate;
  const { width, height } = video ?? EMBED_SIZE;
  return { title, creator, width, height, thumbnail: null };
}

/** Writes the viewers of this process while it runs. */
function countViewers(viewers: Viewers, log: Logger): Service {
  const task = { name: 'viewer counts', everyMs: VIEWER_FLUSH_MS, run: () => viewers.flush() };
  const schedule = startSchedule([task], log);
  return {
    stop: () => schedule.stop(),
    leave: () =>
      viewers.leave().catch((error: unknown) => log.warn({ err: error }, 'the viewers were not taken out')),
  };
}
