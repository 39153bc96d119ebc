import type { IncomingHttpHeaders } from 'node:http';
import type { Visibility } from '../../../kernel/visibility.ts';
import { type Grant, grantsAccess, isForEntitled, mayWatch } from './access.rules.ts';
import type { PlaybackTokens } from './tokens.ts';

/** Request data that identifies the caller: cookies identify members of a creator and signed-in accounts. */
export interface AccessRequest {
  headers: IncomingHttpHeaders;
  ip: string;
}

/** Credentials of a viewer, not verified yet. */
export interface Viewer {
  /** Unverified `?token=`. */
  token: unknown;
  /** Request of the viewer; null when only the token counts. */
  asking: AccessRequest | null;
}

/** Video or stream with its access settings. */
export interface ProtectedMedia {
  id: string;
  workspaceId: string;
  visibility: Visibility;
  /** Tiers whose members may watch, for TIER media; an empty list means any tier. */
  tierIds: readonly string[];
}

/** Entitlements to restricted media: of followers, members, buyers, and customers of bookings. */
export interface Entitlements {
  allows(asking: AccessRequest, guarded: ProtectedMedia): Promise<boolean>;
}

/** Combines entitlements: one of them suffices. */
export function anyEntitlement(...sources: readonly Entitlements[]): Entitlements {
  return {
    async allows(asking, guarded) {
      for (const source of sources) if (await source.allows(asking, guarded)) return true;
      return false;
    },
  };
}

export interface AccessGrant {
  grant: Grant | null;
  /** Valid token as a query string that is appended to every URL; otherwise empty. */
  suffix: string;
}

export interface Access {
  /** Returns the grant; null without access. */
  passFor(guarded: ProtectedMedia, viewer: Viewer): Promise<AccessGrant | null>;
}

interface Deps {
  tokens: Pick<PlaybackTokens, 'read'>;
  entitlements: Entitlements;
}

/** Creates the access check for streams and videos. */
export function createAccess({ tokens, entitlements }: Deps): Access {
  return {
    async passFor(guarded, { token, asking }) {
      const { id, visibility } = guarded;
      const grant = typeof token === 'string' ? tokens.read(token, id) : null;
      const mayBe = asking !== null && isForEntitled(visibility) && !grantsAccess(grant);
      const isEntitled = mayBe && (await entitlements.allows(asking, guarded));
      if (!mayWatch({ visibility, grant, isEntitled })) return null;
      return { grant, suffix: grant === null ? '' : `?token=${encodeURIComponent(String(token))}` };
    },
  };
}
