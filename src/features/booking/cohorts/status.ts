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

/** A transaction, and what it appends. */
export interface TransactionContext {
  tx: Tx;
  append: AppendEvent;
}

/** The seats of a cohort, in the transaction of what takes or frees them. */
export interface Seats {
  /**
   * Keeps a seat for somebody who pays just now, or has an offer.
   *
   * @returns false when none is left, or the cohort takes nobody at this time.
   */
  claim(tx: Tx, cohortId: string): Promise<boolean>;
  /** What was claimed is nobody's. */
  release(tx: Tx, cohortId: string): Promise<void>;
  /** What was claimed is a member's. */
  take(work: TransactionContext, cohortId: string): Promise<void>;
  /** A member has left. */
  leave(work: TransactionContext, cohortId: string): Promise<void>;
}

/** What state cohorts are in. */
export interface CohortStatusService {
  seats: Seats;
  /** Brings a cohort into the state that its times and members give it, and tells of a new one. */
  settle(work: TransactionContext, id: string): Promise<CohortRow>;
  /** After the seats of a product were changed. */
  settleAll(work: TransactionContext, productId: string): Promise<void>;
  /** With a product that goes, and that nobody has ever booked. */
  cancelAll(work: TransactionContext, productId: string): Promise<void>;
  /** Goes on with those whose time has come. */
  sweep(): Promise<void>;
}

const TOLD = {
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
    await tell(work, row);
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

/** Under its lock. */
export async function cancelCohort(work: TransactionContext, id: string, now: Date): Promise<void> {
  const change = { status: 'CANCELED', canceled_at: now, updated_at: now } as const;
  await tell(work, await repository.updateCohort(work.tx, id, change));
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

/** Tells what state a cohort is in now; nobody is told that one is scheduled. */
async function tell(work: TransactionContext, row: CohortRow & { status: CohortStatus }): Promise<void> {
  const definition = TOLD[row.status];
  if (definition !== null) await work.append(definition, row.workspace_id, await dataOf(work, row));
}

/** Tells that it takes place at other times. */
export async function emitRescheduled(work: TransactionContext, row: CohortRow): Promise<void> {
  const times = { startsAt: row.starts_at.toISOString(), endsAt: row.ends_at?.toISOString() ?? null };
  await work.append(cohortRescheduled, row.workspace_id, { ...(await dataOf(work, row)), ...times });
}
