import type { Mode } from '../../../kernel/access.ts';
import type { PublicProfile } from '../accounts/index.ts';
import type { FollowState } from './schemas.ts';

/** Public profiles of accounts (docs/concepts/users.md). */
export interface Users {
  /**
   * Returns a public profile. For a test key, the state of other accounts contains only follows by test keys.
   *
   * @throws {AppError} NOT_FOUND for an unknown username and a suspended account.
   */
  get(
    asking: { accountId: string; mode: Mode },
    username: string,
  ): Promise<{ profile: PublicProfile; standing: FollowState }>;
}

interface Deps {
  profiles: { named(username: string): Promise<PublicProfile> };
  workspaceOf(accountId: string, mode: Mode): Promise<string>;
  followStateOf(workspaceId: string): Promise<FollowState>;
}

export function createUsers({ profiles, workspaceOf, followStateOf }: Deps): Users {
  return {
    async get({ accountId, mode }, username) {
      const profile = await profiles.named(username);
      const standing = await followStateOf(await workspaceOf(profile.id, mode));
      const isHidden = mode === 'test' && profile.id !== accountId;
      return { profile, standing: isHidden ? { ...standing, isLive: false, videoCount: 0 } : standing };
    },
  };
}
