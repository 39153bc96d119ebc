import { AppError } from '../../../kernel/errors.ts';
import type { Accounts } from '../../identity/accounts/index.ts';
import { type Declarations, type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { Videos } from '../../video/videos/index.ts';
import type { Payments } from '../payments/index.ts';
import type { Tiers } from '../tiers/index.ts';
import { createLedgerCheck } from './check.service.ts';
import { moneyCommands, moneyRunners } from './commands.ts';
import { payoutEvents } from './events.ts';
import { createPayouts } from './payouts.service.ts';
import { createRevenue, type NamesOf, type Revenue } from './revenue.service.ts';
import { revenueRoutes } from './routes.ts';
import { createLedger, type Ledger } from './service.ts';

export const ledgerDeclarations: Declarations = { events: payoutEvents };

type LedgerDeps = Pick<Platform, 'clock'>;

/** Builds the ledger, to which everything that moves money writes. */
export function createLedgerModule(deps: LedgerDeps): FeatureModule & { ledger: Ledger } {
  return { ledger: createLedger(deps) };
}

interface RevenueDeps extends Pick<Platform, 'clock' | 'cursors' | 'db' | 'events' | 'log'> {
  accounts: Accounts;
  ledger: Ledger;
  payments: Payments;
  tiers: Tiers;
  videos: Videos;
}

export const revenueDeclarations: Declarations = { commands: moneyCommands };

/** Builds the reports on the ledger, the payouts to creators, and the operator's view of both. */
export function createRevenueModule(deps: RevenueDeps): FeatureModule & { revenue: Revenue } {
  const books = createLedgerCheck(deps);
  const payouts = createPayouts({ ...deps, startElsewhere: deps.payments.payouts.start });
  const revenue = createRevenue({ ...deps, names: namesIn(deps) });
  return {
    revenue,
    routes: () => revenueRoutes({ revenue, payouts, cursors: deps.cursors }),
    tasks: () => [
      { name: 'payouts', everyMs: INTERVALS.hour, run: () => payouts.run() },
      { name: 'ledger check', everyMs: INTERVALS.hour, run: () => books.watch() },
    ],
    commands: () => moneyRunners({ books, accounts: deps.accounts, db: deps.db }),
  };
}

/** Returns the lookups of names of sold items. */
function namesIn({ videos, tiers }: RevenueDeps) {
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
