import type { AppendEvent, Events } from '../../../events/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { NewEmail } from '../../integration/mail/index.ts';
import type { Calendar, Span } from '../calendars/index.ts';
import type { ProductRow } from '../products/index.ts';

/** A transaction, and what it appends. */
export interface TransactionContext {
  tx: Tx;
  append: AppendEvent;
}

/** A start that is offered. */
interface OfferedSlot extends Span {
  endsAt: Date;
}

/** What somebody who waits for a cohort has to know of it. */
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

/** What the waitlist is built on. */
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
      /** @returns false when the cohort is full, or takes nobody. */
      claim(tx: Tx, cohortId: string): Promise<boolean>;
      release(tx: Tx, cohortId: string): Promise<void>;
    };
  };
  classSeats: {
    /** @returns its class; null when there is none left. */
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
  /** Without a slash at the end. */
  publicUrl: string;
}
