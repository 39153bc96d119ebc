/** Public pages to book a product and to manage a booking (docs/concepts/booking-pages.md). */
import { bookPages } from './book.pages.ts';
import { managePages } from './manage.pages.ts';
import type { BookingPagePorts } from './ports.ts';
import { waitlistPages } from './waitlist.pages.ts';

export type { BookingPagePorts, Creator, OpenCohort, Order } from './ports.ts';

export function bookingPages(ports: BookingPagePorts): ReturnType<typeof bookPages>[] {
  return [bookPages(ports), managePages(ports), waitlistPages(ports)];
}
