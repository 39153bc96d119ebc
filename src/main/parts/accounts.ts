import {
  type Accounts,
  avatarPages,
  createAccounts,
  createProfiles,
  meRoutes,
} from '../../features/accounts/index.ts';
import type { ApiKeys } from '../../features/api-keys/index.ts';
import type { Auth } from '../../features/auth/index.ts';
import type { Built, Part } from '../part.ts';
import type { Base } from '../wiring.ts';

export function accountsPart(base: Base): Built<{ accounts: Accounts }> {
  return { part: {}, gives: { accounts: createAccounts(base) } };
}

/** What partners see and change of their own account: it tells of the key that asks, and of how one signs in. */
export function profilesPart(base: Base & { apiKeys: ApiKeys; auth: Auth }): Part {
  const { apiKeys, auth, config } = base;
  const profiles = createProfiles(base);
  return {
    routes: () =>
      meRoutes({
        profiles,
        keyOf: async (caller) => {
          const { name, expires_at: expiresAt } = await apiKeys.getOwn(caller, caller.keyId);
          return { name, expiresAt };
        },
        hasTwoFactor: async (accountId) => (await auth.twoFactor.state(accountId)).enabled,
        publicUrl: config.PUBLIC_URL,
      }),
    pages: () => [avatarPages({ profiles })],
  };
}
