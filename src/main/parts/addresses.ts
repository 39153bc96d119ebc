import {
  createPlaybackTokens,
  createStreamLinks,
  createVideoLinks,
  type PlaybackTokens,
  type VideoLinks,
} from '../../features/playback/index.ts';
import type { StreamLinks } from '../../features/streams/index.ts';
import type { Base } from '../wiring.ts';

/** The addresses of what viewers see, and the tokens in them. */
export interface Addresses {
  playbackTokens: PlaybackTokens;
  streamLinks: StreamLinks;
  videoLinks: VideoLinks;
  /** Addresses that grant nothing, for events. */
  bareVideoLinks: VideoLinks;
}

export function createAddresses({ config, secrets, clock }: Base): Addresses {
  const { PUBLIC_URL: publicUrl, RTMP_URL: rtmpUrl } = config;
  const playbackTokens = createPlaybackTokens({ secrets, clock });
  return {
    playbackTokens,
    streamLinks: { ...createStreamLinks(publicUrl, playbackTokens), rtmpUrl },
    videoLinks: createVideoLinks(publicUrl, playbackTokens),
    bareVideoLinks: createVideoLinks(publicUrl, null),
  };
}
