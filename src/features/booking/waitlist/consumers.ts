import type { Static } from 'typebox';
import { type EventConsumer, type EventHandler, on } from '../../../events/index.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import type { BookingEvents } from '../bookings/index.ts';
import { findBooker } from './repository.ts';
import type { Waitlist } from './service.ts';

interface Deps {
  waitlist: Waitlist;
  booking: BookingEvents;
}

type BookingEventData = Static<BookingEvents['confirmed']['data']>;

/** Consumes booking events for the waitlist, in the transactions that emit them. */
export function createWaitlistConsumers({ waitlist: { offers }, booking }: Deps): EventConsumer[] {
  const freed: EventHandler<BookingEvents['confirmed']['data']> = (tx, { workspaceId, data }, append) =>
    offers.freed({ tx, append }, workspaceId, data.productId, placeOf(data));
  return [
    on(booking.canceled, freed),
    on(booking.expired, freed),
    on(booking.rescheduled, (tx, { workspaceId, data }, append) =>
      offers.freed({ tx, append }, workspaceId, data.productId, {
        cohortId: null,
        startsAt: instant(data.from),
      }),
    ),
    on(booking.confirmed, async (tx, { workspaceId, data }, append) => {
      const { bookingId, productId } = data;
      const booker = await findBooker(tx, bookingId);
      await offers.converted(
        { tx, append },
        { bookingId, workspaceId, productId, ...booker, ...placeOf(data) },
      );
    }),
  ];
}

function placeOf({ cohortId, startsAt }: Pick<BookingEventData, 'cohortId' | 'startsAt'>) {
  return { cohortId, startsAt: startsAt === null ? null : instant(startsAt) };
}

function instant(text: string): Date {
  return dateFromMs(Temporal.Instant.from(text).epochMilliseconds);
}
