/** Public pages to book a product and to manage a booking (docs/concepts/booking-pages.md). */
import type { Checkouts, successUrl } from '../../commerce/checkout/index.ts';
import type { MailCaps } from '../../integration/mail/index.ts';
import type { FeatureModule } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { Availability } from '../availability/index.ts';
import type { BookingCalendar, BookingLinks, Bookings, refundableUntil } from '../bookings/index.ts';
import type { Cohorts } from '../cohorts/index.ts';
import type { Products } from '../products/index.ts';
import type { Slots } from '../slots/index.ts';
import type { Waitlist } from '../waitlist/index.ts';
import { bookPages } from './book.pages.ts';
import { managePages } from './manage.pages.ts';
import type { BookingPagePorts } from './ports.ts';
import { waitlistPages } from './waitlist.pages.ts';

interface BookingPagesDeps extends Pick<Platform, 'caps' | 'clock' | 'config' | 'db' | 'secrets'> {
  availability: Availability;
  bookingCalendar: BookingCalendar;
  bookingLinks: BookingLinks;
  bookings: Bookings;
  checkouts: Checkouts;
  cohorts: Cohorts;
  mailCaps: MailCaps;
  products: Products;
  slots: Slots;
  waitlist: Waitlist;
  refundableUntil: typeof refundableUntil;
  successUrl: typeof successUrl;
}

/** Builds the booking pages, which need neither an account nor scripts. */
export function createBookingPagesModule(deps: BookingPagesDeps): FeatureModule {
  const { config, caps, slots, checkouts, bookingLinks: links, bookingCalendar: calendar } = deps;
  return {
    pages({ assets }) {
      const ports: BookingPagePorts = {
        ...deps,
        ...{ assets, links, calendar },
        counters: { window: caps },
        publicUrl: config.PUBLIC_URL,
        freeTimes: async (workspaceId, productId, days) =>
          (await slots.list(workspaceId, productId, days)).slots,
        openCohorts: ({ id }) => deps.cohorts.coming(deps.db, id),
        order: orderBy(deps),
        bookingOfCheckout: (id) => checkouts.bookingOf(id),
      };
      return [bookPages(ports), managePages(ports), waitlistPages(ports)];
    },
  };
}

function orderBy({
  checkouts,
  successUrl,
}: Pick<BookingPagesDeps, 'checkouts' | 'successUrl'>): BookingPagePorts['order'] {
  return async (creator, { startsAt, ...order }, urls, how) => {
    const input = {
      ...order,
      ...(startsAt !== undefined && { startsAt: startsAt.toISOString() }),
      successUrl: urls.success,
      cancelUrl: urls.cancel,
    };
    const row = await checkouts.createForBooking(creator, input, how);
    if (row.status !== 'COMPLETED') return `/checkout/${row.id}`;
    const { pathname, search } = new URL(successUrl(row));
    return pathname + search;
  };
}
