import {
  createLedgerCheck,
  createPayouts,
  createRevenue,
  type NamesOf,
  revenueRoutes,
} from '../../features/commerce/ledger/index.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Core, OptionalModule } from '../core.ts';
import { INTERVALS } from '../feature-module.ts';
import { moneyCommands, moneyRunners } from './money-commands.ts';

/** Builds the reports on the ledger, the payouts to creators, and the operator's view of both. */
export const revenue: OptionalModule = {
  commands: moneyCommands,
  build(core) {
    const books = createLedgerCheck(core);
    const payouts = createPayouts({ ...core, startElsewhere: core.payments.payouts.start });
    return {
      routes: () =>
        revenueRoutes({
          revenue: createRevenue({ ...core, names: namesIn(core) }),
          payouts,
          cursors: core.cursors,
        }),
      tasks: () => [
        { name: 'payouts', everyMs: INTERVALS.hour, run: () => payouts.run() },
        { name: 'sums of revenue', everyMs: INTERVALS.hour, run: () => books.watch() },
      ],
      commands: () => moneyRunners({ books, accounts: core.accounts, db: core.db }),
    };
  },
};

/** Returns the lookups of names of sold items. */
export function namesIn({ videos, tiers }: Core) {
  const unknown: NamesOf = async () => new Map();
  return {
    VIDEO: namesBy(async (workspaceId, id) => (await videos.get(workspaceId, id)).title),
    SUBSCRIPTION: namesBy(async (workspaceId, id) => (await tiers.get(workspaceId, id)).name),
    BOOKING: unknown,
  };
}

/** Deleted items have no name. */
function namesBy(nameOf: (workspaceId: string, id: string) => Promise<string>): NamesOf {
  const find = async (workspaceId: string, id: string): Promise<[string, string][]> => {
    try {
      return [[id, await nameOf(workspaceId, id)]];
    } catch (error) {
      if (error instanceof AppError && error.code === 'NOT_FOUND') return [];
      throw error;
    }
  };
  return async (workspaceId, ids) =>
    new Map((await Promise.all(ids.map((id) => find(workspaceId, id)))).flat());
}
