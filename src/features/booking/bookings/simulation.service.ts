import type { Static } from 'typebox';
import type { Events } from '../../../events/index.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { AppError, badRequest } from '../../../kernel/errors.ts';
import type { BookingDetails } from './repository.ts';
import type { SimulationIn } from './schemas.ts';
import type { Bookings } from './service.ts';

/** Simulations in test mode of actions by a customer, a creator or time. */
export interface BookingSimulations {
  /**
   * @throws {AppError} NOT_FOUND; CONFLICT unless the booking is CONFIRMED; BAD_REQUEST, field `startsAt`, without one
   * for CUSTOMER_RESCHEDULED.
   */
  simulate(workspaceId: string, id: string, what: Static<typeof SimulationIn>): Promise<BookingDetails>;
}

interface Deps {
  events: Pick<Events, 'transaction'>;
  bookings: Bookings;
}

export function createBookingSimulations({ events, bookings }: Deps): BookingSimulations {
  return {
    async simulate(workspaceId, id, { event, startsAt }) {
      const row = await bookings.get(workspaceId, id);
      if (row.status !== 'CONFIRMED') {
        const message = 'Only events of a CONFIRMED booking can be simulated.';
        throw new AppError('CONFLICT', { message });
      }
      if (event === 'CUSTOMER_CANCELED') return bookings.cancel(workspaceId, id, { by: 'CUSTOMER' });
      if (event === 'CUSTOMER_RESCHEDULED') {
        if (startsAt === undefined) throw badRequest('startsAt', 'startsAt is required.');
        const to = dateFromMs(Temporal.Instant.from(startsAt).epochMilliseconds);
        return bookings.reschedule(workspaceId, id, to);
      }
      await events.transaction(async (tx, append) => {
        const work = { tx, append };
        if (event === 'ENDED') await bookings.end(work, id);
        else await bookings.join(work, id, event === 'CUSTOMER_JOINED' ? 'CUSTOMER' : 'CREATOR');
      });
      return bookings.get(workspaceId, id);
    },
  };
}
