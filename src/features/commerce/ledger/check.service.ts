import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import * as repository from './check.repository.ts';
import { findMismatchedRollups, rebuildRollups } from './revenue.repository.ts';
import type { Provider } from './rules.ts';

interface Deps {
  db: Db;
  clock: Clock;
  log: Logger;
}

/** Ledger balances of one workspace with one provider, in cents. */
export interface Balances {
  provider: Provider;
  creator: number;
  fees: number;
  disputed: number;
  paidOut: number;
  /** Provider balance according to the ledger; it must equal the provider's own record. */
  providerHolds: number;
}

/** The operator's look at the books (docs/guides/money.md#reconcile-the-ledger). */
export interface LedgerCheck {
  /** @returns a description of each mismatch; empty when there is none. */
  check(): Promise<string[]>;
  /**
   * Rebuilds the revenue rollups.
   *
   * @returns their number.
   */
  rebuild(): Promise<number>;
  balances(workspaceId: string): Promise<Balances[]>;
  /** Checks the rollups of today and yesterday, and logs mismatches. */
  watch(): Promise<void>;
}

export function createLedgerCheck({ db, clock, log }: Deps): LedgerCheck {
  return {
    async check() {
      const unbalanced = await repository.findUnbalanced(db);
      const disagreements = await repository.findMismatches(db);
      const payouts = await repository.findMismatchedPayouts(db);
      const sums = await findMismatchedRollups(db, dateFromMs(0));
      const holdings = await repository.findMismatchedBalances(db);
      return [
        ...unbalanced.map((id) => `the entries of ${id} do not sum to zero`),
        ...disagreements.map(
          ({ source, kind, bookedCents, paidCents }) =>
            `${kind} of ${source}: ${cents(bookedCents)} in the ledger, ${cents(paidCents)} in payments`,
        ),
        ...payouts.map((id) => `payout ${id} does not match the ledger`),
        ...sums.map((id) => `the totals of ${id} do not match its entries: run "marquee money rebuild"`),
        ...holdings.map(
          ({ workspaceId, bookedCents, heldCents }) =>
            `the sandbox holds ${cents(heldCents)} for ${workspaceId}, the ledger has ${cents(bookedCents)}`,
        ),
      ];
    },
    rebuild: () => db.transaction().execute(rebuildRollups),
    async balances(workspaceId) {
      const rows = await repository.readBalances(db, workspaceId);
      const providers = [...new Set(rows.map(({ provider }) => provider))];
      return providers.map((provider) => {
        const of = (kind: string) =>
          rows.find((row) => row.provider === provider && row.kind === kind)?.cents ?? 0;
        const [creator, fees] = [of('CREATOR'), of('FEES')];
        return {
          provider,
          creator,
          fees,
          disputed: of('DISPUTED'),
          paidOut: of('PAID_OUT'),
          providerHolds: creator + fees,
        };
      });
    },
    async watch() {
      const yesterday = dateFromMs((Math.floor(clock.ms() / DAY_MS) - 1) * DAY_MS);
      const workspaces = await findMismatchedRollups(db, yesterday);
      if (workspaces.length > 0) {
        log.error({ workspaces }, 'revenue totals do not match the ledger: run "marquee money rebuild"');
      }
    },
  };
}

function cents(amount: number | null): string {
  return amount === null ? 'nothing' : `${amount} cents`;
}
