import { linkPage, type Page } from '../../http/page.ts';
import type { AppError } from '../../kernel/errors.ts';
import { html } from '../../platform/html.ts';

/** The words of the pages that mails to subscribers lead to; they work without any script. */

interface Whose {
  creator: string;
  email: string;
}

const form = (token: string, label: string) =>
  html`<form class="form" method="post"><input type="hidden" name="token" value="${token}">
<button class="button main" type="submit">${label}</button></form>`;

export function confirmPage({ creator, email }: Whose, token: string): Page {
  return linkPage(
    200,
    'Subscribe?',
    html`<p>May <bdi>${creator}</bdi> write to <b><bdi>${email}</bdi></b>? You can leave the list whenever you like, by a link in each mail.</p>
${form(token, 'Yes, write to me')}`,
  );
}

export function confirmedPage(creator: string): Page {
  return linkPage(
    200,
    "You're subscribed",
    html`<p><bdi>${creator}</bdi> may write to you now. Each mail has a link to leave the list.</p>`,
  );
}

export function leavePage({ creator, email }: Whose, token: string): Page {
  return linkPage(
    200,
    'Unsubscribe?',
    html`<p><bdi>${creator}</bdi> will not write to <b><bdi>${email}</bdi></b> any more.</p>
${form(token, 'Unsubscribe')}`,
  );
}

export function leftPage(): Page {
  return linkPage(
    200,
    "You're unsubscribed",
    html`<p>You get no more mail from it. If you are put on it again, you are asked before.</p>`,
  );
}

export function failedPage(error: AppError): Page {
  if (error.code !== 'NOT_FOUND')
    return linkPage(error.status, 'That did not work', html`<p>${error.message}</p>`);
  return linkPage(
    404,
    'This link is not good any more',
    html`<p>It is too old, was replaced by another one, or is not whole. Ask to be put on the list again.</p>`,
  );
}
