import type { AppendEvent } from '../../../events/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Tx } from '../../../platform/db/index.ts';
import { type ProviderPayout, syncPayout } from './payout-sync.service.ts';
import type { PayoutRow } from './payouts.repository.ts';
import * as repository from './repository.ts';
import { type Movement, postingsOf, revenueOf } from './rules.ts';

/** Ledger of all workspaces: immutable double entries. */
export interface Ledger {
  /**
   * Writes a movement and adds it to the sums of revenue, in the caller's transaction. Locks nothing that others wait
   * for but the sums, so it comes last.
   *
   * @returns false when this movement of this source was written before: nothing is written then.
   * @throws {RangeError} for an amount that is no whole number of cents, or a fee above its payment.
   */
  record(tx: Tx, movement: Movement): Promise<boolean>;
  /**
   * Syncs a payout that a provider made by itself, with its ledger entries and event. Known and outdated
   * states are ignored.
   */
  mirrorPayout(tx: Tx, append: AppendEvent, payout: ProviderPayout): Promise<PayoutRow>;
}

export function createLedger({ clock }: { clock: Clock }): Ledger {
  return {
    record,
    mirrorPayout: (tx, append, payout) => syncPayout(tx, append, record, payout, clock.now()),
  };
}

async function record(tx: Tx, movement: Movement): Promise<boolean> {
  const postings = postingsOf(movement);
  const id = await repository.insertTransaction(tx, movement);
  if (id === null) return false;
  await repository.insertEntries(tx, id, movement, postings);
  const revenue = revenueOf(movement);
  if (revenue !== null) {
    await repository.addRevenue(tx, movement.workspaceId, movement.at, revenue.sale, revenue.sums);
  }
  return true;
}
