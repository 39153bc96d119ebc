import { type Page, siteLayout } from '../../../http/page.ts';
import type { AppError } from '../../../kernel/errors.ts';
import { formatMoney, INTERVAL_LABELS } from '../../../kernel/format-money.ts';
import { html, type SafeHtml } from '../../../platform/html.ts';
import type { SubscriptionDetails } from '../subscriptions/index.ts';
import type { Creator, Member, OpenTier, Receipt } from './repository.ts';
import { memberPath } from './service.ts';

/** Texts and forms of the member page; they work without scripts. */

/** Content of the member page. */
export interface MemberView {
  creator: Creator;
  member: Member;
  /** Binds the forms to the session. */
  formToken: string;
  subscriptions: readonly SubscriptionDetails[];
  tiers: readonly OpenTier[];
  receipts: readonly Receipt[];
  watchable: readonly { id: string; title: string }[];
  /** Origins of the provider's card pages; empty: sandbox cards are typed here. */
  providerPages: readonly string[];
  /** Result or error of the last action. */
  news: { text: string; isProblem: boolean } | null;
}

export function creatorName({ name, username }: Creator): string {
  return name ?? username;
}

function page(
  status: number,
  title: string,
  content: SafeHtml,
  { mainClass = 'page notice', forms = [] }: { mainClass?: string; forms?: readonly string[] } = {},
): Page {
  return {
    status,
    title: `${title} · Marquee`,
    head: html`<meta name="robots" content="noindex">`,
    body: siteLayout(mainClass, html`<h1>${title}</h1>\n${content}`),
    frames: "'none'",
    forms,
  };
}

const testNote = ({ mode }: Creator) => mode === 'test' && html`<p>Test mode: no money moves.</p>`;

function requestFields(creator: Creator): SafeHtml {
  return html`<form class="form" method="post" action="${memberPath(creator)}/link">
<label class="field">Email address
<input type="email" name="email" required maxlength="254" autocomplete="email">
</label>
<button class="button" type="submit">Send link</button>
</form>`;
}

/** Returns the form that requests an emailed link. */
export function requestPage(creator: Creator): Page {
  return page(
    200,
    `Your membership with ${creatorName(creator)}`,
    html`${testNote(creator)}<p>Enter the email address you used to subscribe or buy. We email you a link to your subscriptions, card, receipts and content.</p>
${requestFields(creator)}`,
  );
}

/** Returns the same page for every email address, known or unknown. */
export function requestedPage(): Page {
  return page(
    200,
    'Check your email',
    html`<p>If there are purchases with this email address, we have sent a link. It works once, within 15 minutes.</p>`,
  );
}

/** Returns the page of a link. Email programs open links by themselves, so only the button consumes it. */
export function enterPage(creator: Creator, token: string): Page {
  return page(
    200,
    `Your membership with ${creatorName(creator)}`,
    html`<form class="form" method="post" action="${memberPath(creator)}/enter">
<input type="hidden" name="token" value="${token}">
<button class="button" type="submit">Continue</button>
</form>
<p>You'll stay signed in on this device for one day.</p>`,
  );
}

/** Returns the same page for unknown, used and expired links. */
export function expiredPage(creator: Creator): Page {
  return page(
    404,
    'This link is invalid or has expired',
    html`<p>Links work once, within 15 minutes. Request a new one below.</p>\n${requestFields(creator)}`,
  );
}

export function notFoundPage(): Page {
  return page(404, 'Creator not found', html`<p>The URL may be mistyped.</p>`);
}

export function errorPage(error: AppError): Page {
  const isMany = error.status === 429;
  const text = isMany ? 'Wait 15 minutes, then try again.' : error.message;
  return page(error.status, isMany ? 'Too many attempts' : 'Something went wrong', html`<p>${text}</p>`);
}

export function memberPage(view: MemberView, status = 200): Page {
  const { creator, member, subscriptions, news } = view;
  return page(
    status,
    `Your membership with ${creatorName(creator)}`,
    html`${testNote(creator)}${news && html`<p class="member-news" role="${news.isProblem ? 'alert' : 'status'}">${news.text}</p>`}
<p>Signed in as <b>${member.email}</b>.</p>
<section aria-labelledby="subscriptions"><h2 id="subscriptions">Subscriptions</h2>
${subscriptions.length === 0 && html`<p>No subscriptions.</p>`}
${subscriptions.map((row) => subscriptionCard(view, row))}</section>
${cardSection(view)}
${watchSection(view)}
${receiptSection(view)}
<form method="post" action="${memberPath(creator)}/leave">${hidden(view)}<button class="button" type="submit">Sign out</button></form>`,
    { mainClass: 'page member', forms: view.providerPages },
  );
}

function hidden({ formToken }: MemberView, subscriptionId?: string): SafeHtml {
  return html`<input type="hidden" name="formToken" value="${formToken}">${
    subscriptionId !== undefined && html`<input type="hidden" name="subscription" value="${subscriptionId}">`
  }`;
}

function day(date: Date, timeZone = 'UTC'): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone }).format(date);
}

function subscriptionCard(view: MemberView, row: SubscriptionDetails): SafeHtml {
  return html`<article class="member-card" aria-labelledby="${row.id}"><h3 id="${row.id}">${row.tier_name}</h3>
<p>${formatMoney(row.price_cents)} a ${INTERVAL_LABELS[row.interval]}. ${stateOf(row)} ${pendingOf(view, row)}</p>
${row.ended_at === null && html`<p>${paidWith(row)}</p>`}
${row.ended_at === null && actions(view, row)}</article>`;
}

function stateOf(row: SubscriptionDetails): string {
  const end = day(row.current_period_end, row.timezone);
  if (row.ended_at !== null) return `Ended on ${day(row.ended_at, row.timezone)}.`;
  if (row.is_disputed) return 'The last charge is disputed. Access is suspended until your bank decides.';
  if (row.cancel_at_period_end) return `Canceled; ends on ${end}.`;
  if (row.status === 'PAST_DUE' && row.payment_method === null)
    return 'No card is saved for this subscription. Pay now, or do nothing to let it end.';
  if (row.status === 'PAST_DUE') {
    const next = row.next_charge_at;
    return `Your card was declined.${next === null ? '' : ` We will retry on ${day(next, row.timezone)}.`} Pay now, or save another card below and use it for this subscription to retry immediately.`;
  }
  return row.status === 'TRIALING'
    ? `Your trial ends on ${end}, when you will be charged for the first time${row.payment_method === null ? ', if you agree to it' : ''}.`
    : `Renews on ${end}.`;
}

function paidWith({ payment_method: method }: SubscriptionDetails): string {
  return method === null
    ? 'No card is charged for this subscription.'
    : `Paid with ${method.brand} ending in ${method.last4}, expires ${String(method.expMonth).padStart(2, '0')}/${method.expYear}.`;
}

function pendingOf({ tiers }: MemberView, row: SubscriptionDetails): string | null {
  if (row.ended_at !== null || row.pending_price_cents === null) return null;
  const tier = tiers.find(({ id }) => id === row.pending_tier_id);
  const price = formatMoney(row.pending_price_cents);
  return tier === undefined
    ? `The price then changes to ${price}.`
    : `The tier then changes to ${tier.name}, for ${price}.`;
}

function actions(view: MemberView, row: SubscriptionDetails): SafeHtml {
  const path = memberPath(view.creator);
  const others = view.tiers.filter(({ id }) => id !== row.tier_id || row.pending_tier_id !== null);
  const canSwitch = row.status !== 'PAST_DUE' && !row.cancel_at_period_end && others.length > 0;
  const canPay = row.status === 'PAST_DUE' && !row.is_disputed && !row.cancel_at_period_end;
  const canUse = view.member.method_ref !== null && view.member.method_ref !== row.payment_method?.methodRef;
  return html`<div class="actions">
${
  canPay &&
  html`<form method="post" action="${path}/pay">${hidden(view, row.id)}
${isTyped(view) && view.member.method_ref === null && row.payment_method === null && cardField()}
<button class="button" type="submit" aria-describedby="${row.id}">Pay now</button></form>`
}
${
  canUse &&
  html`<form method="post" action="${path}/use">${hidden(view, row.id)}
<button class="button" type="submit" aria-describedby="${row.id}">Pay with ${view.member.card_brand} ending in ${view.member.card_last4}</button></form>`
}
<form method="post" action="${path}/${row.cancel_at_period_end ? 'resume' : 'cancel'}">${hidden(view, row.id)}
<button class="button" type="submit" aria-describedby="${row.id}">${row.cancel_at_period_end ? 'Resume' : 'Cancel'}</button></form>
${
  canSwitch &&
  html`<form class="member-switch" method="post" action="${path}/switch">${hidden(view, row.id)}
<label class="field">Switch to
<select name="tier">${others.map((tier) => html`<option value="${tier.id}">${tier.name}, ${formatMoney(tier.price_cents)} a ${INTERVAL_LABELS[tier.interval]}</option>`)}</select></label>
<button class="button" type="submit">Switch</button></form>
<p>A more expensive tier with the same interval starts immediately, and you are charged the difference now (the full price during a trial). Any other tier starts with the next period.</p>`
}
</div>`;
}

function cardSection(view: MemberView): SafeHtml {
  const { creator, member } = view;
  const { card_brand: brand, card_last4: last4, card_exp_month: month, card_exp_year: year } = member;
  const known =
    brand === null
      ? 'No saved card.'
      : `${brand} ending in ${last4}${year === null ? '' : `, expires ${String(month).padStart(2, '0')}/${year}`}.`;
  return html`<section aria-labelledby="card"><h2 id="card">Card</h2>
<p>${known} It is used only for the subscriptions you select.</p>
<form class="form" method="post" action="${memberPath(creator)}/card">${hidden(view)}
${isTyped(view) && cardField()}
<button class="button" type="submit">${brand === null ? 'Save card' : 'Replace card'}</button></form></section>`;
}

/** Cards are typed here, as those of the sandbox are. */
const isTyped = ({ providerPages }: MemberView) => providerPages.length === 0;

function cardField(): SafeHtml {
  return html`<label class="field">Test card number (real cards are not accepted)
<input name="card" required maxlength="23" inputmode="numeric" autocomplete="off" placeholder="4242 4242 4242 4242">
</label>`;
}

function watchSection({ watchable }: MemberView): SafeHtml {
  const list = watchable.map(
    ({ id, title }) => html`<li><a href="/watch/${id}"><bdi>${title}</bdi></a></li>`,
  );
  return html`<section aria-labelledby="watch"><h2 id="watch">Your content</h2>
${list.length === 0 ? html`<p>Nothing yet.</p>` : html`<ul>${list}</ul>`}</section>`;
}

const STATES: Partial<Record<Receipt['status'], string>> = {
  REFUNDED: 'refunded',
  DISPUTED: 'disputed',
};

function receiptSection({ receipts }: MemberView): SafeHtml {
  const rows = receipts.map((row) => {
    const state =
      row.status === 'PARTIALLY_REFUNDED'
        ? `${formatMoney(row.refunded_cents)} refunded`
        : STATES[row.status];
    return html`<tr><td>${row.paid_at && day(row.paid_at)}</td><td><bdi>${row.video ?? row.tier ?? row.kind}</bdi></td><td>${formatMoney(row.amount_cents)}${state && html`, ${state}`}</td></tr>`;
  });
  return html`<section aria-labelledby="receipts"><h2 id="receipts">Receipts</h2>
${
  rows.length === 0
    ? html`<p>No charges yet.</p>`
    : html`<table class="member-receipts"><thead><tr><th scope="col">Date</th><th scope="col">Item</th><th scope="col">Amount</th></tr></thead><tbody>${rows}</tbody></table>`
}</section>`;
}
