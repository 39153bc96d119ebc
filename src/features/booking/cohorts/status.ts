import { type AppendEvent, type Events, nextSequence } from '../../../events/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Tx } from '../../../platform/db/index.ts';
import type { CohortStatus } from '../../../platform/db/tables.generated.ts';
import {
  cohortCanceled,
  cohortCompleted,
  cohortFull,
  cohortOpened,
  cohortRescheduled,
  cohortStarted,
} from './events.ts';
import type { CohortRow, CohortStatusInput } from './repository.ts';
import * as repository from './repository.ts';
import { statusOf } from './rules.ts';

/** Transaction and the function that appends events in it. */
export interface TransactionContext {
  tx: Tx;
  append: AppendEvent;
}

/** Seats of a cohort, changed in the transaction of the booking. */
export interface Seats {
  /**
   * Claims a seat for a buyer who pays now or holds an offer.
   *
   * @returns false when none is left or the cohort does not accept members at this time.
   */
  claim(tx: Tx, cohortId: string): Promise<boolean>;
  /** Releases a claimed seat. */
  release(tx: Tx, cohortId: string): Promise<void>;
  /** Converts a claimed seat to a member's. */
  take(work: TransactionContext, cohortId: string): Promise<void>;
  /** Releases the seat of a member who left. */
  leave(work: TransactionContext, cohortId: string): Promise<void>;
}

/** Status changes and seats of cohorts. */
export interface CohortStatusService {
  seats: Seats;
  /** Updates the status of a cohort to match its times and members, and emits the change. */
  settle(work: TransactionContext, id: string): Promise<CohortRow>;
  /** Updates the status of a product's cohorts after its capacity changed. */
  settleAll(work: TransactionContext, productId: string): Promise<void>;
  /** Cancels the cohorts of a product that is deleted and was never booked. */
  cancelAll(work: TransactionContext, productId: string): Promise<void>;
  /** Updates cohorts whose status is due to change. */
  sweep(): Promise<void>;
}

const STATUS_EVENTS = {
  SCHEDULED: null,
  OPEN: cohortOpened,
  FULL: cohortFull,
  RUNNING: cohortStarted,
  COMPLETED: cohortCompleted,
  CANCELED: cohortCanceled,
} as const;
const BATCH = 100;

export function createStates({
  events,
  clock,
}: {
  events: Pick<Events, 'transaction'>;
  clock: Clock;
}): CohortStatusService {
  const settled = async (work: TransactionContext, standing: CohortStatusInput): Promise<CohortRow> => {
    const now = clock.now();
    const status = statusOf(standing, now);
    if (status === standing.status) return standing;
    const row = await repository.updateCohort(work.tx, standing.id, { status, updated_at: now });
    await emitStatus(work, row);
    return row;
  };
  const settle = async (work: TransactionContext, id: string) =>
    settled(work, await repository.lockCohortStatusInput(work.tx, id));
  const move = async (work: TransactionContext, id: string, by: { claimed: number; enrolled: number }) => {
    await repository.adjustSeatCounts(work.tx, id, by);
    await settle(work, id);
  };
  return {
    settle,
    seats: {
      claim: (tx, id) => repository.claimSeat(tx, id, clock.now()),
      release: (tx, id) => repository.adjustSeatCounts(tx, id, { claimed: -1, enrolled: 0 }),
      take: (work, id) => move(work, id, { claimed: -1, enrolled: 1 }),
      leave: (work, id) => move(work, id, { claimed: 0, enrolled: -1 }),
    },
    async settleAll(work, productId) {
      for (const standing of await repository.lockOpenOf(work.tx, productId)) await settled(work, standing);
    },
    async cancelAll(work, productId) {
      for (const { id } of await repository.lockOpenOf(work.tx, productId))
        await cancelCohort(work, id, clock.now());
    },
    async sweep() {
      for (;;) {
        const moved = await events.transaction(async (tx, append) => {
          const due = await repository.lockDue(tx, clock.now(), BATCH);
          for (const standing of due) await settled({ tx, append }, standing);
          return due.length;
        });
        if (moved < BATCH) return;
      }
    },
  };
}

/** Runs under the lock of the row. */
export async function cancelCohort(work: TransactionContext, id: string, now: Date): Promise<void> {
  const change = { status: 'CANCELED', canceled_at: now, updated_at: now } as const;
  await emitStatus(work, await repository.updateCohort(work.tx, id, change));
}

async function dataOf({ tx }: TransactionContext, row: CohortRow) {
  return {
    cohortId: row.id,
    productId: row.product_id,
    enrolledCount: row.enrolled_count,
    capacity: row.capacity,
    sequence: await nextSequence(tx, 'cohort', row.id),
  };
}

/** Emits the event of the current status; SCHEDULED has none. */
async function emitStatus(
  work: TransactionContext,
  row: CohortRow & { status: CohortStatus },
): Promise<void> {
  const definition = STATUS_EVENTS[row.status];
  if (definition !== null) await work.append(definition, row.workspace_id, await dataOf(work, row));
}

/** Emits that the cohort takes place at other times. */
export async function emitRescheduled(work: TransactionContext, row: CohortRow): Promise<void> {
  const times = { startsAt: row.starts_at.toISOString(), endsAt: row.ends_at?.toISOString() ?? null };
  await work.append(cohortRescheduled, row.workspace_id, { ...(await dataOf(work, row)), ...times });
}
