import { type Page, siteLayout } from '../../../http/page.ts';
import { bookingPath, creatorBookingPath } from '../../../kernel/booking-path.ts';
import type { AppError } from '../../../kernel/errors.ts';
import { formatMoney } from '../../../kernel/format-money.ts';
import { formatInZone } from '../../../kernel/format-time.ts';
import { html, type SafeHtml } from '../../../platform/html.ts';
import type { ProductRow } from '../products/index.ts';
import { type FormState, formError, intakeFields, textField } from './fields.views.ts';
import { calendar, timeInBothZones, urlWith, zoneForm } from './picker.views.ts';
import type { Creator, OpenCohort } from './ports.ts';
import { type AvailableSlot, instantOf, type MonthView, type PickerSelection } from './rules.ts';

/** Texts and forms of the booking pages; they work without scripts. */

const SCRIPT = 'book/main.ts';

interface Framed {
  status: number;
  title: string;
  head?: SafeHtml;
  content: SafeHtml;
  /** Image URLs on other hosts, which the content security policy has to allow. */
  pictures?: readonly string[];
  /** Excludes the page from search engines. */
  isPrivate?: boolean;
}

/** Renders a booking page. Its forms may redirect to any payment provider. */
export function bookingLayout({ status, title, head, content, pictures = [], isPrivate }: Framed): Page {
  return {
    status,
    title: `${title} · Marquee`,
    head: html`${isPrivate && html`<meta name="robots" content="noindex">`}${head}`,
    body: siteLayout('page book', html`<h1><bdi>${title}</bdi></h1>\n${content}`),
    script: SCRIPT,
    hasPlainStyles: true,
    frames: "'none'",
    forms: true,
    mediaOrigins: pictures,
  };
}

export const notFoundPage = (): Page =>
  bookingLayout({
    status: 404,
    title: 'Nothing to book',
    content: html`<p>This booking page does not exist or is no longer available.</p>`,
    isPrivate: true,
  });

export function errorPage(error: AppError): Page {
  if (error.code === 'NOT_FOUND') return notFoundPage();
  const content = html`<p class="book-problem" role="alert">${error.message}</p>`;
  return bookingLayout({ status: error.status, title: 'Something went wrong', content, isPrivate: true });
}

export const testModeBanner = ({ mode }: Pick<Creator, 'mode'>) =>
  mode === 'test' && html`<p class="book-hint">Test mode: no money moves.</p>`;

const KINDS: Record<ProductRow['type'], string> = {
  ONE_TO_ONE: 'One to one',
  LIVE_CLASS: 'Live class',
  COHORT: 'Cohort',
};
const price = ({ price_cents: cents }: ProductRow) => (cents === 0 ? 'Free' : formatMoney(cents));
const minutes = ({ duration_min: length }: ProductRow) => (length === 1 ? '1 minute' : `${length} minutes`);
const days = (count: number) => (count === 1 ? '1 day' : `${count} days`);

/** Renders the metadata for link previews (https://ogp.me). */
function shared(url: string, title: string, text: string, picture: string | null): SafeHtml {
  return html`<meta name="description" content="${text}">
<link rel="canonical" href="${url}">
<meta property="og:site_name" content="Marquee">
<meta property="og:type" content="website">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${text}">
<meta property="og:url" content="${url}">
<meta name="twitter:card" content="${picture === null ? 'summary' : 'summary_large_image'}">
${picture !== null && html`<meta property="og:image" content="${picture}">`}`;
}

/** Renders the products that a creator offers. */
export function listPage(creator: Creator, products: readonly ProductRow[], publicUrl: string): Page {
  const title = `Book ${creator.name}`;
  const url = publicUrl + creatorBookingPath(creator);
  return bookingLayout({
    status: 200,
    title,
    head: shared(url, title, `What ${creator.name} offers.`, null),
    isPrivate: creator.mode === 'test',
    content: html`${testModeBanner(creator)}
${products.length === 0 && html`<p>Nothing is available for booking right now.</p>`}
<ul class="book-list">${products.map(
      (
        product,
      ) => html`<li><h2><a href="${bookingPath(creator, product)}"><bdi>${product.title}</bdi></a></h2>
<p class="book-hint">${KINDS[product.type]}${product.type !== 'COHORT' && html`, ${minutes(product)}`}, ${price(product)}</p>
${product.description !== null && html`<p class="book-text">${shortened(product.description)}</p>`}</li>`,
    )}</ul>`,
  });
}

const SUMMARY = 200;
const shortened = (text: string) => (text.length <= SUMMARY ? text : `${text.slice(0, SUMMARY - 1)}…`);

/** Data of a product page. */
export interface ProductView {
  creator: Creator;
  product: ProductRow;
  /** Time zone of the creator. */
  creatorZone: string;
  choice: PickerSelection;
  /** Set for a ONE_TO_ONE or a class. */
  month: MonthView | null;
  /** Chosen slot, if it is still available. */
  chosen: AvailableSlot | null;
  /** Other available slots when the chosen one is not. */
  others: readonly AvailableSlot[];
  fullClasses: readonly AvailableSlot[];
  cohorts: readonly OpenCohort[];
  form: FormState;
  publicUrl: string;
}

export function productPage(view: ProductView): Page {
  const { creator, product, publicUrl, form } = view;
  const path = bookingPath(creator, product);
  const picture = product.thumbnail_url;
  const about = shortened(product.description ?? `${KINDS[product.type]} with ${creator.name}.`);
  return bookingLayout({
    status: form.problem?.status ?? 200,
    title: product.title,
    head: shared(publicUrl + path, product.title, about, picture),
    isPrivate: creator.mode === 'test',
    pictures: picture === null || !URL.canParse(picture) ? [] : [new URL(picture).origin],
    content: html`<p>With <a href="${creatorBookingPath(creator)}"><bdi>${creator.name}</bdi></a></p>
${testModeBanner(creator)}
${picture !== null && html`<img class="book-picture" src="${picture}" alt="">`}
${facts(product)}
${product.description !== null && html`<p class="book-text">${product.description}</p>`}
${product.type === 'COHORT' ? cohortList(view) : timeChoice(view)}
${view.choice.wait === null ? details(view) : waitForm(view)}`,
  });
}

function facts(product: ProductRow): SafeHtml {
  const { refund_policy_days: refund, type, price_cents: cents } = product;
  const rule = refund === 0 ? 'until it begins' : `until ${days(refund)} before it begins`;
  const row = (name: string, value: string) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
  return html`<dl class="book-facts">${row('What', KINDS[type])}${type !== 'COHORT' && row('Duration', minutes(product))}${row('Price', price(product))}${
    cents > 0 && row('Cancellation', `Full refund ${rule}`)
  }</dl>`;
}

function timeChoice(view: ProductView): SafeHtml {
  const { creator, creatorZone, choice, month, product } = view;
  if (month === null) return html``;
  const path = bookingPath(creator, product);
  const picker = { path, choice, month, creator: { name: creator.name, zone: creatorZone } };
  return html`<section class="book-when" id="when" tabindex="-1" aria-labelledby="when-title">
<h2 id="when-title">When</h2>
${zoneForm(picker)}
${calendar(picker)}
${view.fullClasses.length > 0 && fullTimes(view)}
<p><a href="${urlWith(path, choice.zone, { month: choice.month, wait: 'any' }, 'wait')}">No time works for you? Join the waitlist.</a></p>
</section>`;
}

function fullTimes({ creator, product, choice, fullClasses }: ProductView): SafeHtml {
  const path = bookingPath(creator, product);
  const item = ({ startsAt }: AvailableSlot) => {
    const to = urlWith(path, choice.zone, { month: choice.month, wait: startsAt.toISOString() }, 'wait');
    return html`<li>${formatInZone(startsAt, choice.zone)} is full. <a href="${to}">Join the waitlist</a></li>`;
  };
  return html`<h3>Full</h3><ul class="book-full">${fullClasses.map(item)}</ul>`;
}

function cohortList({ creator, product, cohorts, choice, creatorZone }: ProductView): SafeHtml {
  const path = bookingPath(creator, product);
  const item = (cohort: OpenCohort) => {
    const way =
      cohort.status === 'OPEN'
        ? html`<a class="button" href="${urlWith(path, choice.zone, { cohort: cohort.id }, 'details')}"${
            cohort.id === choice.cohortId && html` aria-current="true"`
          }>Choose</a>`
        : html`<span>${cohort.status === 'FULL' ? 'Full.' : 'Enrollment is not open yet.'}</span>
<a class="button" href="${urlWith(path, choice.zone, { wait: cohort.id }, 'wait')}">Join the waitlist</a>`;
    return html`<li>${cohort.title !== null && html`<h3><bdi>${cohort.title}</bdi></h3>`}
<p>${cohortTimes(cohort, choice.zone, creatorZone)}</p>${way}</li>`;
  };
  const picker = { path, choice, creator: { name: creator.name, zone: creatorZone } };
  return html`<section class="book-when" id="when" tabindex="-1" aria-labelledby="when-title">
<h2 id="when-title">When</h2>
${zoneForm(picker)}
${cohorts.length === 0 && html`<p class="book-none">No cohort is open for enrollment. <a href="${urlWith(path, choice.zone, { wait: 'any' }, 'wait')}">Join the waitlist.</a></p>`}
<ul class="book-cohorts">${cohorts.map(item)}</ul>
</section>`;
}

function cohortTimes(
  { starts_at: begins, ends_at: ends }: OpenCohort,
  zone: string,
  other: string,
): SafeHtml {
  const own = html`Starts ${formatInZone(begins, zone)}${ends !== null && html`, ends ${formatInZone(ends, zone)}`}.`;
  return zone === other ? own : html`${own} In the creator's time zone: ${formatInZone(begins, other)}.`;
}

/** Renders the form once a time or a cohort is chosen. */
function details(view: ProductView): SafeHtml {
  const { creator, product, choice, chosen, creatorZone, cohorts, form } = view;
  const cohort = cohorts.find(({ id, status }) => id === choice.cohortId && status === 'OPEN');
  const isGone = form.problem?.input === 'start';
  if (chosen === null && cohort === undefined && !isGone) {
    return html`${choice.startsAt !== null && html`<p class="book-problem" role="alert" id="details" tabindex="-1">This time is no longer available. Choose another.</p>`}`;
  }
  const what =
    chosen !== null
      ? html`${timeInBothZones(chosen, choice.zone, { name: creator.name, zone: creatorZone })}<input type="hidden" name="start" form="book" value="${chosen.startsAt.toISOString()}">`
      : cohort !== undefined &&
        html`<p>${cohortTimes(cohort, choice.zone, creatorZone)}</p><input type="hidden" name="cohort" form="book" value="${cohort.id}">`;
  return html`<section id="details" tabindex="-1" aria-labelledby="details-title">
<h2 id="details-title">Your booking</h2>
${what}
${bookForm(view, bookingPath(creator, product), { lead: isGone && otherTimes(view) })}
</section>`;
}

/** Renders other available times when the chosen one was taken in the meantime; the form keeps its input. */
function otherTimes({ others, choice, form }: ProductView): SafeHtml {
  return html`<p class="problem" id="problem" role="alert">${form.problem?.text}</p>
<label class="field">New time <select name="start" required aria-invalid="true" aria-describedby="problem"><option value="">Choose</option>${others.map(
    ({ startsAt }) =>
      html`<option value="${startsAt.toISOString()}">${formatInZone(startsAt, choice.zone)}</option>`,
  )}</select>
</label>`;
}

/**
 * Renders the booking form.
 *
 * @param options.lead content before the fields.
 * @param options.email the only email address that is accepted.
 */
export function bookForm(
  { product, choice, form }: Pick<ProductView, 'product' | 'choice' | 'form'>,
  action: string,
  { lead = false, email = null }: { lead?: SafeHtml | false; email?: string | null } = {},
): SafeHtml {
  const isFree = product.price_cents === 0;
  return html`<form class="form book-form" id="book" method="post" action="${action}">
${formError(form)}
<input type="hidden" name="zone" value="${choice.zone}">
${lead}
${textField(form, { name: 'name', label: 'Your name', required: true, maxLength: 120, autocomplete: 'name' })}
${
  email === null
    ? textField(form, {
        name: 'email',
        label: 'Email address',
        type: 'email',
        required: true,
        maxLength: 254,
        autocomplete: 'email',
      })
    : html`<p>The confirmation goes to <bdi>${email}</bdi>.</p>`
}
${intakeFields(form, product.intake_fields ?? [])}
${!isFree && textField(form, { name: 'code', label: 'Discount code', maxLength: 64 })}
<button class="button main" type="submit">${isFree ? 'Book' : `Continue to payment (${formatMoney(product.price_cents)})`}</button>
${!isFree && html`<p class="book-hint">You pay on the next page.${product.type === 'ONE_TO_ONE' && ' The time is held for you for ten minutes.'}</p>`}
</form>`;
}

function waitForm({ creator, product, choice, form, cohorts }: ProductView): SafeHtml {
  const { wait, zone } = choice;
  const cohort = cohorts.find(({ id }) => id === wait);
  const at = instantOf(wait ?? '');
  const what =
    cohort !== undefined
      ? `the cohort that begins on ${formatInZone(cohort.starts_at, zone)}`
      : at === null
        ? 'any time that becomes free'
        : formatInZone(at, zone);
  return html`<section id="wait" tabindex="-1" aria-labelledby="wait-title">
<h2 id="wait-title">Waitlist</h2>
<p>You are joining the waitlist for ${what}. When a spot becomes available, we hold it for you and email you a link to book it.</p>
<form class="form book-form" method="post" action="${bookingPath(creator, product)}/waitlist">
${formError(form)}
<input type="hidden" name="zone" value="${zone}">
<input type="hidden" name="wait" value="${wait}">
${textField(form, { name: 'name', label: 'Your name', maxLength: 120, autocomplete: 'name' })}
${textField(form, { name: 'email', label: 'Email address', type: 'email', required: true, maxLength: 254, autocomplete: 'email' })}
<button class="button main" type="submit">Join the waitlist</button>
</form>
<p><a href="${urlWith(bookingPath(creator, product), zone, { month: choice.month }, 'when')}">Back to available times</a></p>
</section>`;
}

export function joinedPage(creator: Creator, product: ProductRow): Page {
  return bookingLayout({
    status: 200,
    title: 'Check your email',
    isPrivate: true,
    content: html`${testModeBanner(creator)}<p><bdi>${product.title}</bdi>, with <bdi>${creator.name}</bdi>. We emailed you a link. Use it to confirm your waitlist entry if you have not done so already, to check your position, or to leave the waitlist.</p>
<p><a href="${bookingPath(creator, product)}">Back to the booking page</a></p>`,
  });
}

/** Renders the confirmation page: after the payment, or immediately when the booking is free. */
export function bookedPage(
  creator: Creator,
  product: Pick<ProductRow, 'title'>,
  when: SafeHtml | null,
): Page {
  return bookingLayout({
    status: 200,
    title: 'Booked',
    isPrivate: true,
    content: html`${testModeBanner(creator)}<p>You have booked <bdi>${product.title}</bdi> with <bdi>${creator.name}</bdi>.</p>
${when}
<p>We emailed you a confirmation with a calendar entry and links to join, reschedule or cancel.</p>
<p><a href="${creatorBookingPath(creator)}">More by <bdi>${creator.name}</bdi></a></p>`,
  });
}
