import { createTtlCache } from '../../../kernel/cache.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { Entitlements } from '../../audience/playback/index.ts';
import type { MemberCookie } from './cookie.ts';
import * as repository from './entitlements.repository.ts';

/** Cache time of a decision: purchases grant access, and lost access ends, within a second on every node. */
const FRESH_MS = 500;
const ENTRIES = 20_000;

interface Deps {
  db: Db;
  clock: Clock;
  cookie: MemberCookie;
}

/**
 * Creates the entitlements of members, identified by the cookie of the member page. Playback checks them with
 * each request.
 */
export function createMemberEntitlements({ db, clock, cookie }: Deps): Entitlements {
  const cached = createTtlCache<boolean>(FRESH_MS, ENTRIES);
  return {
    async allows({ headers }, guarded) {
      const session = cookie.read(headers.cookie, guarded.workspaceId);
      if (session === null) return false;
      const key = `${session.toString('base64')} ${guarded.id} ${guarded.visibility}`;
      return cached(key, () => repository.mayWatch(db, session, guarded, clock.now()));
    },
  };
}
