import { Profile, type Profiles, toProfile } from '../../features/identity/accounts/index.ts';
import { type Auth, sessionRoutes } from '../../features/identity/auth/index.ts';
import type { FeatureModule } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

/** The session of the dashboard: it shows the account, which another feature knows. */
export function sessionsPart({
  auth,
  profiles,
  config,
  cursors,
}: BaseContext & { auth: Auth; profiles: Profiles }): FeatureModule {
  const { twoFactor } = auth;
  return {
    routes: () =>
      sessionRoutes({
        ...auth,
        cursors,
        keepsMails: config.SMTP_URL === undefined,
        user: {
          schema: Profile,
          async of(accountId) {
            const [row, { enabled }] = await Promise.all([
              profiles.get(accountId),
              twoFactor.state(accountId),
            ]);
            return toProfile(row, { twoFactorEnabled: enabled, publicUrl: config.PUBLIC_URL });
          },
        },
      }),
  };
}
