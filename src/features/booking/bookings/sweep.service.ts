import { dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../../kernel/durations.ts';
import { emitReminder } from './booking-events.ts';
import { remindMembers } from './members.service.ts';
import type { TransactionContext } from './ports.ts';
import * as repository from './repository.ts';
import { REMINDER_MIN } from './rules.ts';
import type { BookingDeps, Bookings } from './service.ts';

/** Periodic changes of bookings; the worker calls it. */
export interface BookingSweep {
  /** Reminds customers, completes ended bookings, and cancels those of suspended creators. */
  run(): Promise<void>;
}

const BATCH = 100;
/** Suspension after which the bookings of an account are canceled and refunded. */
const SUSPENSION_MS = 7 * DAY_MS;

export function createBookingSweep(
  deps: Pick<BookingDeps, 'db' | 'events' | 'clock' | 'log' | 'letters'> & { bookings: Bookings },
): BookingSweep {
  const { db, events, clock, bookings, letters, log } = deps;
  const each = async (
    ids: readonly string[],
    act: (work: TransactionContext, id: string) => Promise<unknown>,
  ) => {
    for (const id of ids) {
      try {
        await events.transaction((tx, append) => act({ tx, append }, id));
      } catch (error) {
        // One failing booking does not block the others.
        log.error({ err: error, bookingId: id }, 'a booking could not be updated; will retry');
      }
    }
  };
  const remind = async (work: TransactionContext, id: string) => {
    const before = await repository.lockBooking(work.tx, id);
    if (before?.status !== 'CONFIRMED' || before.reminded_at !== null || before.starts_at === null) return;
    const row = await repository.updateBooking(work.tx, id, { reminded_at: clock.now() });
    await emitReminder(work, row, before.starts_at);
    await letters.reminder(work.tx, row);
  };
  return {
    async run() {
      const now = clock.now();
      const soon = dateFromMs(now.getTime() + REMINDER_MIN * MINUTE_MS);
      await each(await repository.listDueReminders(db, { now, soon }, BATCH), remind);
      await remindMembers(deps);
      await each(await repository.listFinished(db, now, BATCH), bookings.end);
      const suspendedBefore = dateFromMs(now.getTime() - SUSPENSION_MS);
      const stranded = await repository.listOfSuspendedCreators(db, { now, suspendedBefore }, BATCH);
      await each(stranded, (work, id) =>
        bookings.cancelIn(work, id, { by: 'SYSTEM', reason: 'The creator cannot host it.' }),
      );
    },
  };
}
