import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { livePages, type StreamGate, watchPages } from '../features/streams/index.ts';
import {
  createAdmissions,
  embeddableVideo,
  ownVideosOnly,
  videoFilePages,
  videoWatchPages,
} from '../features/videos/index.ts';
import type { WebAssets } from '../http/assets.ts';
import { EMBED_SIZE } from '../http/media-page.ts';
import { type Embeddable, oembedPage } from '../http/oembed.ts';
import { isOpen } from '../kernel/visibility.ts';
import { createPlayback, createVodPlayback, notFound } from '../media/playback/index.ts';
import type { Container } from './container.ts';
import { createPlaybackTokens, createVideoTokens } from './links.ts';

/** What viewers see and load: live streams, videos, and the pages around them. */
export async function playbackPages(
  container: Container,
  assets: WebAssets,
): Promise<((app: FastifyInstance) => void)[]> {
  const { config, clock, secrets, gates, viewers, videoGates, store } = container;
  const publicUrl = config.PUBLIC_URL;
  const platformHosts = [new URL(publicUrl).hostname, ...config.PLATFORM_HOSTS];
  const streamTokens = createPlaybackTokens(secrets, clock);
  const live = createPlayback({ liveDir: join(config.DATA_DIR, 'live') });
  const tokens = createVideoTokens(secrets, clock);
  const admissions = createAdmissions({
    gates: videoGates,
    tokens,
    entitlements: ownVideosOnly,
    platformHosts,
  });
  const vod = createVodPlayback({ store, accelPrefix: config.ACCEL_REDIRECT_PREFIX });
  const sample = await store.signedUrl('origin', 60);
  const mediaOrigins = sample === null ? [] : [new URL(sample).origin];
  return [
    livePages({ gates, files: { ...live, notFound }, tokens: streamTokens, viewers }),
    watchPages({ gates, tokens: streamTokens, assets, clock, publicUrl }),
    videoFilePages({ admissions, files: { ...vod, notFound } }),
    videoWatchPages({ admissions, tokens, assets, publicUrl, platformHosts, mediaOrigins }),
    oembedPage({
      publicUrl,
      hosts: platformHosts,
      find: async (id) =>
        (await embeddableVideo(videoGates, publicUrl, id)) ?? embeddableStream(await gates.get(id)),
    }),
  ];
}

function embeddableStream(gate: StreamGate | undefined): Embeddable | null {
  if (gate === undefined || !isOpen(gate.visibility)) return null;
  const { title, creator, video } = gate;
  const { width, height } = video ?? EMBED_SIZE;
  return { title, creator, width, height, thumbnail: null };
}
