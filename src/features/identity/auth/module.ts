import type { Mailbox, MailCaps } from '../../integration/mail/index.ts';
import { type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { Accounts, Profile, Profiles, toProfile } from '../accounts/index.ts';
import type { ApiKeys } from '../api-keys/index.ts';
import { type Auth, createAuth } from './auth.ts';
import { credentialRoutes } from './credentials.routes.ts';
import { authPages } from './pages.ts';
import { authRoutes, twoFactorRoutes } from './routes.ts';
import { sessionRoutes } from './sessions.routes.ts';

export { credentialCaps } from './routes.ts';

interface AuthDeps
  extends Pick<Platform, 'bus' | 'caps' | 'clock' | 'config' | 'db' | 'log' | 'passwords' | 'secrets'> {
  accounts: Accounts;
  apiKeys: ApiKeys;
  mailCaps: MailCaps;
  mailbox: Mailbox;
}

export function createAuthModule(deps: AuthDeps): FeatureModule & { auth: Auth } {
  const { apiKeys, caps, config } = deps;
  const auth = createAuth({
    ...deps,
    onAccountChanged: () => apiKeys.forget(),
    onAccountsChanged: apiKeys.onChanged,
    publicUrl: config.PUBLIC_URL,
    defaultPlan: config.DEFAULT_PLAN,
    registrationMode: config.REGISTRATION,
    termsUrl: config.TERMS_URL ?? null,
  });
  const { addressChange, links, places, registration, sessions, tokens, twoFactor } = auth;
  return {
    auth,
    routes: () => [...authRoutes(auth), ...twoFactorRoutes(auth), ...credentialRoutes(auth)],
    pages: ({ assets }) => [authPages({ links, addressChange, assets, counters: { window: caps } })],
    tasks: () => [
      { name: 'requested sign-in links', everyMs: INTERVALS.second, run: () => links.sendRequested() },
      { name: 'signing keys', everyMs: INTERVALS.hour, run: () => tokens.rotateKeys() },
      {
        name: 'sign-in cleanup',
        everyMs: INTERVALS.hour,
        run: async () => {
          const kept = [links, twoFactor, tokens, places, sessions, registration];
          await Promise.all(kept.map((one) => one.cleanUp()));
        },
      },
    ],
  };
}

interface SessionsDeps extends Pick<Platform, 'config' | 'cursors'> {
  auth: Auth;
  profiles: Profiles;
  Profile: typeof Profile;
  toProfile: typeof toProfile;
}

/** Builds the sessions of the dashboard, which show the account. */
export function createSessionsModule(deps: SessionsDeps): FeatureModule {
  const { auth, config, cursors, profiles, Profile, toProfile } = deps;
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
