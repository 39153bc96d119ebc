import type { JobWorker } from '../../../jobs/job.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { MINUTE_MS } from '../../../kernel/durations.ts';
import type { Tx } from '../../../platform/db/index.ts';
import { emitReminder } from './booking-events.ts';
import type { BookingEmails } from './emails.ts';
import { cohortMovedJob } from './jobs.ts';
import * as members from './members.repository.ts';
import type { BookingPorts, TransactionContext } from './ports.ts';
import * as repository from './repository.ts';
import { REMINDER_MIN } from './rules.ts';

type Deps = Pick<BookingPorts, 'db' | 'events' | 'clock' | 'log'> & { letters: BookingEmails };

const BATCH = 100;

/** Returns the job that notifies the members of a cohort about new times, each member once per change. */
export function createCohortNotifier(deps: Deps): JobWorker<typeof cohortMovedJob.payload> {
  const { db } = deps;
  return {
    job: cohortMovedJob,
    concurrency: 1,
    async run({ payload: { cohortId }, signal }) {
      const failed = await eachMember(
        { ...deps, signal },
        (after) => members.listMembersToNotify(db, cohortId, after, BATCH),
        (id) => db.transaction().execute((tx) => notifyMoved(deps, tx, id)),
      );
      if (failed > 0) throw new Error(`${failed} members of ${cohortId} are not notified yet`);
    },
  };
}

/** Reminds cohort members of sessions that begin within the hour, each member once per time of a session. */
export async function remindMembers(deps: Deps): Promise<void> {
  const { db, events, clock } = deps;
  const now = clock.now();
  const soon = dateFromMs(now.getTime() + REMINDER_MIN * MINUTE_MS);
  for (const session of await members.listUpcomingSessions(db, { now, soon, noticeMin: REMINDER_MIN })) {
    await eachMember(
      deps,
      (after) => members.listUnremindedMembers(db, session, after, BATCH),
      (id) => events.transaction((tx, append) => remind(deps, { tx, append }, { id, session })),
    );
  }
}

/**
 * Runs a function for each member; a failing one does not block the others. @returns the number of members.
 */
async function eachMember(
  { log, signal }: Pick<Deps, 'log'> & { signal?: AbortSignal },
  list: (after: string) => Promise<string[]>,
  act: (id: string) => Promise<void>,
): Promise<number> {
  let failed = 0;
  for (let ids = await list(''); ids.length > 0; ids = await list(ids.at(-1) ?? '')) {
    for (const id of ids) {
      signal?.throwIfAborted();
      try {
        await act(id);
      } catch (error) {
        failed += 1;
        log.error({ err: error, bookingId: id }, 'a member of a cohort could not be notified; will retry');
      }
    }
  }
  return failed;
}

async function notifyMoved({ clock, letters }: Deps, tx: Tx, id: string): Promise<void> {
  const before = await repository.lockBooking(tx, id);
  if (before?.status !== 'CONFIRMED' || before.cohort_id === null) return;
  const { changeNo, startsAt } = await members.changeOf(tx, before.cohort_id);
  if (before.cohort_revision >= changeNo) return;
  const first = before.first_starts_at;
  const row = await repository.updateBooking(tx, id, {
    cohort_revision: changeNo,
    ics_sequence: before.ics_sequence + 1,
    first_starts_at: first !== null && first < startsAt ? first : startsAt,
    updated_at: clock.now(),
  });
  await letters.moved(tx, { ...row, cohort_revision: before.cohort_revision });
}

async function remind(
  { letters }: Deps,
  work: TransactionContext,
  { id, session }: { id: string; session: members.UpcomingSession },
): Promise<void> {
  const { tx } = work;
  const { starts_at, ends_at } = session;
  const before = await repository.lockBooking(tx, id);
  const wasReminded = (before?.reminded_until?.getTime() ?? 0) >= starts_at.getTime();
  if (before?.status !== 'CONFIRMED' || wasReminded || !(await members.isHeld(tx, session))) return;
  const row = await repository.updateBooking(tx, id, { reminded_until: starts_at });
  await emitReminder(work, row, starts_at);
  await letters.reminder(tx, { ...row, starts_at, ends_at });
}
