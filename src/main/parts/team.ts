import type { Accounts } from '../../features/accounts/index.ts';
import type { ApiKeys } from '../../features/api-keys/index.ts';
import type { Auth } from '../../features/auth/index.ts';
import type { Mailbox, MailCaps } from '../../features/mail/index.ts';
import { createTeam, type Team, teamRoutes } from '../../features/team/index.ts';
import type { Built } from '../part.ts';
import type { Base } from '../wiring.ts';

interface Needs extends Base {
  accounts: Accounts;
  apiKeys: ApiKeys;
  auth: Auth;
  mailbox: Mailbox;
  mailCaps: MailCaps;
}

export function teamPart(needs: Needs): Built<{ team: Team }> {
  const { accounts, auth, clock, config, cursors } = needs;
  const team = createTeam({
    ...needs,
    registration: auth.registration,
    markVerified: accounts.credentials.markVerified,
    publicUrl: config.PUBLIC_URL,
  });
  return { gives: { team }, part: { routes: () => teamRoutes({ team, cursors, clock }) } };
}
