import type { Clock } from '../../kernel/clock.ts';
import { splitByMinute } from '../../kernel/minute-buckets.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import type { UsageEvent, UsageEvents } from '../insight/usage-events/index.ts';
import * as repository from './attendance.repository.ts';
import type { ParticipantRow } from './participants.repository.ts';

const BATCH = 1000;

interface Deps {
  db: Db;
  clock: Clock;
  facts: Pick<UsageEvents, 'append'>;
}

/** Time that people spend in rooms (docs/decisions/usage.md#time-in-rooms). */
export interface Attendance {
  /** Counts the time of present participants until now. */
  run(): Promise<void>;
}

export function createAttendance({ db, clock, facts }: Deps): Attendance {
  return {
    async run() {
      const now = clock.now();
      for (let after = ''; ; ) {
        const people = await db.transaction().execute(async (tx) => {
          const rows = await repository.claimAttendance(tx, after, BATCH);
          const due = rows.filter(({ countedUntil }) => countedUntil < now);
          await facts.append(
            tx,
            due.flatMap(({ workspaceId, countedUntil }) => timeOf(workspaceId, countedUntil, now)),
          );
          const ids = due.map(({ id }) => id);
          if (ids.length > 0) await repository.setCounted(tx, ids, now);
          return rows;
        });
        const last = people.at(-1);
        if (last === undefined || people.length < BATCH) return;
        after = last.id;
      }
    },
  };
}

/** Records the rest of a stay, in the transaction that ends it. @param left the updated row. */
export async function recordAttendance(
  { tx, facts, now }: { tx: Tx; facts: Pick<UsageEvents, 'append'>; now: Date },
  workspaceId: string,
  left: ParticipantRow,
): Promise<void> {
  const from = left.metered_until ?? left.joined_at;
  if (from === null || left.bridge_id !== null) return;
  await facts.append(tx, timeOf(workspaceId, from, now));
}

function timeOf(workspaceId: string, from: Date, to: Date): UsageEvent[] {
  return splitByMinute(from, to).map((piece) => ({
    kind: 'ROOM',
    workspaceId,
    at: piece.from,
    amount: piece.ms,
  }));
}
