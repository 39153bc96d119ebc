import type { Accounts } from '../../features/identity/accounts/index.ts';
import type { ApiKeys } from '../../features/identity/api-keys/index.ts';
import {
  type Auth,
  authPages,
  authRoutes,
  createAuth,
  credentialRoutes,
  twoFactorRoutes,
} from '../../features/identity/auth/index.ts';
import type { Mailbox, MailCaps } from '../../features/integration/mail/index.ts';
import { INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

interface Needs extends BaseContext {
  accounts: Accounts;
  apiKeys: ApiKeys;
  mailbox: Mailbox;
  mailCaps: MailCaps;
}

export function authPart(needs: Needs): ModuleWithExports<{ auth: Auth }> {
  const { apiKeys, caps, config } = needs;
  const auth = createAuth({
    ...needs,
    onAccountChanged: () => apiKeys.forget(),
    onAccountsChanged: apiKeys.onChanged,
    publicUrl: config.PUBLIC_URL,
    defaultPlan: config.DEFAULT_PLAN,
    registrationMode: config.REGISTRATION,
    termsUrl: config.TERMS_URL ?? null,
  });
  const { addressChange, links, places, registration, sessions, tokens, twoFactor } = auth;
  return {
    exports: { auth },
    module: {
      routes: () => [...authRoutes(auth), ...twoFactorRoutes(auth), ...credentialRoutes(auth)],
      pages: ({ assets }) => [authPages({ links, addressChange, assets, counters: { window: caps } })],
      tasks: () => [
        { name: 'requested links', everyMs: INTERVALS.second, run: () => links.sendRequested() },
        { name: 'signing keys', everyMs: INTERVALS.hour, run: () => tokens.rotateKeys() },
        {
          name: 'sign-in clean-up',
          everyMs: INTERVALS.hour,
          run: async () => {
            const kept = [links, twoFactor, tokens, places, sessions, registration];
            await Promise.all(kept.map((one) => one.cleanUp()));
          },
        },
      ],
    },
  };
}
