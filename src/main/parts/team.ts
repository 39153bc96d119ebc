import type { Accounts } from '../../features/identity/accounts/index.ts';
import type { ApiKeys } from '../../features/identity/api-keys/index.ts';
import type { Auth } from '../../features/identity/auth/index.ts';
import { createTeam, type Team, teamRoutes } from '../../features/identity/team/index.ts';
import type { Mailbox, MailCaps } from '../../features/integration/mail/index.ts';
import type { ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

interface Needs extends BaseContext {
  accounts: Accounts;
  apiKeys: ApiKeys;
  auth: Auth;
  mailbox: Mailbox;
  mailCaps: MailCaps;
}

export function teamPart(needs: Needs): ModuleWithExports<{ team: Team }> {
  const { accounts, auth, clock, config, cursors } = needs;
  const team = createTeam({
    ...needs,
    registration: auth.registration,
    markVerified: accounts.credentials.markVerified,
    publicUrl: config.PUBLIC_URL,
  });
  return { exports: { team }, module: { routes: () => teamRoutes({ team, cursors, clock }) } };
}
