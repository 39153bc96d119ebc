import { type EventConsumer, on } from '../../../events/index.ts';
import type { JobQueue } from '../../../jobs/job.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { participantJoined, roomRecordingReady } from '../../rooms/index.ts';
import type { cohortCanceled, cohortCompleted, cohortRescheduled } from '../cohorts/index.ts';
import type { BookingSales } from './booking-sales.service.ts';
import { cohortMovedJob } from './jobs.ts';
import * as members from './members.repository.ts';
import * as repository from './repository.ts';
import type { Bookings } from './service.ts';

interface ConsumedEvents {
  room: { joined: typeof participantJoined; recorded: typeof roomRecordingReady };
  cohort: {
    completed: typeof cohortCompleted;
    canceled: typeof cohortCanceled;
    rescheduled: typeof cohortRescheduled;
  };
}

interface Deps {
  clock: Clock;
  jobs: Pick<JobQueue, 'enqueue'>;
  bookings: Bookings;
  sales: Pick<BookingSales, 'expire'>;
}

/** Consumes events of booking rooms (joins, recordings) and of their cohorts. */
export function createBookingConsumers(
  { clock, jobs, bookings, sales }: Deps,
  { room, cohort }: ConsumedEvents,
): EventConsumer[] {
  return [
    on(cohort.completed, async (tx, { data }, append) => {
      for (const id of await members.listOfCohort(tx, data.cohortId, 'CONFIRMED')) {
        await bookings.end({ tx, append }, id);
      }
    }),
    on(cohort.canceled, async (tx, { data }, append) => {
      for (const id of await members.listOfCohort(tx, data.cohortId, 'CONFIRMED')) {
        await bookings.cancelIn({ tx, append }, id, { by: 'CREATOR' });
      }
      // A payment in progress is refunded.
      for (const id of await members.listOfCohort(tx, data.cohortId, 'PENDING_PAYMENT')) {
        await sales.expire({ tx, append }, id);
      }
    }),
    // A job notifies the members, because there can be many.
    on(cohort.rescheduled, (tx, { data: { cohortId } }) => jobs.enqueue(tx, cohortMovedJob, { cohortId })),
    on(room.joined, async (tx, { data: { roomId, role, identity } }) => {
      const who = role === 'HOST' ? role : { identity };
      await repository.markJoined(tx, roomId, { who, now: clock.now() });
    }),
    on(room.recorded, async (tx, { data: { roomId, videoId } }) => {
      await repository.linkRecording(tx, roomId, { videoId, now: clock.now() });
    }),
  ];
}
