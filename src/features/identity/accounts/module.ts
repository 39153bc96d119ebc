import { keyIdOf } from '../../../kernel/access.ts';
import type { FeatureModule } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { ApiKeys } from '../api-keys/index.ts';
import type { Auth } from '../auth/index.ts';
import { avatarPages } from './avatar.pages.ts';
import { createProfiles, type Profiles } from './profile.service.ts';
import { meRoutes } from './routes.ts';
import { type Accounts, createAccounts } from './service.ts';

export { avatarUrl, Profile, toProfile } from './schemas.ts';

type AccountsDeps = Pick<Platform, 'clock' | 'db' | 'fetcher' | 'images' | 'passwords'>;

export function createAccountsModule(
  deps: AccountsDeps,
): FeatureModule & { accounts: Accounts; profiles: Profiles } {
  return { accounts: createAccounts(deps), profiles: createProfiles(deps) };
}

interface ProfilesDeps extends Pick<Platform, 'config'> {
  apiKeys: ApiKeys;
  auth: Auth;
  profiles: Profiles;
}

/** Builds the account settings of partners, including the calling key and the sign-in methods. */
export function createProfilesModule({ apiKeys, auth, config, profiles }: ProfilesDeps): FeatureModule {
  return {
    routes: () =>
      meRoutes({
        profiles,
        keyOf: async (caller) => {
          const id = keyIdOf(caller);
          if (id === null) return null;
          const { name, expires_at: expiresAt } = await apiKeys.getOwn(caller, id);
          return { id, name, expiresAt };
        },
        hasTwoFactor: async (accountId) => (await auth.twoFactor.state(accountId)).enabled,
        publicUrl: config.PUBLIC_URL,
      }),
    pages: () => [avatarPages({ profiles })],
  };
}
