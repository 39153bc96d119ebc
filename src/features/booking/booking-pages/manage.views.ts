import type { Page } from '../../../http/page.ts';
import { creatorBookingPath } from '../../../kernel/booking-path.ts';
import { formatInZone } from '../../../kernel/format-time.ts';
import { html, type SafeHtml } from '../../../platform/html.ts';
import type { BookingDetails, BookingRow } from '../bookings/index.ts';
import { bookingLayout, testModeBanner } from './book.views.ts';
import { calendar, timeInBothZones, urlWith, zoneForm } from './picker.views.ts';
import type { Creator } from './ports.ts';
import type { AvailableSlot, MonthView, PickerSelection } from './rules.ts';

/** Texts and forms of the page to manage a booking; they work without scripts. */

/** Data of the page to manage a booking. */
export interface BookingView {
  booking: BookingDetails;
  creator: Creator;
  title: string;
  creatorZone: string;
  /** Time zone of the customer. */
  zone: string;
  /** Binds the forms to the booking. */
  formToken: string;
  /** When refunds for a cancellation end; null for a free booking. */
  refundUntil: Date | null;
  hasBegun: boolean;
  joinUrl: string;
  /** Whether the booking has a time for a calendar file. */
  hasCalendar: boolean;
  now: Date;
  news: { text: string; isProblem: boolean; status: number } | null;
}

export const pathOf = (id: string) => `/bookings/${id}`;

const STATES: Record<BookingRow['status'], string> = {
  PENDING_PAYMENT: 'Awaiting payment.',
  CONFIRMED: 'Confirmed.',
  COMPLETED: 'Completed.',
  CANCELED: 'Canceled.',
  NO_SHOW: 'No-show.',
  EXPIRED: 'Expired: not paid in time.',
};

export function managePage(view: BookingView): Page {
  const { booking, creator, news } = view;
  const isOpen = booking.status === 'CONFIRMED' && !view.hasBegun;
  return bookingLayout({
    status: news?.status ?? 200,
    title: view.title,
    isPrivate: true,
    content: html`<p>Your booking with <a href="${creatorBookingPath(creator)}"><bdi>${creator.name}</bdi></a>. ${STATES[booking.status]}</p>
${testModeBanner(creator)}
${news !== null && html`<p class="${news.isProblem ? 'book-problem' : 'book-news'}" role="${news.isProblem ? 'alert' : 'status'}">${news.text}</p>`}
<section aria-labelledby="when-title"><h2 id="when-title">When</h2>
${whenOf(view)}
${booking.status === 'CONFIRMED' && ways(view)}
</section>
${
  isOpen &&
  booking.type !== 'COHORT' &&
  html`<section aria-labelledby="move-title"><h2 id="move-title">Reschedule</h2>
<p>You can reschedule to any available time. Your payment is not affected.</p>
<p><a class="button" href="${pathOf(booking.id)}/move">Choose another time</a></p></section>`
}
${isOpen && cancellation(view)}`,
  });
}

function whenOf({ booking, zone, creator, creatorZone }: BookingView): SafeHtml {
  const { starts_at: startsAt, ends_at: endsAt, begins_at: begins } = booking;
  const who = { name: creator.name, zone: creatorZone };
  if (startsAt !== null && endsAt !== null) return timeInBothZones({ startsAt, endsAt }, zone, who);
  return html`<p>Starts ${formatInZone(begins, zone)}.</p>`;
}

function ways({ booking, joinUrl, hasCalendar }: BookingView): SafeHtml {
  return html`<p class="book-ways"><a class="button main" href="${joinUrl}">Join</a>
${hasCalendar && html`<a class="button" href="${pathOf(booking.id)}/calendar.ics" download="booking.ics">Add to your calendar</a>`}</p>`;
}

function cancellation({ booking, formToken, refundUntil, zone, now }: BookingView): SafeHtml {
  const money =
    refundUntil === null
      ? 'No payment was made.'
      : now <= refundUntil
        ? `Full refund if you cancel before ${formatInZone(refundUntil, zone)}.`
        : `This booking is no longer refundable: the refund period ended ${formatInZone(refundUntil, zone)}.`;
  return html`<section aria-labelledby="cancel-title"><h2 id="cancel-title">Cancel</h2>
<p>${money}</p>
<details><summary>Cancel this booking</summary>
<form class="form book-form" method="post" action="${pathOf(booking.id)}/cancel">
<input type="hidden" name="formToken" value="${formToken}">
<label class="field">Reason <small>(optional)</small>
<input name="reason" maxlength="500" autocomplete="off">
</label>
<button class="button" type="submit">Cancel booking</button>
</form></details></section>`;
}

export interface MoveView {
  booking: BookingRow;
  creator: Creator;
  creatorZone: string;
  title: string;
  choice: PickerSelection;
  month: MonthView;
  chosen: AvailableSlot | null;
  formToken: string;
  problem: { text: string; status: number } | null;
}

/** Renders the available slots and the confirmation to move. */
export function movePage(view: MoveView): Page {
  const { booking, creator, creatorZone, choice, month, chosen, formToken, problem } = view;
  const path = `${pathOf(booking.id)}/move`;
  const picker = { path, choice, month, creator: { name: creator.name, zone: creatorZone } };
  return bookingLayout({
    status: problem?.status ?? 200,
    title: `Reschedule: ${view.title}`,
    isPrivate: true,
    content: html`${problem !== null && html`<p class="book-problem" role="alert">${problem.text}</p>`}
${booking.starts_at !== null && html`<p>Current time: ${formatInZone(booking.starts_at, choice.zone)}. You keep it until you choose another.</p>`}
<section class="book-when" id="when" tabindex="-1" aria-labelledby="when-title"><h2 id="when-title">When</h2>
${zoneForm(picker)}
${calendar(picker)}
</section>
${
  chosen !== null &&
  html`<section id="details" tabindex="-1" aria-labelledby="details-title"><h2 id="details-title">Reschedule</h2>
${timeInBothZones(chosen, choice.zone, picker.creator)}
<form class="form book-form" method="post" action="${path}">
<input type="hidden" name="formToken" value="${formToken}">
<input type="hidden" name="start" value="${chosen.startsAt.toISOString()}">
<input type="hidden" name="zone" value="${choice.zone}">
<button class="button main" type="submit">Reschedule to this time</button>
</form></section>`
}
<p><a href="${urlWith(pathOf(booking.id), choice.zone, {})}">Back to your booking</a></p>`,
  });
}

/** Renders that the page needs the emailed link. */
export function closedPage(): Page {
  return bookingLayout({
    status: 404,
    title: 'Open the link in your email',
    isPrivate: true,
    content: html`<p>Open this page with the link in your email. The link was not opened in this browser within the last day, or the URL is incomplete.</p>`,
  });
}
