import { isOpen } from '../../../kernel/visibility.ts';
import { type Grant, isForEntitled, mayPlayThere, mayWatch, type Source } from './access.rules.ts';
import type { VideoGate, VideoGates } from './gate.service.ts';

/** Who asks. Viewers do not sign in yet, so nobody's account is known. */
export interface Viewer {
  accountId: string | null;
}

/** Who is entitled to videos for FOLLOWERS, TIER and PURCHASE. */
export interface Entitlements {
  allows(viewer: Viewer, video: Pick<VideoGate, 'id' | 'accountId' | 'visibility'>): Promise<boolean>;
}

/** While nothing is sold, a creator's own videos are all that anybody is entitled to. */
export const ownVideosOnly: Entitlements = {
  allows: async ({ accountId }, video) => accountId === video.accountId,
};

/** Signed queries of the addresses of one video. */
export interface VideoTokens {
  mint(grant: Grant, videoId: string, ttlSec: number): { token: string; expiresAt: Date };
  /** The same text for about an hour, good for `ttlSec` at least: for addresses that are asked for often. */
  mintSteady(grant: Grant, videoId: string, ttlSec: number): string;
  /** What the token grants for this video; null when it is not valid. */
  read(token: string, videoId: string): Grant | null;
}

/** One request for a video or a file of it. */
export interface Visit extends Source {
  videoId: string;
  /** `?token=` as it came. */
  token: unknown;
  /** The host name that was asked. */
  host: string;
}

export interface Admission {
  gate: VideoGate;
  grant: Grant | null;
  /** The token that is valid, as a query that goes on to every address; else nothing. */
  suffix: string;
  /** Not everybody may see it: shared caches must not keep it. */
  isPrivate: boolean;
  /** A player where the request comes from may load the media. */
  mayPlay: boolean;
}

export interface Admissions {
  /** Null when there is no such video, or the viewer may not see it: the same 404. */
  admit(visit: Visit): Promise<Admission | null>;
}

interface Deps {
  gates: VideoGates;
  tokens: Pick<VideoTokens, 'read'>;
  entitlements: Entitlements;
  /** The platform's own host names. */
  platformHosts: readonly string[];
}

export function createAdmissions({ gates, tokens, entitlements, platformHosts }: Deps): Admissions {
  return {
    async admit({ videoId, token, host, ...source }) {
      const gate = await gates.get(videoId);
      if (gate === undefined) return null;
      const { visibility, embedHosts: listed } = gate;
      const grant = typeof token === 'string' ? tokens.read(token, videoId) : null;
      const isEntitled =
        isForEntitled(visibility) &&
        grant !== 'playback' &&
        (await entitlements.allows({ accountId: null }, gate));
      if (!mayWatch({ visibility, grant, isEntitled })) return null;
      const suffix = grant === null ? '' : `?token=${encodeURIComponent(String(token))}`;
      return {
        gate,
        grant,
        suffix,
        isPrivate: suffix !== '' || listed !== null || !isOpen(visibility),
        mayPlay: mayPlayThere(source, { listed, own: [...platformHosts, host], grant }),
      };
    },
  };
}
