import { sql } from 'kysely';
import { dateFromMs } from '../../../kernel/clock.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { Range } from './rules.ts';

/** Class at one time with at least one booked seat. */
export interface Occurrence {
  startsAt: Date;
  endsAt: Date;
  capacity: number;
  booked: number;
  claimed: number;
}

/** Lists classes of a product that begin in a range, by start. */
export function listOccurrences(db: Db, productId: string, { fromMs, toMs }: Range): Promise<Occurrence[]> {
  return (
    db
      .selectFrom('class_occurrence')
      .select([
        'starts_at as startsAt',
        'ends_at as endsAt',
        'capacity',
        'booked_count as booked',
        'reserved_count as claimed',
      ])
      .where('product_id', '=', productId)
      .where('starts_at', '>=', dateFromMs(fromMs))
      .where('starts_at', '<', dateFromMs(toMs))
      // An occurrence without any seat takes no time in the calendar.
      .where(sql<boolean>`booked_count + reserved_count > 0`)
      .orderBy('starts_at')
      .execute()
  );
}
