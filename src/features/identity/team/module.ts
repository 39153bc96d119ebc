import type { Mailbox, MailCaps } from '../../integration/mail/index.ts';
import type { Declarations, FeatureModule } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { Accounts } from '../accounts/index.ts';
import type { ApiKeys } from '../api-keys/index.ts';
import type { Auth } from '../auth/index.ts';
import { teamEvents } from './events.ts';
import { teamRoutes } from './routes.ts';
import { createTeam, type Team } from './service.ts';

export const teamDeclarations: Declarations = { events: teamEvents };

interface TeamDeps extends Pick<Platform, 'clock' | 'config' | 'cursors' | 'db' | 'events'> {
  accounts: Accounts;
  apiKeys: ApiKeys;
  auth: Auth;
  mailCaps: MailCaps;
  mailbox: Mailbox;
}

export function createTeamModule(deps: TeamDeps): FeatureModule & { team: Team } {
  const { accounts, auth, clock, config, cursors } = deps;
  const team = createTeam({
    ...deps,
    registration: auth.registration,
    markVerified: accounts.credentials.markVerified,
    publicUrl: config.PUBLIC_URL,
  });
  return { team, routes: () => teamRoutes({ team, cursors, clock }) };
}
