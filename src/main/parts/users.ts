import type { RenderFollowBox } from '../../features/audience/playback/index.ts';
import { type Accounts, avatarUrl, createProfiles } from '../../features/identity/accounts/index.ts';
import type { ApiKeys } from '../../features/identity/api-keys/index.ts';
import type { Auth } from '../../features/identity/auth/index.ts';
import {
  createFollowBox,
  createFollows,
  createUsers,
  type FollowState,
  type Follows,
  followers,
  followPages,
  userRoutes,
} from '../../features/identity/users/index.ts';
import { hasPublicBroadcast } from '../../features/live/streams/index.ts';
import { countPublicVideos } from '../../features/video/videos/index.ts';
import { createPageViewers, type PageViewers } from '../../http/page-viewer.ts';
import { createSessionCookie } from '../../http/session-cookie.ts';
import type { Mode } from '../../kernel/access.ts';
import { workspaceOf } from '../../platform/db/workspace.ts';
import type { ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

interface Needs extends BaseContext {
  accounts: Accounts;
  apiKeys: ApiKeys;
  auth: Auth;
}

interface Gives {
  follows: Follows;
  followBox: RenderFollowBox;
  visitors: PageViewers;
  /** Returns the follow state of a channel: whether it is live, and its numbers of followers and videos. */
  standingOf(workspaceId: string): Promise<FollowState>;
}

/** Users as others see them, and who is looking at public pages. */
export function usersPart(needs: Needs): ModuleWithExports<Gives> {
  const { db, config, apiKeys, auth } = needs;
  const publicUrl = config.PUBLIC_URL;
  const ofAccount = {
    workspaceOf: (accountId: string, mode: Mode) => workspaceOf(db, accountId, mode),
  };
  const standingOf = async (workspaceId: string) => {
    const [isLive, followerCount, videoCount] = await Promise.all([
      hasPublicBroadcast(db, workspaceId),
      followers.count(db, workspaceId),
      countPublicVideos(db, workspaceId),
    ]);
    return { isLive, followerCount, videoCount };
  };
  const follows = createFollows({ ...needs, ...ofAccount });
  const users = createUsers({ ...ofAccount, profiles: createProfiles(needs), standingOf });
  const visitors = createPageViewers({
    keys: apiKeys,
    verifyUserToken: auth.tokens.verify,
    sessions: { ...auth.sessions, cookie: createSessionCookie(publicUrl) },
  });
  const forms = { follows, visitors, secrets: needs.secrets };
  const followBox = createFollowBox({ ...forms, count: (id) => followers.count(db, id) });
  return {
    exports: { follows, followBox, standingOf, visitors },
    module: {
      pages: ({ assets }) => [followPages({ ...forms, assets, counters: { window: needs.caps } })],
      routes: () => userRoutes({ users, follows, avatarUrl: (profile) => avatarUrl(profile, publicUrl) }),
    },
  };
}
