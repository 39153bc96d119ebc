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

/** Whose page it is. */
export interface Creator {
  accountId: string;
  workspaceId: string;
  mode: Mode;
  username: string;
  name: string;
}

/** A cohort that takes people, or will. */
export interface OpenCohort {
  id: string;
  title: string | null;
  starts_at: Date;
  ends_at: Date | null;
  timezone: string;
  status: string;
  enrollment_closes_at: Date | null;
}

/** What a visitor sends. */
export interface Order {
  productId: string;
  startsAt?: Date;
  cohortId?: string;
  customer: { name: string; email: string; timezone: string | null };
  intakeAnswers: Record<string, string | boolean>;
  discountCode?: string;
}

/** What the pages of booking are built on. */
export interface BookingPagePorts {
  db: Db;
  clock: Clock;
  secrets: Pick<Secrets, 'sign' | 'verify'>;
  assets: WebAssets;
  counters: Pick<RequestCounters, 'window'>;
  mailCaps: Pick<MailCaps, 'from'>;
  products: Pick<Products, 'findPublished' | 'get' | 'list'>;
  /** @param days the first and the last, as `2026-11-30` in the zone. */
  freeTimes(
    workspaceId: string,
    productId: string,
    days: { from: string; to: string; timezone: string },
  ): Promise<AvailableSlot[]>;
  availability: {
    of(db: Db, workspaceId: string): Promise<{ timezone: string; maxAdvanceDays: number }>;
  };
  /** The first to begin first. */
  openCohorts(product: ProductRow): Promise<OpenCohort[]>;
  waitlist: Pick<Waitlist, 'join' | 'isLink' | 'byId' | 'confirm' | 'leave'>;
  bookings: Pick<Bookings, 'byId' | 'cancel' | 'reschedule'>;
  /** Until when its customer can cancel and is given everything back. */
  refundableUntil(booking: BookingRow): Date | null;
  calendar: BookingCalendar;
  links: Pick<BookingLinks, 'isManaged' | 'joinUrl' | 'manageUrl'>;
  /**
   * Makes the checkout, and completes it when it costs nothing.
   *
   * @param urls where the buyer goes afterwards, and after giving up.
   * @param how.countMail asked before what costs nothing is confirmed by mail, where anybody could type the address.
   * @param how.waitlistEntryId the entry of the waitlist by whose mailed link it is booked.
   * @returns where the buyer goes now.
   * @throws {AppError} as `POST /checkout/booking`.
   */
  order(
    creator: Creator,
    order: Order,
    urls: { success: string; cancel: string },
    how: { countMail?: CountMail; waitlistEntryId?: string },
  ): Promise<string>;
  /** The booking of a checkout that is completed; null of any other. */
  bookingOfCheckout(checkoutId: string): Promise<string | null>;
  /** Without a slash at the end. */
  publicUrl: string;
}
