import { emailLinkPage, type Page } from '../../../http/page.ts';
import type { AppError } from '../../../kernel/errors.ts';
import { html } from '../../../platform/html.ts';

/** Texts of the pages that subscriber emails link to; they work without a script. */

interface SubscriptionDetails {
  creator: string;
  email: string;
}

const form = (token: string, label: string) =>
  html`<form class="form" method="post"><input type="hidden" name="token" value="${token}">
<button class="button main" type="submit">${label}</button></form>`;

export function confirmPage({ creator, email }: SubscriptionDetails, token: string): Page {
  return emailLinkPage(
    200,
    'Subscribe?',
    html`<p>Subscribe <b><bdi>${email}</bdi></b> to emails from <bdi>${creator}</bdi>? You can unsubscribe at any time with the link in each email.</p>
${form(token, 'Subscribe')}`,
  );
}

export function confirmedPage(creator: string): Page {
  return emailLinkPage(
    200,
    "You're subscribed",
    html`<p>You are subscribed to emails from <bdi>${creator}</bdi>. Each email has an unsubscribe link.</p>`,
  );
}

export function unsubscribePage({ creator, email }: SubscriptionDetails, token: string): Page {
  return emailLinkPage(
    200,
    'Unsubscribe?',
    html`<p><b><bdi>${email}</bdi></b> will no longer receive emails from <bdi>${creator}</bdi>.</p>
${form(token, 'Unsubscribe')}`,
  );
}

export function unsubscribedPage(): Page {
  return emailLinkPage(
    200,
    "You're unsubscribed",
    html`<p>You will receive no more emails from this list. If you are added again, you will be asked to confirm.</p>`,
  );
}

export function errorPage(error: AppError): Page {
  if (error.code !== 'NOT_FOUND')
    return emailLinkPage(error.status, 'Something went wrong', html`<p>${error.message}</p>`);
  return emailLinkPage(
    404,
    'This link is invalid or has expired',
    html`<p>The link has expired, was replaced by a newer one, or is incomplete. Ask to be added to the list again.</p>`,
  );
}
