import { failurePage } from '../../../http/forms.ts';
import { messagePage, type Page, siteLayout } from '../../../http/page.ts';
import type { AppError } from '../../../kernel/errors.ts';
import { html } from '../../../platform/html.ts';
import { MAX_REPORT, REASONS, type Reported } from './rules.ts';

/** Texts of the form that reports a public page; it works without scripts. */

const RESOURCE_NAMES: Readonly<Record<Reported['type'], string>> = {
  VIDEO: 'video',
  STREAM: 'live stream',
  CHANNEL: 'channel',
};

const noindex = html`<meta name="robots" content="noindex">`;

/** Submitted values of the form, and its error. */
export interface FormState {
  reason: string;
  message: string;
  email: string;
  problem: { field: string; text: string } | null;
}

export const EMPTY: FormState = { reason: REASONS[0], message: '', email: '', problem: null };

export function reportPage({ type, path }: Reported, { reason, message, email, problem }: FormState): Page {
  const title = `Report this ${RESOURCE_NAMES[type]}`;
  const wrong = (field: string) =>
    problem?.field === field &&
    html`<p class="problem" id="${field}-problem" role="alert">${problem.text}</p>`;
  const marked = (field: string) =>
    problem?.field === field && html` aria-invalid="true" aria-describedby="${field}-problem"`;
  return {
    status: problem === null ? 200 : 400,
    title: `${title} · Marquee`,
    head: noindex,
    body: siteLayout(
      'page notice',
      html`<h1>${title}</h1>
<p>Your report about <a href="${path}">${path}</a> goes to the operator of this platform, not to the creator. No account is required.</p>
<form class="form" method="post">
<p class="field"><label for="reason">Reason</label>
<select id="reason" name="reason">${REASONS.map(
        (one) => html`<option${one === reason && html` selected`}>${one}</option>`,
      )}</select></p>
<p class="field"><label for="message">Details</label>
<textarea id="message" name="message" rows="6" maxlength="${MAX_REPORT}"${marked('message')}>${message}</textarea></p>
${wrong('message')}
<p class="field"><label for="email">Your email address (optional, for a reply)</label>
<input id="email" name="email" type="email" autocomplete="email" maxlength="254" value="${email}"${marked('email')}></p>
${wrong('email')}
<button class="button main" type="submit">Send report</button>
</form>`,
    ),
    frames: "'none'",
    forms: true,
  };
}

export function submittedPage({ path }: Reported): Page {
  return {
    status: 200,
    title: 'Thank you · Marquee',
    head: noindex,
    body: messagePage({
      heading: 'Thank you',
      text: 'Your report was sent to the operator of this platform.',
      links: html`<p><a href="${path}">Back</a></p>`,
    }),
    frames: "'none'",
  };
}

export function failedPage(error: AppError): Page {
  return failurePage(error, {
    heading: 'Nothing to report',
    text: 'The URL may be mistyped. Use the “Report” link on the page you want to report.',
  });
}
