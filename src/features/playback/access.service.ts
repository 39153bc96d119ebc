import type { Visibility } from '../../kernel/visibility.ts';
import { type Grant, isForEntitled, mayWatch, opens } from './access.rules.ts';
import type { PlaybackTokens } from './tokens.ts';

/** Who asks. Viewers do not sign in yet, so nobody's account is known. */
export interface Viewer {
  accountId: string | null;
}

/** A video or a stream. */
export interface Guarded {
  id: string;
  accountId: string;
  visibility: Visibility;
}

/** Who is entitled to what is for FOLLOWERS, TIER and PURCHASE. */
export interface Entitlements {
  allows(viewer: Viewer, guarded: Guarded): Promise<boolean>;
}

/** While nothing is sold, what is a creator's own is all that anybody is entitled to. */
export const ownOnly: Entitlements = {
  allows: async ({ accountId }, guarded) => accountId === guarded.accountId,
};

export interface Pass {
  grant: Grant | null;
  /** The token that is valid, as a query that goes on to every address; else nothing. */
  suffix: string;
}

export interface Access {
  /**
   * Null when the viewer may not see it.
   *
   * @param token `?token=` as it came.
   */
  passFor(guarded: Guarded, token: unknown): Promise<Pass | null>;
}

interface Deps {
  tokens: Pick<PlaybackTokens, 'read'>;
  entitlements: Entitlements;
}

/** Who may watch, live or not. */
export function createAccess({ tokens, entitlements }: Deps): Access {
  return {
    async passFor(guarded, token) {
      const { id, visibility } = guarded;
      const grant = typeof token === 'string' ? tokens.read(token, id) : null;
      const isEntitled =
        isForEntitled(visibility) &&
        !opens(grant) &&
        (await entitlements.allows({ accountId: null }, guarded));
      if (!mayWatch({ visibility, grant, isEntitled })) return null;
      return { grant, suffix: grant === null ? '' : `?token=${encodeURIComponent(String(token))}` };
    },
  };
}
