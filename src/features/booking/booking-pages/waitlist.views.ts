import type { Page } from '../../../http/page.ts';
import { bookingPath } from '../../../kernel/booking-path.ts';
import { formatInZone } from '../../../kernel/format-time.ts';
import { html, type SafeHtml } from '../../../platform/html.ts';
import type { ProductRow } from '../products/index.ts';
import type { EntryRow } from '../waitlist/index.ts';
import { bookForm, bookingLayout, testModeBanner } from './book.views.ts';
import type { FormState } from './fields.views.ts';
import type { Creator } from './ports.ts';
import type { PickerSelection } from './rules.ts';

/** Texts and forms of the waitlist page. */

export interface WaitlistView {
  creator: Creator;
  product: ProductRow;
  entry: EntryRow;
  /** Spot that the entry waits for or was offered. */
  place: string | null;
  choice: PickerSelection;
  form: FormState;
  formToken: string;
}

export const waitingPath = (id: string) => `/waitlist/${id}`;

export function waitlistPage(view: WaitlistView): Page {
  const { creator, product, entry, place, form } = view;
  const isOpen = entry.status === 'WAITING' || entry.status === 'OFFERED';
  return bookingLayout({
    status: form.problem?.status ?? 200,
    title: product.title,
    isPrivate: true,
    content: html`<p>With <a href="${bookingPath(creator, product)}"><bdi>${creator.name}</bdi></a></p>
${testModeBanner(creator)}
${place !== null && html`<p>${place}</p>`}
${standing(view)}
${isOpen && leaveForm(view)}`,
  });
}

function standing(view: WaitlistView): SafeHtml {
  const { entry, choice } = view;
  switch (entry.status) {
    case 'WAITING':
      return entry.confirmed_at === null ? confirmForm(view) : waits(view);
    case 'OFFERED':
      return entry.holds_spot ? offer(view) : html`<p>Booking in progress: complete the payment.</p>`;
    case 'CONVERTED':
      return html`<p>Booked. Check your email for the confirmation.</p>`;
    case 'EXPIRED':
      if (entry.confirmed_at === null) return forgotten(view);
      return html`<p>The offer expired${entry.offer_expires_at !== null && html` on ${formatInZone(entry.offer_expires_at, choice.zone)}`}. The spot was offered to the next person.</p>`;
    case 'REMOVED':
      return html`<p>You are no longer on the waitlist.</p>`;
  }
}

/**
 * Renders a waiting entry. An entry for any spot is offered only spots that become free, so the page links to
 * the free ones.
 */
function waits({ creator, product, entry }: WaitlistView): SafeHtml {
  const takesAny = entry.cohort_id === null && entry.starts_at === null;
  return html`<p>You're on the waitlist. When a spot becomes available, we'll hold it for you and email you.</p>
${takesAny && html`<p>Some times are available now: <a href="${bookingPath(creator, product)}">see available times</a>.</p>`}`;
}

function forgotten({ creator, product }: WaitlistView): SafeHtml {
  return html`<p>This waitlist entry expired because it was not confirmed within two days. <a href="${bookingPath(creator, product)}">Book, or join the waitlist again</a>.</p>`;
}

function offer({ product, entry, choice, form }: WaitlistView): SafeHtml {
  const until = entry.offer_expires_at;
  return html`<section aria-labelledby="take-title"><h2 id="take-title">A spot is available</h2>
${until !== null && html`<p>It is held for you until ${formatInZone(until, choice.zone)}.</p>`}
${bookForm({ product, choice, form }, `${waitingPath(entry.id)}/take`, { email: entry.email })}
</section>`;
}

function confirmForm({ entry, formToken }: WaitlistView): SafeHtml {
  return html`<section aria-labelledby="confirm-title"><h2 id="confirm-title">Join the waitlist?</h2>
<p>This email address was added to the waitlist. Spots are offered only to confirmed entries.</p>
<form method="post" action="${waitingPath(entry.id)}/confirm">
<input type="hidden" name="formToken" value="${formToken}">
<button class="button main" type="submit">Join the waitlist</button>
</form></section>`;
}

function leaveForm({ entry, formToken }: WaitlistView): SafeHtml {
  return html`<section aria-labelledby="leave-title"><h2 id="leave-title">Leave the waitlist</h2>
<form method="post" action="${waitingPath(entry.id)}/leave">
<input type="hidden" name="formToken" value="${formToken}">
<button class="button" type="submit">Leave the waitlist</button>
</form></section>`;
}
