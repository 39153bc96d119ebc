import {
  type Accounts,
  avatarPages,
  createAccounts,
  createProfiles,
  meRoutes,
  type Profiles,
} from '../../features/identity/accounts/index.ts';
import type { ApiKeys } from '../../features/identity/api-keys/index.ts';
import type { Auth } from '../../features/identity/auth/index.ts';
import { keyIdOf } from '../../kernel/access.ts';
import type { ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

export function accountsPart(base: BaseContext): ModuleWithExports<{ accounts: Accounts }> {
  return { module: {}, exports: { accounts: createAccounts(base) } };
}

/** Builds the account settings of partners, including the calling key and the sign-in methods. */
export function profilesPart(
  base: BaseContext & { apiKeys: ApiKeys; auth: Auth },
): ModuleWithExports<{ profiles: Profiles }> {
  const { apiKeys, auth, config } = base;
  const profiles = createProfiles(base);
  const part = {
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
  return { module: part, exports: { profiles } };
}
