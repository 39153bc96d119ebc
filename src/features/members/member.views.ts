import { type Page, siteFrame } from '../../http/page.ts';
import type { AppError } from '../../kernel/errors.ts';
import { every, money } from '../../kernel/money.ts';
import { html, type SafeHtml } from '../../platform/html.ts';
import type { ShownSubscription } from '../subscriptions/index.ts';
import type { Creator, Member, OpenTier, Receipt } from './repository.ts';
import { memberPath } from './service.ts';

/** The words and forms of the member page; they work without any script. */

/** All that a member sees. */
export interface MemberView {
  creator: Creator;
  member: Member;
  /** Binds the forms to the session. */
  formToken: string;
  subscriptions: readonly ShownSubscription[];
  tiers: readonly OpenTier[];
  receipts: readonly Receipt[];
  watchable: readonly { id: string; title: string }[];
  /** Origins where the provider asks for cards; none: those of the sandbox are typed here. */
  providerPages: readonly string[];
  /** What was just done, or could not be done. */
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
    body: siteFrame(mainClass, html`<h1>${title}</h1>\n${content}`),
    frames: "'none'",
    forms,
  };
}

const testNote = ({ mode }: Creator) =>
  mode === 'test' && html`<p>This is the test mode: no money moves.</p>`;

function requestFields(creator: Creator): SafeHtml {
  return html`<form class="form" method="post" action="${memberPath(creator)}/link">
<label class="field">E-mail address
<input type="email" name="email" required maxlength="254" autocomplete="email">
</label>
<button class="button" type="submit">Send me a link</button>
</form>`;
}

/** Asks for an address to send a link to. */
export function requestPage(creator: Creator): Page {
  return page(
    200,
    `Your membership with ${creatorName(creator)}`,
    html`${testNote(creator)}<p>Give the address that you subscribed or bought with. We mail you a link to your subscriptions, card and receipts, and to what you can watch.</p>
${requestFields(creator)}`,
  );
}

/** Said for every address, whether or not it is known. */
export function requestedPage(): Page {
  return page(
    200,
    'Check your email',
    html`<p>If something was bought with this address, a link is on its way. It works once, for 15 minutes.</p>`,
  );
}

/** Mail programs open links by themselves: only the button spends it. */
export function enterPage(creator: Creator, token: string): Page {
  return page(
    200,
    `Your membership with ${creatorName(creator)}`,
    html`<form class="form" method="post" action="${memberPath(creator)}/enter">
<input type="hidden" name="token" value="${token}">
<button class="button" type="submit">Go on</button>
</form>
<p>You'll stay signed in on this device for one day.</p>`,
  );
}

/** The link is unknown, used or too old; the three look the same. */
export function expiredPage(creator: Creator): Page {
  return page(
    404,
    'This link is invalid or has expired',
    html`<p>A link works once, for 15 minutes. You can have a new one.</p>\n${requestFields(creator)}`,
  );
}

export function missingPage(): Page {
  return page(404, 'Creator not found', html`<p>The address may be mistyped.</p>`);
}

export function failedPage(error: AppError): Page {
  const isMany = error.status === 429;
  const text = isMany ? 'Wait a quarter of an hour, then try again.' : error.message;
  return page(error.status, isMany ? 'Too many tries' : 'That did not work', html`<p>${text}</p>`);
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

function subscriptionCard(view: MemberView, row: ShownSubscription): SafeHtml {
  return html`<article class="member-card" aria-labelledby="${row.id}"><h3 id="${row.id}">${row.tier_name}</h3>
<p>${money(row.price_cents)} a ${every[row.interval]}. ${stateOf(row)} ${pendingOf(view, row)}</p>
${row.ended_at === null && html`<p>${paidWith(row)}</p>`}
${row.ended_at === null && actions(view, row)}</article>`;
}

function stateOf(row: ShownSubscription): string {
  const end = day(row.current_period_end, row.timezone);
  if (row.ended_at !== null) return `It ended on ${day(row.ended_at, row.timezone)}.`;
  if (row.is_disputed)
    return 'Your bank looks into the last charge: until it has decided, nothing is opened.';
  if (row.cancel_at_period_end) return `It is canceled, and ends on ${end}.`;
  if (row.status === 'PAST_DUE' && row.payment_method === null)
    return 'No card was given for it, and none of yours is charged unless you want that: pay now, or leave it, and it ends.';
  if (row.status === 'PAST_DUE') {
    const next = row.next_charge_at;
    return `Your card was declined.${next === null ? '' : ` It is tried again on ${day(next, row.timezone)}.`} Pay now; or save another card below and use it for this subscription, and it is tried at once.`;
  }
  return row.status === 'TRIALING'
    ? `Your trial ends on ${end}; the first charge is then${row.payment_method === null ? ', if you agree to it' : ''}.`
    : `It renews on ${end}.`;
}

function paidWith({ payment_method: method }: ShownSubscription): string {
  return method === null
    ? 'No card is charged for it.'
    : `It is paid with ${method.brand}, ends in ${method.last4}, good until ${String(method.expMonth).padStart(2, '0')}/${method.expYear}.`;
}

function pendingOf({ tiers }: MemberView, row: ShownSubscription): string | null {
  if (row.ended_at !== null || row.pending_price_cents === null) return null;
  const tier = tiers.find(({ id }) => id === row.pending_tier_id);
  const price = money(row.pending_price_cents);
  return tier === undefined ? `It then costs ${price}.` : `It is then ${tier.name}, for ${price}.`;
}

function actions(view: MemberView, row: ShownSubscription): SafeHtml {
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
<button class="button" type="submit" aria-describedby="${row.id}">Pay for it with ${view.member.card_brand}, ends in ${view.member.card_last4}</button></form>`
}
<form method="post" action="${path}/${row.cancel_at_period_end ? 'resume' : 'cancel'}">${hidden(view, row.id)}
<button class="button" type="submit" aria-describedby="${row.id}">${row.cancel_at_period_end ? 'Keep it' : 'Cancel it'}</button></form>
${
  canSwitch &&
  html`<form class="member-switch" method="post" action="${path}/switch">${hidden(view, row.id)}
<label class="field">Switch to
<select name="tier">${others.map((tier) => html`<option value="${tier.id}">${tier.name}, ${money(tier.price_cents)} a ${every[tier.interval]}</option>`)}</select></label>
<button class="button" type="submit">Switch</button></form>
<p>A dearer tier with the same interval begins at once, and the difference is charged now; during a trial, its whole price. Any other begins with the next period.</p>`
}
</div>`;
}

function cardSection(view: MemberView): SafeHtml {
  const { creator, member } = view;
  const { card_brand: brand, card_last4: last4, card_exp_month: month, card_exp_year: year } = member;
  const known =
    brand === null
      ? 'No saved card.'
      : `${brand}, ends in ${last4}${year === null ? '' : `, good until ${String(month).padStart(2, '0')}/${year}`}.`;
  return html`<section aria-labelledby="card"><h2 id="card">Card</h2>
<p>${known} It pays only for the subscriptions that you choose it for.</p>
<form class="form" method="post" action="${memberPath(creator)}/card">${hidden(view)}
${isTyped(view) && cardField()}
<button class="button" type="submit">${brand === null ? 'Save a card' : 'Save another card'}</button></form></section>`;
}

/** Cards are typed here, as those of the sandbox are. */
const isTyped = ({ providerPages }: MemberView) => providerPages.length === 0;

function cardField(): SafeHtml {
  return html`<label class="field">Number of a test card: no real card is taken here
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
      row.status === 'PARTIALLY_REFUNDED' ? `${money(row.refunded_cents)} refunded` : STATES[row.status];
    return html`<tr><td>${row.paid_at && day(row.paid_at)}</td><td><bdi>${row.video ?? row.tier ?? row.kind}</bdi></td><td>${money(row.amount_cents)}${state && html`, ${state}`}</td></tr>`;
  });
  return html`<section aria-labelledby="receipts"><h2 id="receipts">Receipts</h2>
${
  rows.length === 0
    ? html`<p>No charges yet.</p>`
    : html`<table class="member-receipts"><thead><tr><th scope="col">Day</th><th scope="col">What</th><th scope="col">Amount</th></tr></thead><tbody>${rows}</tbody></table>`
}</section>`;
}
