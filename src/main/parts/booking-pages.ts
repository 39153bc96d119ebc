import type { Availability } from '../../features/booking/availability/index.ts';
import { type BookingPagePorts, bookingPages } from '../../features/booking/booking-pages/index.ts';
import {
  type BookingCalendar,
  type BookingLinks,
  type Bookings,
  refundableUntil,
} from '../../features/booking/bookings/index.ts';
import type { Cohorts } from '../../features/booking/cohorts/index.ts';
import type { Products } from '../../features/booking/products/index.ts';
import type { Slots } from '../../features/booking/slots/index.ts';
import type { Waitlist } from '../../features/booking/waitlist/index.ts';
import { type Checkouts, successUrl } from '../../features/commerce/checkout/index.ts';
import type { MailCaps } from '../../features/integration/mail/index.ts';
import type { FeatureModule } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

interface Needs extends BaseContext {
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
}

/** Builds the booking pages, which need neither an account nor scripts. */
export function bookingPagesPart(needs: Needs): FeatureModule {
  const { config, caps, slots, checkouts, bookingLinks: links, bookingCalendar: calendar } = needs;
  return {
    pages: ({ assets }) =>
      bookingPages({
        ...needs,
        ...{ assets, links, calendar, refundableUntil },
        counters: { window: caps },
        publicUrl: config.PUBLIC_URL,
        freeTimes: async (workspaceId, productId, days) =>
          (await slots.list(workspaceId, productId, days)).slots,
        openCohorts: ({ id }) => needs.cohorts.coming(needs.db, id),
        order: orderBy(checkouts),
        bookingOfCheckout: (id) => checkouts.bookingOf(id),
      }),
  };
}

function orderBy(checkouts: Checkouts): BookingPagePorts['order'] {
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
