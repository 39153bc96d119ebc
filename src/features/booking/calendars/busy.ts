import type { Db, Tx } from '../../../platform/db/index.ts';
import type { BusyInterval, BusyOwner, Span } from './busy.repository.ts';
import * as repository from './busy.repository.ts';

/**
 * Calendar of a workspace, in which nothing overlaps (docs/concepts/booking-calendars.md#occupied-time). All
 * functions but `busy` and `taken` run in the transaction that takes or frees the time. They wait for
 * uncommitted changes of overlapping times.
 */
export interface Calendar {
  /**
   * Locks the calendar, for transactions that free one time and take another, or take several in an order
   * other than by start: without it, two of them can deadlock. Take it after row locks.
   */
  lock(tx: Tx, workspaceId: string): Promise<void>;
  /** Takes a time. @returns false when it overlaps: nothing is taken, and the transaction remains usable. */
  take(tx: Tx, time: Span & { workspaceId: string; productId: string; by: BusyOwner }): Promise<boolean>;
  /**
   * Moves an owner to another time, which may overlap its old one; locks the calendar.
   *
   * @returns false when an interval overlaps, or the owner had none: nothing changes.
   */
  move(tx: Tx, workspaceId: string, by: BusyOwner, to: Span): Promise<boolean>;
  /** Transfers a time to another owner. @returns false when the first one has none. */
  handOver(tx: Tx, from: BusyOwner, to: BusyOwner): Promise<boolean>;
  /** Frees the time of an owner; does nothing when it has none. */
  free(tx: Tx, by: BusyOwner): Promise<void>;
  /** Lists intervals that overlap [from, to), by start, including those of external calendars. */
  busy(db: Db, workspaceId: string, range: { from: Date; to: Date }): Promise<BusyInterval[]>;
  /** Returns only the times, unordered. */
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
    // No other transaction can have taken it: they wait for the end of this one.
    const isBack = await repository.insertBusy(tx, { ...before, workspaceId }, by);
    if (!isBack) throw new Error('a time released in this transaction is taken');
    return false;
  },
  handOver: repository.reassignBusy,
  async free(tx, by) {
    await repository.deleteBusy(tx, by);
  },
  busy: repository.listBusy,
  taken: repository.listBusyMs,
};
