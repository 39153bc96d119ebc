import type { AppendEvent, Events } from '../../../events/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Payments } from '../../commerce/payments/index.ts';
import type { MailCaps, NewEmail } from '../../integration/mail/index.ts';
import type { ProductRow } from './repository.ts';

/** A transaction, and what it appends. */
export interface TransactionContext {
  tx: Tx;
  append: AppendEvent;
}

/** From the start to the end and the buffer after it, which is excluded. */
interface Span {
  startsAt: Date;
  freeAt: Date;
}

/** Whose a time in the calendar is. */
type TakenBy = { bookingId: string } | { occurrenceId: string };

/** A start that is offered. */
export interface AvailableSlot extends Span {
  endsAt: Date;
}

/** What a booking of a cohort has to know of it. */
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

/** A session of a cohort. */
interface SessionFacts {
  id: string;
  starts_at: Date;
  ends_at: Date;
}

/** Of a product: its cohort, or the time that it begins. */
export interface HeldSpot {
  productId: string;
  cohortId: string | null;
  startsAt: Date | null;
}

/** PUBLISH for who fetches it; REQUEST and CANCEL are what mails carry (RFC 5546, 3.2). */
export type CalendarMethod = 'PUBLISH' | 'REQUEST' | 'CANCEL';

/** What goes into a calendar. */
export interface CalendarEntry {
  /** The same for the whole life of a booking, or of one session in it. */
  uid: string;
  /** Grows with each change. */
  sequence: number;
  isCanceled: boolean;
  startsAt: Date;
  endsAt: Date;
  /** IANA. */
  timezone: string;
  title: string;
  /** Of the way in. */
  location: string;
  /** Where it is canceled or moved. */
  url: string;
  organizer: string;
  createdAt: Date;
  updatedAt: Date;
  attendee: { name: string; email: string };
}

/** What bookings are built on. */
export interface BookingPorts {
  db: Db;
  events: Pick<Events, 'transaction'>;
  clock: Clock;
  log: Pick<Logger, 'warn' | 'error'>;
  payments: Pick<Payments, 'refund' | 'settle' | 'customerFor' | 'purchaseOf'>;
  products: {
    /** @throws {AppError} NOT_FOUND. */
    get(workspaceId: string, id: string): Promise<ProductRow>;
    /** It stays as it is meanwhile; others book it as well. @throws {AppError} NOT_FOUND. */
    hold(tx: Tx, id: string): Promise<ProductRow>;
  };
  cohorts: {
    /** @throws {AppError} NOT_FOUND. */
    get(workspaceId: string, id: string): Promise<CohortDetails>;
    /** In order of time. */
    sessions(db: Db, id: string): Promise<SessionFacts[]>;
    /** Those that are not held, by a change after this one. */
    removedSessions(db: Db, id: string, changeNo: number): Promise<SessionFacts[]>;
    seats: {
      /** @returns false when the cohort is full, or takes nobody. */
      claim(tx: Tx, cohortId: string): Promise<boolean>;
      release(tx: Tx, cohortId: string): Promise<void>;
      /** What was claimed is somebody's now. */
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
     * @param except a booking whose own time does not count.
     * @throws {AppError} CONFLICT, field `startsAt`, when it is taken; BAD_REQUEST, field `startsAt`, when no slot begins
     * then.
     */
    assertOffered(
      db: Db,
      product: ProductRow,
      startsAt: Date,
      except?: { bookingId: string },
    ): Promise<AvailableSlot>;
  };
  /** The zone in which the creator offers time. */
  timezoneOf(db: Db, workspaceId: string): Promise<string>;
  waitlist: {
    /** Is this place kept for the entry? */
    isKept(db: Db, place: HeldSpot, entryId: string): Promise<boolean>;
    /** Gives the place that is kept for the entry up for its booking. @returns false when none is. */
    take(tx: Tx, place: HeldSpot, entryId: string): Promise<boolean>;
  };
  mailbox: { enqueue(tx: Tx, mail: NewEmail): Promise<void> };
  mailCaps: Pick<MailCaps, 'mayMail'>;
  /** An iCalendar object (RFC 5545). */
  calendarFile(file: { method: CalendarMethod; entries: readonly CalendarEntry[] }): string;
}
