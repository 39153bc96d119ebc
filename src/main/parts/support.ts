import {
  adminSupportRoutes,
  createReports,
  createSupport,
  reportPages,
  supportEvents,
  supportRoutes,
} from '../../features/integration/support/index.ts';
import { AppError } from '../../kernel/errors.ts';
import type { OptionalModule } from '../core.ts';
import { INTERVALS } from '../feature-module.ts';
import { supportCommands, supportRunners } from './support-commands.ts';

export const support: OptionalModule = {
  events: supportEvents,
  commands: supportCommands,
  build(core) {
    const { accounts, snapshots, cursors, config } = core;
    const support = createSupport(core);
    const reports = createReports({
      ...core,
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
      pages: ({ assets }) => [reportPages({ reports, assets, counters: { window: core.caps } })],
      tasks: () => [
        { name: 'resolved tickets', everyMs: INTERVALS.hour, run: () => support.closeResolved() },
      ],
      commands: () => supportRunners({ support, accounts }),
    };
  },
};

async function isThere(asked: Promise<unknown>): Promise<boolean> {
  try {
    await asked;
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}
