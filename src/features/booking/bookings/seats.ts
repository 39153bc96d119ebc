import { newId } from '../../../kernel/ids.ts';
import type { Tx } from '../../../platform/db/index.ts';
import type { BookingPorts } from './ports.ts';
import type { OccurrenceRow, ProductRow } from './repository.ts';
import * as repository from './repository.ts';

/** Time of a class. */
export interface ClassTime {
  startsAt: Date;
  endsAt: Date;
  /** End of the buffer. */
  freeAt: Date;
}

/**
 * Seats of classes, changed in the transaction of the booking. The first seat of a class at one time creates
 * the occurrence, which occupies the calendar while it has any.
 */
export interface ClassSeats {
  /**
   * Claims a seat for a buyer who pays now or is offered the seat. @returns its class; null when none is
   * left.
   */
  claim(
    tx: Tx,
    product: Pick<ProductRow, 'id' | 'workspace_id' | 'capacity'>,
    time: ClassTime,
  ): Promise<OccurrenceRow | null>;
  /** Releases a claimed seat. */
  release(tx: Tx, occurrenceId: string): Promise<void>;
  /** Converts a claimed seat to a booked one. */
  take(tx: Tx, occurrenceId: string): Promise<void>;
  /** Releases the booked seat of a customer who canceled. */
  leave(tx: Tx, occurrenceId: string): Promise<void>;
}

export function createClassSeats({ calendar, clock }: Pick<BookingPorts, 'calendar' | 'clock'>): ClassSeats {
  const lessen = async (tx: Tx, id: string, by: { claimed: number; booked: number }) => {
    const row = await repository.adjustSeatCounts(tx, id, by);
    if (row.reserved_count + row.booked_count === 0) await calendar.free(tx, { occurrenceId: id });
  };
  return {
    async claim(tx, product, { startsAt, endsAt, freeAt }) {
      const row = await repository.lockOccurrence(tx, product, {
        id: newId('occ'),
        startsAt,
        endsAt,
        now: clock.now(),
      });
      const isEmpty = row.reserved_count + row.booked_count === 0;
      // No seat is taken yet: the class follows the current product.
      const capacity = isEmpty ? product.capacity : row.capacity;
      if (row.reserved_count + row.booked_count >= capacity) return null;
      if (isEmpty) {
        const by = { occurrenceId: row.id };
        const time = { workspaceId: product.workspace_id, productId: product.id, startsAt, freeAt, by };
        if (!(await calendar.take(tx, time))) return null;
      }
      return repository.claimSeat(tx, row.id, { capacity, endsAt });
    },
    release: (tx, id) => lessen(tx, id, { claimed: -1, booked: 0 }),
    async take(tx, id) {
      await repository.adjustSeatCounts(tx, id, { claimed: -1, booked: 1 });
    },
    leave: (tx, id) => lessen(tx, id, { claimed: 0, booked: -1 }),
  };
}
