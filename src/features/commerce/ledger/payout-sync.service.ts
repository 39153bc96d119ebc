import type { AppendEvent } from '../../../events/index.ts';
import { nextSequence } from '../../../events/index.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Tx } from '../../../platform/db/index.ts';
import { payoutFailed, payoutPaid } from './events.ts';
import type { PayoutRow, PayoutStatus } from './payouts.repository.ts';
import * as repository from './payouts.repository.ts';
import type { Movement, Provider } from './rules.ts';

/** Payout as reported by a provider. */
export interface ProviderPayout {
  workspaceId: string;
  provider: Provider;
  /** The provider's ID of the payout. */
  ref: string;
  /** Amount in the smallest unit of the currency. */
  amountCents: number;
  /** ISO 4217, in capital letters. */
  currency: string;
  status: PayoutStatus;
  failureCode: string | null;
  arrivalAt: Date | null;
  /** Creation time at the provider. */
  createdAt: Date;
}

type Record = (tx: Tx, movement: Movement) => Promise<boolean>;

/** Order of the states, which only advance; a bank may still return a payout that was PAID. */
const RANK: { [S in PayoutStatus]: number } = { PENDING: 0, IN_TRANSIT: 1, PAID: 2, FAILED: 3, CANCELED: 3 };

/**
 * Advances a payout to a state, with its ledger entries and event, unless it is in that state or a later one.
 * Its row is locked.
 *
 * @returns the resulting row.
 */
export async function advancePayout(
  tx: Tx,
  append: AppendEvent,
  record: Record,
  row: PayoutRow,
  change: Pick<PayoutRow, 'status' | 'failure_code' | 'arrival_at'>,
  at: Date,
): Promise<PayoutRow> {
  if (RANK[change.status] <= RANK[row.status]) return row;
  const { id, workspace_id: workspaceId } = row;
  const moved = await repository.updatePayout(tx, id, change);
  const { status } = moved;
  if (status === 'PAID' || status === 'FAILED') {
    await append(status === 'PAID' ? payoutPaid : payoutFailed, workspaceId, {
      payoutId: id,
      status,
      failureCode: moved.failure_code,
      sequence: await nextSequence(tx, 'payout', id),
    });
  }
  if (RANK[status] === RANK.FAILED && isBooked(moved)) {
    await record(tx, movementOf(moved, 'PAYOUT_FAILED', at));
  }
  return moved;
}

/**
 * Reports whether the ledger covers the payout: payouts in currencies other than US dollars have no
 * movements.
 */
function isBooked({ currency }: Pick<PayoutRow, 'currency'>): boolean {
  return currency === 'USD';
}

export function movementOf(row: PayoutRow, kind: 'PAYOUT' | 'PAYOUT_FAILED', at: Date): Movement {
  const { id, workspace_id: workspaceId, provider, amount_cents: amountCents } = row;
  return { kind, workspaceId, provider, source: id, amountCents, at };
}

/** Syncs a payout that a provider made by itself. Idempotent. */
export async function syncPayout(
  tx: Tx,
  append: AppendEvent,
  record: Record,
  payout: ProviderPayout,
  now: Date,
): Promise<PayoutRow> {
  const { provider, ref, currency, status, failureCode: failure_code, arrivalAt: arrival_at } = payout;
  const isNew = await repository.insertSyncedPayout(tx, {
    id: newId('pyo'),
    workspace_id: payout.workspaceId,
    provider,
    provider_ref: ref,
    amount_cents: payout.amountCents,
    currency,
    status: 'PENDING',
    failure_code: null,
    arrival_at,
    created_at: payout.createdAt,
  });
  const known = await repository.lockSyncedPayout(tx, provider, ref);
  if (isNew !== null && isBooked(known)) await record(tx, movementOf(known, 'PAYOUT', payout.createdAt));
  const row = known.currency === currency ? known : await correctCurrency(tx, record, known, currency, now);
  return advancePayout(tx, append, record, row, { status, failure_code, arrival_at }, now);
}

/** Corrects the currency of payouts that earlier versions recorded in dollars, by a reversing movement. */
async function correctCurrency(
  tx: Tx,
  record: Record,
  row: PayoutRow,
  currency: string,
  now: Date,
): Promise<PayoutRow> {
  await record(tx, movementOf(row, 'PAYOUT_FAILED', now));
  return repository.updatePayout(tx, row.id, { currency });
}
