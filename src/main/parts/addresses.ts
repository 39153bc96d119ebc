import type { StreamLinks } from '../../features/streams/index.ts';
import type { VideoLinks, VideoTokens } from '../../features/videos/index.ts';
import { createPlaybackTokens, createStreamLinks, createVideoLinks, createVideoTokens } from '../links.ts';
import type { Base } from '../wiring.ts';

/** The addresses of what viewers see, and the tokens in them. */
export interface Addresses {
  streamTokens: ReturnType<typeof createPlaybackTokens>;
  videoTokens: VideoTokens;
  streamLinks: StreamLinks;
  videoLinks: VideoLinks;
  /** Addresses that grant nothing, for events. */
  bareVideoLinks: VideoLinks;
}

export function createAddresses({ config, secrets, clock }: Base): Addresses {
  const streamTokens = createPlaybackTokens(secrets, clock);
  const videoTokens = createVideoTokens(secrets, clock);
  return {
    streamTokens,
    videoTokens,
    streamLinks: createStreamLinks(config, streamTokens),
    videoLinks: createVideoLinks(config, videoTokens),
    bareVideoLinks: createVideoLinks(config, null),
  };
}
