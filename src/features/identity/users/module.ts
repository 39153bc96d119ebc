import { createPageViewers, type PageViewers } from '../../../http/page-viewer.ts';
import { createSessionCookie } from '../../../http/session-cookie.ts';
import type { Mode } from '../../../kernel/access.ts';
import { workspaceOf } from '../../../platform/db/workspace.ts';
import type { RenderFollowBox } from '../../audience/playback/index.ts';
import type { hasPublicBroadcast } from '../../live/streams/index.ts';
import type { Declarations, FeatureModule } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { countPublicVideos } from '../../video/videos/index.ts';
import type { Accounts, avatarUrl, Profiles } from '../accounts/index.ts';
import type { ApiKeys } from '../api-keys/index.ts';
import type { Auth } from '../auth/index.ts';
import { followerEvents } from './events.ts';
import { createFollowBox, followPages } from './follow.pages.ts';
import { createFollows, type Follows, followers } from './follows.service.ts';
import { userRoutes } from './routes.ts';
import type { FollowState } from './schemas.ts';
import { createUsers } from './service.ts';

export { createFollowerEntitlements } from './entitlements.ts';
export { followerAdded, followerRemoved } from './events.ts';
export { followers } from './follows.service.ts';

export const usersDeclarations: Declarations = { events: followerEvents };

interface UsersDeps extends Pick<Platform, 'caps' | 'clock' | 'config' | 'db' | 'events' | 'secrets'> {
  accounts: Accounts;
  apiKeys: ApiKeys;
  auth: Auth;
  avatarUrl: typeof avatarUrl;
  profiles: Profiles;
  hasPublicBroadcast: typeof hasPublicBroadcast;
  countPublicVideos: typeof countPublicVideos;
}

interface UsersExports {
  follows: Follows;
  followBox: RenderFollowBox;
  visitors: PageViewers;
  /** Returns the follow state of a channel: whether it is live, and its numbers of followers and videos. */
  followStateOf(workspaceId: string): Promise<FollowState>;
}

/** Users as others see them, and who is looking at public pages. */
export function createUsersModule(deps: UsersDeps): FeatureModule & UsersExports {
  const { avatarUrl, hasPublicBroadcast, countPublicVideos } = deps;
  const { db, config, apiKeys, auth } = deps;
  const publicUrl = config.PUBLIC_URL;
  const ofAccount = {
    workspaceOf: (accountId: string, mode: Mode) => workspaceOf(db, accountId, mode),
  };
  const followStateOf = async (workspaceId: string) => {
    const [isLive, followerCount, videoCount] = await Promise.all([
      hasPublicBroadcast(db, workspaceId),
      followers.count(db, workspaceId),
      countPublicVideos(db, workspaceId),
    ]);
    return { isLive, followerCount, videoCount };
  };
  const follows = createFollows({ ...deps, ...ofAccount });
  const users = createUsers({ ...ofAccount, profiles: deps.profiles, followStateOf });
  const visitors = createPageViewers({
    keys: apiKeys,
    verifyUserToken: auth.tokens.verify,
    sessions: { ...auth.sessions, cookie: createSessionCookie(publicUrl) },
  });
  const forms = { follows, visitors, secrets: deps.secrets };
  const followBox = createFollowBox({ ...forms, count: (id) => followers.count(db, id) });
  return {
    follows,
    followBox,
    followStateOf,
    visitors,
    pages: ({ assets }) => [followPages({ ...forms, assets, counters: { window: deps.caps } })],
    routes: () => userRoutes({ users, follows, avatarUrl: (profile) => avatarUrl(profile, publicUrl) }),
  };
}
