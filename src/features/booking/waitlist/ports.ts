import type { AppendEvent, Events } from '../../../events/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { NewEmail } from '../../integration/mail/index.ts';
import type { Calendar, Span } from '../calendars/index.ts';
import type { ProductRow } from '../products/index.ts';

/** Transaction and the function that appends events in it. */
export interface TransactionContext {
  tx: Tx;
  append: AppendEvent;
}

/** Slot that is offered. */
interface OfferedSlot extends Span {
  endsAt: Date;
}

/** Cohort data that a waitlist entry needs. */
export interface CohortFacts {
  id: string;
  product_id: string;
  title: string | null;
  starts_at: Date;
  timezone: string;
  status: string;
  capacity: number | null;
  enrolled_count: number;
  reserved_count: number;
  enrollment_closes_at: Date | null;
}

/** Dependencies of the waitlist. */
export interface WaitlistPorts {
  db: Db;
  events: Pick<Events, 'transaction'>;
  clock: Clock;
  log: Pick<Logger, 'error'>;
  secrets: Pick<Secrets, 'sign' | 'verify'>;
  products: {
    find(db: Db, workspaceId: string, id: string): Promise<ProductRow | undefined>;
    /** @throws {AppError} NOT_FOUND. */
    lock(tx: Tx, id: string): Promise<ProductRow>;
  };
  cohorts: {
    find(db: Db, id: string): Promise<CohortFacts | undefined>;
    seats: {
      /** Claims a seat. @returns false when the cohort is full or does not accept members. */
      claim(tx: Tx, cohortId: string): Promise<boolean>;
      release(tx: Tx, cohortId: string): Promise<void>;
    };
  };
  classSeats: {
    /** @returns its class; null when none is left. */
    claim(
      tx: Tx,
      product: ProductRow,
      time: OfferedSlot & { startsAt: Date },
    ): Promise<{ id: string } | null>;
    release(tx: Tx, occurrenceId: string): Promise<void>;
  };
  calendar: Pick<Calendar, 'take' | 'free'>;
  slots: {
    /** @throws {AppError} CONFLICT when it is taken; BAD_REQUEST, field `startsAt`, when no slot begins then. */
    assertOffered(db: Db, product: ProductRow, startsAt: Date): Promise<OfferedSlot & { startsAt: Date }>;
  };
  availability: {
    of(db: Db, workspaceId: string): Promise<{ timezone: string; minNoticeMin: number }>;
  };
  mailbox: { enqueue(tx: Tx, mail: NewEmail): Promise<void> };
  /** URL without a trailing slash. */
  publicUrl: string;
}
