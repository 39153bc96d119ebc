import type { Page } from '../../http/page.ts';
import { bookingPath } from '../../kernel/booking-path.ts';
import { inZone } from '../../kernel/local-time.ts';
import { html, type SafeHtml } from '../../platform/html.ts';
import type { ProductRow } from '../products/index.ts';
import type { EntryRow } from '../waitlist/index.ts';
import { bookForm, framed, testNote } from './book.views.ts';
import type { Filled } from './fields.views.ts';
import type { Creator } from './ports.ts';
import type { Choice } from './rules.ts';

/** The words and forms of the page for whoever waits for a place. */

export interface WaitingView {
  creator: Creator;
  product: ProductRow;
  entry: EntryRow;
  /** What they wait for, or are offered. */
  place: string | null;
  choice: Choice;
  form: Filled;
  formToken: string;
}

export const waitingPath = (id: string) => `/waitlist/${id}`;

export function waitingPage(view: WaitingView): Page {
  const { creator, product, entry, place, form } = view;
  const isOpen = entry.status === 'WAITING' || entry.status === 'OFFERED';
  return framed({
    status: form.problem?.status ?? 200,
    title: product.title,
    isPrivate: true,
    content: html`<p>With <a href="${bookingPath(creator, product)}"><bdi>${creator.name}</bdi></a></p>
${testNote(creator)}
${place !== null && html`<p>${place}</p>`}
${standing(view)}
${isOpen && leaveForm(view)}`,
  });
}

function standing(view: WaitingView): SafeHtml {
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
      return html`<p>The offer expired${entry.offer_expires_at !== null && html` on ${inZone(entry.offer_expires_at, choice.zone)}`}. The spot was offered to the next person.</p>`;
    case 'REMOVED':
      return html`<p>You are no longer on the waitlist.</p>`;
  }
}

/** Whoever takes any is offered what becomes free: of what is free already, nothing says which would suit them. */
function waits({ creator, product, entry }: WaitingView): SafeHtml {
  const takesAny = entry.cohort_id === null && entry.starts_at === null;
  return html`<p>You're on the waitlist. When a spot becomes available, we'll hold it for you and email you.</p>
${takesAny && html`<p>Some times are available now: <a href="${bookingPath(creator, product)}">see available times</a>.</p>`}`;
}

function forgotten({ creator, product }: WaitingView): SafeHtml {
  return html`<p>This waitlist entry expired because it was not confirmed within two days. <a href="${bookingPath(creator, product)}">Book, or join the waitlist again</a>.</p>`;
}

function offer({ product, entry, choice, form }: WaitingView): SafeHtml {
  const until = entry.offer_expires_at;
  return html`<section aria-labelledby="take-title"><h2 id="take-title">A spot is available</h2>
${until !== null && html`<p>It is held for you until ${inZone(until, choice.zone)}.</p>`}
${bookForm({ product, choice, form }, `${waitingPath(entry.id)}/take`, { email: entry.email })}
</section>`;
}

function confirmForm({ entry, formToken }: WaitingView): SafeHtml {
  return html`<section aria-labelledby="confirm-title"><h2 id="confirm-title">Join the waitlist?</h2>
<p>This email address was added to the waitlist. Spots are offered only to confirmed entries.</p>
<form method="post" action="${waitingPath(entry.id)}/confirm">
<input type="hidden" name="formToken" value="${formToken}">
<button class="button main" type="submit">Join the waitlist</button>
</form></section>`;
}

function leaveForm({ entry, formToken }: WaitingView): SafeHtml {
  return html`<section aria-labelledby="leave-title"><h2 id="leave-title">Leave the waitlist</h2>
<form method="post" action="${waitingPath(entry.id)}/leave">
<input type="hidden" name="formToken" value="${formToken}">
<button class="button" type="submit">Leave the waitlist</button>
</form></section>`;
}
