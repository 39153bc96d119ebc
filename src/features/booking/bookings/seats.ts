import { newId } from '../../../kernel/ids.ts';
import type { Tx } from '../../../platform/db/index.ts';
import type { BookingPorts } from './ports.ts';
import type { OccurrenceRow, ProductRow } from './repository.ts';
import * as repository from './repository.ts';

/** A class at one time. */
export interface ClassTime {
  startsAt: Date;
  endsAt: Date;
  /** The end and the buffer after it. */
  freeAt: Date;
}

/**
 * The seats of classes, in the transaction of what takes or frees them. A class at one time is made by its first seat,
 * and has its time in the calendar for as long as it has any.
 */
export interface ClassSeats {
  /** For somebody who pays now, or is offered the seat. @returns its class; null when there is none left. */
  claim(
    tx: Tx,
    product: Pick<ProductRow, 'id' | 'workspace_id' | 'capacity'>,
    time: ClassTime,
  ): Promise<OccurrenceRow | null>;
  /** A seat that was claimed is free. */
  release(tx: Tx, occurrenceId: string): Promise<void>;
  /** What was claimed is somebody's now. */
  take(tx: Tx, occurrenceId: string): Promise<void>;
  /** Whoever had it does not come. */
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
      // Nobody was promised a seat yet: the class is as the product is by now.
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
