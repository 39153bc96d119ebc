import {
  type Access,
  anyEntitlement,
  createAccess,
  createPlaybackTokens,
  createStreamLinks,
  createVideoLinks,
  type Entitlements,
  type PlaybackTokens,
  type Sellers,
  type VideoLinks,
} from '../../features/audience/playback/index.ts';
import {
  createMemberCookie,
  createMemberEntitlements,
  createSellers,
  type MemberCookie,
} from '../../features/commerce/members/index.ts';
import { createFollowerEntitlements, type Follows } from '../../features/identity/users/index.ts';
import type { StreamLinks } from '../../features/live/streams/index.ts';
import { watchWhep } from '../../features/live/whep/index.ts';
import { watchWhip } from '../../features/live/whip/index.ts';
import type { PageViewers } from '../../http/page-viewer.ts';
import type { BaseContext } from '../wiring.ts';

/** The addresses of what viewers see, the tokens in them, and who may watch. */
export interface PlaybackUrls {
  playbackTokens: PlaybackTokens;
  access: Access;
  entitlements: Entitlements;
  memberCookie: MemberCookie;
  sellers: Sellers;
  streamLinks: StreamLinks;
  videoLinks: VideoLinks;
  /** Encoders can publish by WHIP, now. */
  takesWhip(): boolean;
  /** Viewers can watch by WHEP, now. */
  hasWhep(): boolean;
  /** Addresses that grant nothing, for events. */
  bareVideoLinks: VideoLinks;
}

export function createPlaybackUrls(
  needs: BaseContext & { follows: Follows; visitors: PageViewers },
): PlaybackUrls {
  const { db, config, secrets, clock, bus } = needs;
  const { PUBLIC_URL: publicUrl, RTMP_URL: rtmpUrl, RTMPS_URL } = config;
  const playbackTokens = createPlaybackTokens({ secrets, clock });
  const takesWhip = watchWhip(bus);
  const hasWhep = watchWhep(bus);
  const links = createStreamLinks(publicUrl, playbackTokens);
  const cookie = createMemberCookie(publicUrl);
  const entitlements = anyEntitlement(
    createMemberEntitlements({ db, clock, cookie }),
    createFollowerEntitlements(needs),
  );
  return {
    playbackTokens,
    memberCookie: cookie,
    sellers: createSellers({ db }),
    access: createAccess({ tokens: playbackTokens, entitlements }),
    entitlements,
    streamLinks: {
      ...links,
      rtmpUrl,
      rtmpsUrl: RTMPS_URL ?? null,
      whipUrl: () => (takesWhip() ? `${publicUrl}/whip` : null),
      whepUrl: (stream) => (hasWhep() ? links.whepUrl(stream) : null),
      hasWhep,
    },
    takesWhip,
    hasWhep,
    videoLinks: createVideoLinks(publicUrl, playbackTokens),
    bareVideoLinks: createVideoLinks(publicUrl, null),
  };
}
