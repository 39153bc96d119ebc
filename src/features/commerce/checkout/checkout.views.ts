import { type Page, siteLayout } from '../../../http/page.ts';
import type { AppError } from '../../../kernel/errors.ts';
import { formatMoney, INTERVAL_LABELS } from '../../../kernel/format-money.ts';
import { formatInZone } from '../../../kernel/format-time.ts';
import { html, type SafeHtml } from '../../../platform/html.ts';
import { type CheckoutRow, listPriceOf, nextCharge, successUrl } from './rules.ts';
import type { Seller } from './sellers.ts';

/** Texts and forms of the page on which a buyer pays; they work without scripts. */

/** Content of the checkout page. */
export interface CheckoutView {
  row: CheckoutRow;
  seller: Seller;
  /** Hold of a booking: its end (null when there is none), and the time zone of the buyer or the creator. */
  hold: { until: Date | null; timezone: string } | null;
  now: Date;
  /** Binds the forms to the checkout. */
  formToken: string;
  /** Whether test cards are typed on this page; real cards are entered on the provider's page. */
  isSandbox: boolean;
  /** Origins to which the forms may redirect. */
  targets: readonly string[];
  /** Input of the previous attempt, which failed. */
  typed?: { email: string; code: string };
  problem?: Problem;
}

/** Reason why a payment failed, and the input it concerns. */
export interface Problem {
  status: number;
  text: string;
  field: 'email' | 'card' | 'code' | null;
}

interface Framed {
  status: number;
  title: string;
  content: SafeHtml;
  targets?: readonly string[];
  head?: SafeHtml;
}

function page({ status, title, content, targets = [], head }: Framed): Page {
  return {
    status,
    title: `${title} · Marquee`,
    head: html`<meta name="robots" content="noindex">${head}`,
    body: siteLayout('page checkout', html`<h1>${title}</h1>\n${content}`),
    frames: "'none'",
    forms: targets,
  };
}

const testNote = ({ mode }: Seller) =>
  mode === 'test' && html`<p class="checkout-note">Test mode: no money moves.</p>`;

const VERBS = { SUBSCRIPTION: 'Subscribe to', VIDEO: 'Buy', BOOKING: 'Book' } as const;

/** Renders the payment form with all information that a buyer needs beforehand. */
export function payPage(view: CheckoutView): Page {
  const { row, seller, problem } = view;
  const verb = VERBS[row.kind];
  const asWhole = problem !== undefined && problem.field === null;
  return page({
    status: problem?.status ?? 200,
    title: `${verb} ${row.title}`,
    targets: view.targets,
    content: html`<p>By <bdi>${seller.name}</bdi></p>
${testNote(seller)}
${asWhole && html`<p class="problem" role="alert">${problem.text}</p>`}
${prices(view)}
${renderHold(view)}
${codeForm(view)}
${payForm(view)}
<form method="post" action="/checkout/${row.id}/cancel">
<input type="hidden" name="token" value="${view.formToken}">
<button class="button" type="submit">Cancel and go back</button>
</form>`,
  });
}

function prices({ row, now, seller }: CheckoutView): SafeHtml {
  const isTrial = row.kind === 'SUBSCRIPTION' && row.trial_days > 0;
  return html`<dl class="checkout-prices">
<div><dt>${row.title}</dt><dd>${formatMoney(listPriceOf(row))}${row.interval && ` ${each(row)}`}</dd></div>
${
  row.discount_cents > 0 &&
  html`<div><dt>Code <bdi>${row.discount_code}</bdi>${row.interval && ', first payment only'}</dt><dd>−${formatMoney(row.discount_cents)}</dd></div>`
}
<div class="checkout-due"><dt>Due now</dt><dd>${formatMoney(isTrial ? 0 : row.amount_cents)}</dd></div>
</dl>
${row.kind === 'SUBSCRIPTION' ? renewal(row, { now, timezone: seller.timezone }) : html`<p>${ONCE[row.kind]}</p>`}`;
}

const ONCE = {
  VIDEO: 'One-time purchase. Watch as often as you like.',
  BOOKING: 'We email you a confirmation with a link to manage your booking.',
} as const;

/** Renders the payment deadline of a booking and the slot reserved until then. */
function renderHold({ row, hold }: CheckoutView): SafeHtml | false {
  if (hold === null) return false;
  const until = hold.until ?? row.expires_at;
  const time = html`<time datetime="${until.toISOString()}">${formatInZone(until, hold.timezone)}</time>`;
  return hold.until === null
    ? html`<p class="checkout-hold">You can pay until ${time}. Your seat is reserved once you have paid.</p>`
    : html`<p class="checkout-hold">The time is held for you until ${time}.</p>`;
}

const each = ({ interval }: CheckoutRow) => `each ${interval === null ? 'time' : INTERVAL_LABELS[interval]}`;

/** Renders the next charge and how to cancel. */
function renewal(row: CheckoutRow, { now, timezone }: { now: Date; timezone: string }): SafeHtml {
  const price = listPriceOf(row);
  const trial =
    row.trial_days > 0 &&
    html`<p>The first ${row.trial_days} days are free, once per person. If you have used the trial before, you pay ${formatMoney(row.amount_cents)} now.</p>`;
  if (price === 0) return html`<p>It is free, and you can cancel at any time.</p>`;
  const first = row.trial_days > 0 ? row.amount_cents : price;
  return html`${trial}
<p>The next payment is ${formatMoney(first)} on ${nextCharge(now, row, { trialDays: row.trial_days, timezone })}, then ${formatMoney(price)} ${each(row)}, until you cancel. You can cancel at any time with the link in the receipt we email you.</p>`;
}

function codeForm(view: CheckoutView): SafeHtml {
  const { row, formToken, problem, typed } = view;
  const isWrong = problem?.field === 'code';
  return html`<form class="form" method="post" action="/checkout/${row.id}/code">
<input type="hidden" name="token" value="${formToken}">
<label class="field">Discount code (optional)
<input name="code" maxlength="64" autocomplete="off" autocapitalize="characters" value="${typed?.code ?? row.discount_code ?? ''}"${
    isWrong && html` aria-invalid="true" aria-describedby="problem"`
  }>
</label>
${isWrong && html`<p class="problem" id="problem" role="alert">${problem.text}</p>`}
<button class="button" type="submit">Apply code</button>
</form>`;
}

function payForm(view: CheckoutView): SafeHtml {
  const { row, formToken, problem, typed, isSandbox } = view;
  const isFree = row.amount_cents === 0 && row.trial_days === 0;
  const wrong = (field: Problem['field']) =>
    problem?.field === field && html` aria-invalid="true" aria-describedby="problem"`;
  const told = (field: Problem['field']) =>
    problem?.field === field && html`<p class="problem" id="problem" role="alert">${problem.text}</p>`;
  const card =
    isSandbox &&
    !isFree &&
    html`<label class="field">Card number
<input name="card" inputmode="numeric" autocomplete="off" maxlength="32" aria-describedby="card-hint"${row.trial_days === 0 && html` required`}${wrong('card')}>
</label>
<p class="checkout-hint" id="card-hint">Use a test card, such as 4242 4242 4242 4242. Never enter a real card here.</p>
${told('card')}`;
  return html`<form class="form" method="post" action="/checkout/${row.id}/pay">
<input type="hidden" name="token" value="${formToken}">
<label class="field">Email address, for your receipt and access
<input type="email" name="email" required maxlength="254" autocomplete="email" value="${typed?.email ?? row.customer_email ?? ''}"${row.kind === 'BOOKING' && html` readonly`}${wrong('email')}>
</label>
${told('email')}
${card}
<button class="button main" type="submit">${buttonText(view)}</button>
${!isSandbox && !isFree && html`<p class="checkout-hint">You pay on the payment provider's page and return here afterwards.</p>`}
</form>`;
}

function buttonText({ row }: CheckoutView): string {
  if (row.kind === 'SUBSCRIPTION' && row.trial_days > 0) return 'Begin';
  return row.amount_cents === 0 ? 'Get it' : `Pay ${formatMoney(row.amount_cents)}`;
}

export function paidPage(row: CheckoutRow, seller: Seller): Page {
  return page({
    status: 200,
    title: row.kind === 'BOOKING' ? 'Booked. Thank you.' : 'Paid. Thank you.',
    content: html`${testNote(seller)}<p>${row.title}, by <bdi>${seller.name}</bdi>. A ${row.kind === 'BOOKING' ? 'confirmation' : 'receipt'} with a link to your content is on its way to your email address.</p>
<p><a class="button main" href="${successUrl(row)}">Continue</a></p>`,
  });
}

/** Renders the waiting page, which reloads by itself, without scripts. */
export function waitingPage(row: CheckoutRow): Page {
  return page({
    status: 200,
    title: 'Payment processing',
    head: html`<meta http-equiv="refresh" content="5">`,
    content: html`<p>The payment provider has not confirmed the payment yet. You are charged at most once. This page refreshes automatically.</p>
<p><a class="button" href="/checkout/${row.id}/return">Refresh</a></p>`,
  });
}

export function expiredPage(row: CheckoutRow): Page {
  const canceled = row.status === 'CANCELED';
  return page({
    status: 410,
    title: canceled ? 'Checkout canceled' : 'Checkout ended',
    content: html`<p>Nothing was charged. To buy, start again from the page you came from.</p>
<p><a class="button" href="${row.cancel_url}">Go back</a></p>`,
  });
}

/** Page for a missing checkout and for one whose creator is suspended. */
export const CHECKOUT_NOT_FOUND: Page = page({
  status: 404,
  title: 'Checkout not found',
  content: html`<p>The URL may be mistyped. Start again from the page you came from.</p>`,
});

export function errorPage(error: AppError): Page {
  const title = error.status === 429 ? 'Too many attempts' : 'Something went wrong';
  const text = error.status === 429 ? 'Wait a few minutes, then try again.' : error.message;
  return page({ status: error.status, title, content: html`<p>${text}</p>` });
}
