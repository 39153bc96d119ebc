import { emailLinkPage, type Page } from '../../../http/page.ts';
import type { AppError } from '../../../kernel/errors.ts';
import type { EmailLinkRequestPurpose as LinkPurpose } from '../../../platform/db/tables.generated.ts';
import { html, type SafeHtml } from '../../../platform/html.ts';

/** Texts and forms of the sign-in pages; they work without scripts. */

const EMAIL_FIELD = html`<label class="field">Email address
<input type="email" name="email" required maxlength="254" autocomplete="email">
</label>`;

const REQUESTS: Record<LinkPurpose, { action: string; title: string; text: string }> = {
  VERIFY_EMAIL: {
    action: '/verify-email',
    title: 'Verify your email address',
    text: "We'll send a link to the email address you registered with.",
  },
  RESET_PASSWORD: {
    action: '/forgot-password',
    title: 'Reset your password',
    text: "We'll send a link to your account's email address.",
  },
};

function requestFields(purpose: LinkPurpose): SafeHtml {
  return html`<form class="form" method="post" action="${REQUESTS[purpose].action}">
${EMAIL_FIELD}
<button class="button" type="submit">Send link</button>
</form>`;
}

/** Renders the form that requests a link. */
export function requestForm(purpose: LinkPurpose): Page {
  const { title, text } = REQUESTS[purpose];
  return emailLinkPage(200, title, html`<p>${text}</p>\n${requestFields(purpose)}`);
}

/** Renders the same page for every address, whether or not it has an account. */
export function requested(purpose: LinkPurpose): Page {
  const unless = purpose === 'VERIFY_EMAIL' ? ' that is not confirmed yet' : '';
  return emailLinkPage(
    200,
    'Check your email',
    html`<p>If there is an account${unless} with this email address, we have sent a link. It may take a minute to arrive.</p>`,
  );
}

export function confirmForm(token: string): Page {
  return emailLinkPage(
    200,
    REQUESTS.VERIFY_EMAIL.title,
    html`<form class="form" method="post" action="/verify-email">
<input type="hidden" name="token" value="${token}">
<button class="button" type="submit">Confirm email address</button>
</form>`,
  );
}

/** Renders the token and a new password with the problem of the previous one. */
export function newPasswordFields(token: string, problem: string | undefined): SafeHtml {
  return html`<input type="hidden" name="token" value="${token}">
<label class="field">New password (at least 12 characters)
<input type="password" name="password" required minlength="12" autocomplete="new-password"${
    problem !== undefined && html` aria-invalid="true" aria-describedby="problem"`
  }>
</label>
${problem !== undefined && html`<p class="problem" id="problem" role="alert">${problem}</p>`}`;
}

/** @param problem message about the previously submitted password. */
export function passwordForm(token: string, problem?: string): Page {
  return emailLinkPage(
    problem === undefined ? 200 : 400,
    REQUESTS.RESET_PASSWORD.title,
    html`<form class="form" method="post" action="/reset-password">
${newPasswordFields(token, problem)}
<button class="button" type="submit">Set password</button>
</form>`,
  );
}

/** Renders the same page for an unknown, used or expired link. */
export function expired(purpose: LinkPurpose): Page {
  return emailLinkPage(
    404,
    'This link is invalid or has expired',
    html`<p>Links can be used once and expire. Request a new one below.</p>\n${requestFields(purpose)}`,
  );
}

export function done(purpose: LinkPurpose): Page {
  return purpose === 'VERIFY_EMAIL'
    ? emailLinkPage(
        200,
        'Email address verified',
        html`<p>Your API keys are now active.</p>
<p><a class="button" href="/dashboard/welcome">Create your first API key</a></p>`,
      )
    : emailLinkPage(
        200,
        'Password changed',
        html`<p>You have been signed out on all devices.</p>
<p><a class="button" href="/dashboard">Sign in with the new password</a></p>`,
      );
}

export function failed(error: AppError): Page {
  const title = error.status === 429 ? 'Too many attempts' : 'Something went wrong';
  const text = error.status === 429 ? 'Wait 15 minutes, then try again.' : error.message;
  return emailLinkPage(error.status, title, html`<p>${text}</p>`);
}
