/** Support: tickets of an account, answered by the operator, and reports of public pages. */
import { AppError } from '../../../kernel/errors.ts';
import type { Snapshots } from '../../../kernel/snapshots.ts';
import type { StreamSnapshot, VideoSnapshot } from '../../audience/playback/index.ts';
import type { Accounts } from '../../identity/accounts/index.ts';
import { type Declarations, type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { Mailbox } from '../mail/index.ts';
import { adminSupportRoutes } from './admin.routes.ts';
import { supportCommands, supportRunners } from './commands.ts';
import { supportEvents } from './events.ts';
import { reportPages } from './report.pages.ts';
import { createReports } from './reports.service.ts';
import { supportRoutes } from './routes.ts';
import { createSupport } from './service.ts';

interface SupportDeps extends Pick<Platform, 'caps' | 'clock' | 'config' | 'cursors' | 'db' | 'events'> {
  accounts: Accounts;
  mailbox: Mailbox;
  snapshots: { streams: Snapshots<StreamSnapshot>; videos: Snapshots<VideoSnapshot> };
}

export const supportDeclarations: Declarations = { events: supportEvents, commands: supportCommands };

export function createSupportModule(deps: SupportDeps): FeatureModule {
  const { accounts, snapshots, cursors, config } = deps;
  const support = createSupport(deps);
  const reports = createReports({
    ...deps,
    async exists({ type, id }) {
      if (type === 'CHANNEL') return isThere(accounts.byUsername(id));
      return (await (type === 'VIDEO' ? snapshots.videos : snapshots.streams).get(id)) !== undefined;
    },
  });
  const emailOf = async (accountId: string) => (await accounts.byId(accountId)).email;
  return {
    routes: () => [
      ...supportRoutes({ support, cursors }),
      ...adminSupportRoutes({ support, cursors, emailOf, publicUrl: config.PUBLIC_URL }),
    ],
    pages: ({ assets }) => [reportPages({ reports, assets, counters: { window: deps.caps } })],
    tasks: () => [{ name: 'resolved tickets', everyMs: INTERVALS.hour, run: () => support.closeResolved() }],
    commands: () => supportRunners({ support, accounts }),
  };
}

async function isThere(asked: Promise<unknown>): Promise<boolean> {
  try {
    await asked;
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}
