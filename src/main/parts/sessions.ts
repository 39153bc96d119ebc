import { Profile, type Profiles, toProfile } from '../../features/accounts/index.ts';
import { type Auth, sessionRoutes } from '../../features/auth/index.ts';
import type { Part } from '../part.ts';
import type { Base } from '../wiring.ts';

/** The session of the dashboard: it shows the account, which another feature knows. */
export function sessionsPart({
  auth,
  profiles,
  config,
  cursors,
}: Base & { auth: Auth; profiles: Profiles }): Part {
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
