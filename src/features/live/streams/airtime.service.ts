import type { Clock } from '../../../kernel/clock.ts';
import { splitByMinute } from '../../../kernel/minute-buckets.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { UsageEvent, UsageEvents } from '../../insight/usage-events/index.ts';
import type { LiveBroadcast } from './airtime.repository.ts';
import * as repository from './airtime.repository.ts';

const BATCH = 500;

interface Deps {
  db: Db;
  clock: Clock;
  facts: Pick<UsageEvents, 'append'>;
}

/** Duration of broadcasts (docs/decisions/usage.md#time-on-air). */
export interface Airtime {
  /** Records the airtime of live broadcasts until now. */
  run(): Promise<void>;
}

export function createAirtime({ db, clock, facts }: Deps): Airtime {
  return {
    async run() {
      const now = clock.now();
      for (let after = ''; ; ) {
        const sessions = await db.transaction().execute(async (tx) => {
          const rows = await repository.claimLiveBroadcasts(tx, after, BATCH);
          // A gap is counted once the signal has returned or the broadcast ends, because it may have ended
          // before.
          const untilOf = ({ signalEndedAt }: LiveBroadcast) =>
            signalEndedAt !== null && signalEndedAt < now ? signalEndedAt : now;
          await count(
            tx,
            facts,
            rows.map((row) => ({ ...row, until: untilOf(row) })),
          );
          return rows;
        });
        const last = sessions.at(-1);
        if (last === undefined || sessions.length < BATCH) return;
        after = last.id;
      }
    },
  };
}

/** Records the rest of a broadcast, in the transaction that ends it. */
export async function meterRemaining(
  tx: Tx,
  facts: Pick<UsageEvents, 'append'>,
  sessionId: string,
  endedAt: Date,
): Promise<void> {
  const session = await repository.claimSession(tx, sessionId);
  if (session !== undefined) await count(tx, facts, [{ ...session, until: endedAt }]);
}

/** Writes the usage events and the counted position together, under the lock of the session. */
async function count(
  tx: Tx,
  facts: Pick<UsageEvents, 'append'>,
  sessions: readonly (LiveBroadcast & { until: Date })[],
): Promise<void> {
  const due = sessions.filter(({ countedUntil, until }) => countedUntil < until);
  if (due.length === 0) return;
  const pieces = due.flatMap(({ workspaceId, streamId, countedUntil, until }) =>
    splitByMinute(countedUntil, until).map((piece) => ({ ...piece, workspaceId, streamId })),
  );
  const bitrates = await repository.meanBitrates(tx, pieces);
  await facts.append(
    tx,
    pieces.map(
      ({ workspaceId, streamId, from, ms }, index): UsageEvent => ({
        kind: 'LIVE',
        workspaceId,
        subjectId: streamId,
        at: from,
        amount: ms,
        bitrateKbps: bitrates[index] ?? null,
      }),
    ),
  );
  await repository.setMeteredUntil(
    tx,
    due.map(({ id }) => id),
    due.map(({ until }) => until),
  );
}

/** Records the start of a broadcast, in its transaction. */
export function meterStart(
  tx: Tx,
  facts: Pick<UsageEvents, 'append'>,
  { workspaceId, streamId, at }: { workspaceId: string; streamId: string; at: Date },
): Promise<void> {
  return facts.append(tx, [{ kind: 'BROADCAST', workspaceId, subjectId: streamId, at }]);
}
