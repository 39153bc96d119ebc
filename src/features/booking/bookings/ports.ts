import type { AppendEvent, Events } from '../../../events/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Payments } from '../../commerce/payments/index.ts';
import type { MailCaps, NewEmail } from '../../integration/mail/index.ts';
import type { ProductRow } from './repository.ts';

/** Transaction and the function that appends events in it. */
export interface TransactionContext {
  tx: Tx;
  append: AppendEvent;
}

/** Half-open range from the start to the end of the buffer. */
interface Span {
  startsAt: Date;
  freeAt: Date;
}

/** Owner of a time in the calendar. */
type TakenBy = { bookingId: string } | { occurrenceId: string };

/** Slot that is offered. */
export interface AvailableSlot extends Span {
  endsAt: Date;
}

/** Cohort data that a booking needs. */
export interface CohortDetails {
  id: string;
  product_id: string;
  title: string | null;
  starts_at: Date;
  ends_at: Date | null;
  timezone: string;
  status: string;
  enrollment_closes_at: Date | null;
}

/** Session of a cohort. */
interface SessionFacts {
  id: string;
  starts_at: Date;
  ends_at: Date;
}

/** Spot of a product: a cohort, or a start time. */
export interface HeldSpot {
  productId: string;
  cohortId: string | null;
  startsAt: Date | null;
}

/** iCalendar method: PUBLISH for downloads, REQUEST and CANCEL for emails (RFC 5546, 3.2). */
export type CalendarMethod = 'PUBLISH' | 'REQUEST' | 'CANCEL';

/** Entry of a calendar file. */
export interface CalendarEntry {
  /** Identifier that never changes for a booking, or for one of its sessions. */
  uid: string;
  /** Increases with each change. */
  sequence: number;
  isCanceled: boolean;
  startsAt: Date;
  endsAt: Date;
  /** IANA zone. */
  timezone: string;
  title: string;
  /** URL to join the room. */
  location: string;
  /** URL to cancel or move the booking. */
  url: string;
  organizer: string;
  createdAt: Date;
  updatedAt: Date;
  attendee: { name: string; email: string };
}

/** Dependencies of bookings. */
export interface BookingPorts {
  db: Db;
  events: Pick<Events, 'transaction'>;
  clock: Clock;
  log: Pick<Logger, 'warn' | 'error'>;
  payments: Pick<Payments, 'refund' | 'settle' | 'customerFor' | 'purchaseOf'>;
  products: {
    /** @throws {AppError} NOT_FOUND. */
    get(workspaceId: string, id: string): Promise<ProductRow>;
    /**
     * Locks the product for share: it cannot change until the transaction ends, and other bookings may lock
     * it too. @throws {AppError} NOT_FOUND.
     */
    hold(tx: Tx, id: string): Promise<ProductRow>;
  };
  cohorts: {
    /** @throws {AppError} NOT_FOUND. */
    get(workspaceId: string, id: string): Promise<CohortDetails>;
    /** Lists sessions by start time. */
    sessions(db: Db, id: string): Promise<SessionFacts[]>;
    /** Lists sessions that were removed after this change. */
    removedSessions(db: Db, id: string, changeNo: number): Promise<SessionFacts[]>;
    seats: {
      /** Claims a seat. @returns false when the cohort is full or does not accept members. */
      claim(tx: Tx, cohortId: string): Promise<boolean>;
      release(tx: Tx, cohortId: string): Promise<void>;
      /** Converts a claimed seat to a booked one. */
      take(work: TransactionContext, cohortId: string): Promise<void>;
      leave(work: TransactionContext, cohortId: string): Promise<void>;
    };
  };
  calendar: {
    lock(tx: Tx, workspaceId: string): Promise<void>;
    take(tx: Tx, time: Span & { workspaceId: string; productId: string; by: TakenBy }): Promise<boolean>;
    move(tx: Tx, workspaceId: string, by: TakenBy, to: Span): Promise<boolean>;
    free(tx: Tx, by: TakenBy): Promise<void>;
  };
  slots: {
    /**
     * @param except a booking whose own time is ignored.
     * @throws {AppError} CONFLICT, field `startsAt`, when it is taken; BAD_REQUEST, field `startsAt`, when no
     *   slot begins then.
     */
    assertOffered(
      db: Db,
      product: ProductRow,
      startsAt: Date,
      except?: { bookingId: string },
    ): Promise<AvailableSlot>;
  };
  /** Returns the zone in which the creator offers time. */
  timezoneOf(db: Db, workspaceId: string): Promise<string>;
  waitlist: {
    /** Reports whether this spot is held for the entry. */
    isKept(db: Db, place: HeldSpot, entryId: string): Promise<boolean>;
    /** Releases the spot that is held for the entry to its booking. @returns false when none is held. */
    take(tx: Tx, place: HeldSpot, entryId: string): Promise<boolean>;
  };
  mailbox: { enqueue(tx: Tx, mail: NewEmail): Promise<void> };
  mailCaps: Pick<MailCaps, 'mayMail'>;
  /** Returns an iCalendar object (RFC 5545). */
  calendarFile(file: { method: CalendarMethod; entries: readonly CalendarEntry[] }): string;
}
