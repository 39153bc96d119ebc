import type { Visibility } from '../../kernel/visibility.ts';
import { type Grant, isForEntitled, mayWatch, opens } from './access.rules.ts';
import type { PlaybackTokens } from './tokens.ts';

/** How a viewer comes: neither proves anything by itself. */
export interface Viewer {
  /** `?token=` as it came. */
  token: unknown;
  /** The header as it came: a member of a creator is known by a cookie. */
  cookie: string | undefined;
}

/** A video or a stream. */
export interface Guarded {
  id: string;
  workspaceId: string;
  visibility: Visibility;
  /** Of TIER: whose members may watch; those of any tier where none is named. */
  tierIds: readonly string[];
}

/** Who is entitled to what not everybody sees: followers, members, buyers, and customers of bookings. */
export interface Entitlements {
  allows(viewer: Pick<Viewer, 'cookie'>, guarded: Guarded): Promise<boolean>;
}

export interface Pass {
  grant: Grant | null;
  /** The token that is valid, as a query that goes on to every address; else nothing. */
  suffix: string;
}

export interface Access {
  /** Null when the viewer may not see it. */
  passFor(guarded: Guarded, viewer: Viewer): Promise<Pass | null>;
}

interface Deps {
  tokens: Pick<PlaybackTokens, 'read'>;
  entitlements: Entitlements;
}

/** Who may watch, live or not. */
export function createAccess({ tokens, entitlements }: Deps): Access {
  return {
    async passFor(guarded, { token, cookie }) {
      const { id, visibility } = guarded;
      const grant = typeof token === 'string' ? tokens.read(token, id) : null;
      const isEntitled =
        isForEntitled(visibility) && !opens(grant) && (await entitlements.allows({ cookie }, guarded));
      if (!mayWatch({ visibility, grant, isEntitled })) return null;
      return { grant, suffix: grant === null ? '' : `?token=${encodeURIComponent(String(token))}` };
    },
  };
}
