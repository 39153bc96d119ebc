import type { WebAssets } from '../../../http/assets.ts';
import type { RequestCounters } from '../../../http/ports.ts';
import type { Mode } from '../../../kernel/access.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { CountMail, MailCaps } from '../../integration/mail/index.ts';
import type { BookingCalendar, BookingLinks, BookingRow, Bookings } from '../bookings/index.ts';
import type { ProductRow, Products } from '../products/index.ts';
import type { Waitlist } from '../waitlist/index.ts';
import type { AvailableSlot } from './rules.ts';

/** Owner of a booking page. */
export interface Creator {
  accountId: string;
  workspaceId: string;
  mode: Mode;
  username: string;
  name: string;
}

/** Cohort that accepts members now or later. */
export interface OpenCohort {
  id: string;
  title: string | null;
  starts_at: Date;
  ends_at: Date | null;
  timezone: string;
  status: string;
  enrollment_closes_at: Date | null;
}

/** Order as submitted by a page viewer. */
export interface Order {
  productId: string;
  startsAt?: Date;
  cohortId?: string;
  customer: { name: string; email: string; timezone: string | null };
  intakeAnswers: Record<string, string | boolean>;
  discountCode?: string;
}

/** Dependencies of the booking pages. */
export interface BookingPagePorts {
  db: Db;
  clock: Clock;
  secrets: Pick<Secrets, 'sign' | 'verify'>;
  assets: WebAssets;
  counters: Pick<RequestCounters, 'window'>;
  mailCaps: Pick<MailCaps, 'from'>;
  products: Pick<Products, 'findPublished' | 'get' | 'list'>;
  /** @param days the first and the last day, as `2026-11-30` in the zone. */
  freeTimes(
    workspaceId: string,
    productId: string,
    days: { from: string; to: string; timezone: string },
  ): Promise<AvailableSlot[]>;
  availability: {
    of(db: Db, workspaceId: string): Promise<{ timezone: string; maxAdvanceDays: number }>;
  };
  /** Lists cohorts by start. */
  openCohorts(product: ProductRow): Promise<OpenCohort[]>;
  waitlist: Pick<Waitlist, 'join' | 'isLink' | 'byId' | 'confirm' | 'leave'>;
  bookings: Pick<Bookings, 'byId' | 'cancel' | 'reschedule'>;
  /** Returns the time until which the customer can cancel with a full refund. */
  refundableUntil(booking: BookingRow): Date | null;
  calendar: BookingCalendar;
  links: Pick<BookingLinks, 'isManaged' | 'joinUrl' | 'manageUrl'>;
  /**
   * Creates the checkout and completes it when it costs nothing.
   *
   * @param urls where the buyer is redirected after success and after canceling.
   * @param how.countMail called before a free booking is confirmed by email, because the address is
   *   unverified.
   * @param how.waitlistEntryId the waitlist entry whose emailed link is used.
   * @returns where to redirect the buyer now.
   * @throws {AppError} as `POST /checkout/booking`.
   */
  order(
    creator: Creator,
    order: Order,
    urls: { success: string; cancel: string },
    how: { countMail?: CountMail; waitlistEntryId?: string },
  ): Promise<string>;
  /** Returns the booking of a completed checkout; null otherwise. */
  bookingOfCheckout(checkoutId: string): Promise<string | null>;
  /** URL without a trailing slash. */
  publicUrl: string;
}
