import { emailLinkPage, type Page } from '../../../http/page.ts';
import { html } from '../../../platform/html.ts';
import type { EmailChangeOutcome } from './email-change.service.ts';
import { newPasswordFields } from './pages.views.ts';

export function confirmEmailForm(token: string): Page {
  return emailLinkPage(
    200,
    'Confirm your new email address',
    html`<form class="form" method="post" action="/change-email">
<input type="hidden" name="token" value="${token}">
<button class="button" type="submit">Confirm email address</button>
</form>`,
  );
}

/** @param problem message about the previously submitted password. */
export function revertEmailForm(token: string, problem?: string): Page {
  return emailLinkPage(
    problem === undefined ? 200 : 400,
    'Keep your current email address',
    html`<p>Your account keeps this email address, or gets it restored. The person who changed it knew your password, so choose a new one.</p>
<form class="form" method="post" action="/keep-email">
${newPasswordFields(token, problem)}
<button class="button" type="submit">Keep address and set password</button>
</form>`,
  );
}

const EXPIRED = emailLinkPage(
  404,
  'This link is invalid or has expired',
  html`<p>Links can be used once and expire after a while.</p>
<p><a class="button" href="/dashboard/account">Go to account settings</a></p>`,
);

const TAKEN = emailLinkPage(
  409,
  'This email address is already in use',
  html`<p>Another account uses this email address. Contact the operator of this platform if it belongs to you.</p>`,
);

export function emailChangeResult(purpose: 'CHANGE_EMAIL' | 'KEEP_EMAIL', outcome: EmailChangeOutcome): Page {
  if (outcome === 'EXPIRED') return EXPIRED;
  if (outcome === 'TAKEN') return TAKEN;
  return purpose === 'CHANGE_EMAIL'
    ? emailLinkPage(
        200,
        'Email address changed',
        html`<p>Use the new email address the next time you sign in.</p>
<p><a class="button" href="/dashboard/account">Go to account settings</a></p>`,
      )
    : emailLinkPage(
        200,
        'Email address kept',
        html`<p>All sessions were signed out and your new password is set. Review your API keys.</p>
<p><a class="button" href="/dashboard">Sign in</a></p>`,
      );
}
