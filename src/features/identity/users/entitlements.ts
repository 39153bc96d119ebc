import { createTtlCache } from '../../../kernel/cache.ts';
import type { AccessRequest, Entitlements } from '../../audience/playback/index.ts';
import type { Follows } from './follows.service.ts';

/** Cache lifetime of a decision, as for members. */
const FRESH_MS = 500;
const ENTRIES = 20_000;

interface Deps {
  follows: Pick<Follows, 'isFollowing'>;
  /** Returns the signed-in page viewer. */
  visitors(asking: AccessRequest): Promise<{ accountId: string } | null>;
}

/**
 * Creates the entitlements for FOLLOWERS media, which is available to signed-in followers of its channel
 * (docs/concepts/playback.md#access).
 */
export function createFollowerEntitlements({ follows, visitors }: Deps): Entitlements {
  const cached = createTtlCache<boolean>(FRESH_MS, ENTRIES);
  return {
    async allows(asking, { visibility, workspaceId }) {
      if (visibility !== 'FOLLOWERS') return false;
      const visitor = await visitors(asking);
      if (visitor === null) return false;
      const { accountId } = visitor;
      return cached(`${accountId} ${workspaceId}`, () => follows.isFollowing(workspaceId, accountId));
    },
  };
}
