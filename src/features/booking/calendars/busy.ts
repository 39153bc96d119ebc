import type { Db, Tx } from '../../../platform/db/index.ts';
import type { BusyInterval, BusyOwner, Span } from './busy.repository.ts';
import * as repository from './busy.repository.ts';

/**
 * The calendar of a workspace, in which nothing overlaps (docs/concepts/booking-calendars.md#occupied-time). Everything but
 * `busy` runs in the transaction of what takes or frees the time. What is taken or freed and not committed yet is
 * waited for.
 */
export interface Calendar {
  /**
   * For transactions that free a time and take another one, or take several in any order but that of their starts:
   * without it, two of them can wait for each other. Taken after the locks of rows.
   */
  lock(tx: Tx, workspaceId: string): Promise<void>;
  /** @returns false when something overlaps: the transaction goes on, and nothing is taken. */
  take(tx: Tx, time: Span & { workspaceId: string; productId: string; by: BusyOwner }): Promise<boolean>;
  /**
   * Takes another time instead; takes the calendar's lock. Both may overlap.
   *
   * @returns false when something is in the way, or nothing was taken before: everything is as it was then.
   */
  move(tx: Tx, workspaceId: string, by: BusyOwner, to: Span): Promise<boolean>;
  /** The same time, taken by another one. @returns false when the first has none. */
  handOver(tx: Tx, from: BusyOwner, to: BusyOwner): Promise<boolean>;
  /** Does nothing when nothing was taken. */
  free(tx: Tx, by: BusyOwner): Promise<void>;
  /** What overlaps [from, to), in order of its start; what calendars elsewhere say too. */
  busy(db: Db, workspaceId: string, range: { from: Date; to: Date }): Promise<BusyInterval[]>;
  /** The times alone, in no order. */
  taken(
    db: Db,
    workspaceId: string,
    range: { from: Date; to: Date },
  ): Promise<{ fromMs: number; toMs: number }[]>;
}

export const calendar: Calendar = {
  lock: repository.lockCalendar,
  take: (tx, { by, ...time }) => repository.insertBusy(tx, time, by),
  async move(tx, workspaceId, by, to) {
    await repository.lockCalendar(tx, workspaceId);
    const before = await repository.deleteBusy(tx, by);
    if (before === undefined) return false;
    const { productId } = before;
    if (await repository.insertBusy(tx, { ...to, workspaceId, productId }, by)) return true;
    // Nobody can have taken it: they wait for the end of this transaction.
    const isBack = await repository.insertBusy(tx, { ...before, workspaceId }, by);
    if (!isBack) throw new Error('a time that was given up in this transaction is taken');
    return false;
  },
  handOver: repository.reassignBusy,
  async free(tx, by) {
    await repository.deleteBusy(tx, by);
  },
  busy: repository.listBusy,
  taken: repository.listBusyMs,
};
