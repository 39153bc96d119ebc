import type { IncomingHttpHeaders } from 'node:http';
import type { Visibility } from '../../../kernel/visibility.ts';
import { type Grant, grantsAccess, isForEntitled, mayWatch } from './access.rules.ts';
import type { PlaybackTokens } from './tokens.ts';

/** What of a request tells who asks: a member of a creator and whoever is signed in are known by cookies. */
export interface AccessRequest {
  headers: IncomingHttpHeaders;
  ip: string;
}

/** How a viewer comes: neither proves anything by itself. */
export interface Viewer {
  /** `?token=` as it came. */
  token: unknown;
  /** Null where only the token counts. */
  asking: AccessRequest | null;
}

/** A video or a stream. */
export interface ProtectedMedia {
  id: string;
  workspaceId: string;
  visibility: Visibility;
  /** Of TIER: whose members may watch; those of any tier where none is named. */
  tierIds: readonly string[];
}

/** Who is entitled to what not everybody sees: followers, members, buyers, and customers of bookings. */
export interface Entitlements {
  allows(asking: AccessRequest, guarded: ProtectedMedia): Promise<boolean>;
}

/** Entitled by one of these. */
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
  /** The token that is valid, as a query that goes on to every address; else nothing. */
  suffix: string;
}

export interface Access {
  /** Null when the viewer may not see it. */
  passFor(guarded: ProtectedMedia, viewer: Viewer): Promise<AccessGrant | null>;
}

interface Deps {
  tokens: Pick<PlaybackTokens, 'read'>;
  entitlements: Entitlements;
}

/** Who may watch, live or not. */
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
