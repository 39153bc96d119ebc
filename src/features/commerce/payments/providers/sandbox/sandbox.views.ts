import { type Page, siteLayout } from '../../../../../http/page.ts';
import { html, type SafeHtml } from '../../../../../platform/html.ts';
import type { SandboxPayment } from './repository.ts';

/** Renders a page of the sandbox; it works without scripts. */

function page(status: number, title: string, content: SafeHtml, head?: SafeHtml): Page {
  return {
    status,
    title: `${title} · Marquee`,
    head: html`<meta name="robots" content="noindex">${head}`,
    body: siteLayout('page notice', html`<h1>${title}</h1>\n${content}`),
    frames: "'none'",
    forms: true,
  };
}

const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });

/** Returns the confirmation page of the customer's bank. */
export function confirmPage(payment: SandboxPayment): Page {
  const { ref, amount_cents: cents, description } = payment;
  return page(
    200,
    'Confirm payment',
    html`<p>This simulates a bank's page: no money moves. ${description} costs ${dollars.format(cents / 100)}.</p>
<form class="form" method="post" action="/sandbox/confirm/${ref}">
<button class="button" type="submit" name="outcome" value="complete">Complete</button>
<button class="button" type="submit" name="outcome" value="fail">Fail</button>
</form>`,
  );
}

/**
 * Returns a page instead of a redirect: browsers would apply this page's form-action policy to the shop's
 * URL.
 */
export function returnPage(url: string): Page {
  return page(
    200,
    'Thank you',
    html`<p>Redirecting… <a href="${url}">Continue</a> if nothing happens.</p>`,
    html`<meta http-equiv="refresh" content="0; url=${url}">`,
  );
}

export function endedPage(): Page {
  return page(
    404,
    'Nothing to confirm',
    html`<p>This payment has ended or does not exist. Go back to the page where you paid.</p>`,
  );
}

export function accountPage(): Page {
  return page(
    200,
    'Account complete',
    html`<p>The sandbox accepts payments for everyone and needs no details: no money moves.</p>
<p><a href="/dashboard">Back to the dashboard</a></p>`,
  );
}
