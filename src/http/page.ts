import type { FastifyReply, FastifyRequest } from 'fastify';
import { html, type SafeHtml } from '../platform/html.ts';
import { NOT_BUILT, type PageAssets, type WebAssets } from './assets.ts';
import { staticResponse } from './static-response.ts';

/** One server-rendered page: complete before any script runs. */
export interface Page {
  status: number;
  title: string;
  /** Further elements of the head. */
  head?: SafeHtml;
  body: SafeHtml;
  bodyClass?: string;
  /** The script of the page by its source in `web/`; none on pages without one. */
  script?: string;
  /** Fetch early what the script would load later. */
  eager?: boolean;
  /**
   * Sites that may show the page in a frame: none, any, or those of these host patterns (CSP
   * frame-ancestors).
   */
  frames: "'none'" | '*' | readonly string[];
  /** Additional origins of its images and media. */
  mediaOrigins?: readonly string[];
  /** Additional origins that its script connects to. */
  connectOrigins?: readonly string[];
  /** All of its styles are in files: its policy allows no others. The player's controls bring their own. */
  hasPlainStyles?: boolean;
  /** The page has a form that posts to this site; the origins are those that its answers may lead to. */
  forms?: boolean | readonly string[];
}

const SITE = 'site/site.css';
const ICON = 'site/icon.svg';

/** Sends a page with its policy headers; 503 and one line while `web/` is not built. HEAD gets no body. */
export function sendPage(reply: FastifyReply, assets: WebAssets, page: Page): FastifyReply {
  setHeaders(reply, page);
  const text = textOf(assets, page);
  if (text === null) return sendNotBuilt(reply);
  return reply.status(page.status).type(HTML).send(text);
}

/** A page that stays the same while the program runs: compressed, and with a tag. */
export function staticPage(
  assets: WebAssets,
  page: Page,
): (request: FastifyRequest, reply: FastifyReply) => FastifyReply {
  let known: { text: string; answer: ReturnType<typeof staticResponse> } | null = null;
  return (request, reply) => {
    setHeaders(reply, page);
    const text = textOf(assets, page);
    if (text === null) return sendNotBuilt(reply);
    if (known?.text !== text) known = { text, answer: staticResponse(HTML, text) };
    return known.answer(request, reply.status(page.status));
  };
}

const HTML = 'text/html; charset=utf-8';

function setHeaders(reply: FastifyReply, page: Page): void {
  reply.headers({
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'strict-origin-when-cross-origin',
    'Content-Security-Policy': policy(page),
  });
}

function sendNotBuilt(reply: FastifyReply): FastifyReply {
  return reply.status(503).type('text/plain; charset=utf-8').send(`${NOT_BUILT}\n`);
}

/** null while the pages are not built. */
function textOf(assets: WebAssets, page: Page): string | null {
  const site = assets.entry(SITE);
  const script = page.script === undefined ? null : assets.entry(page.script);
  if (site === null) return null;
  return `<!doctype html>\n${documentOf(page, [site, ...(script ? [script] : [])], assets.url(ICON))}`;
}

/** A host in an address may have a semicolon, which ends a directive of a policy (CSP 3, 2.2). */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[\w.:[\]-]+$/i;
const onlyOrigins = (origins: readonly string[]) => origins.filter((origin) => ORIGIN.test(origin));

function policy(page: Page): string {
  const { script, frames, forms, hasPlainStyles, mediaOrigins = [], connectOrigins = [] } = page;
  const media = ["'self'", ...onlyOrigins(mediaOrigins)].join(' ');
  const directives = [
    "default-src 'none'",
    "script-src 'self'",
    // The player's controls bring their styles as style elements in their shadow trees.
    script === undefined || hasPlainStyles ? "style-src 'self'" : "style-src 'self' 'unsafe-inline'",
    `img-src ${media} data:`,
    // hls.js begins a caption track with an empty one out of a data address.
    `media-src ${media} blob: data:`,
    `connect-src ${[media, ...connectOrigins].join(' ')}`,
    "base-uri 'none'",
    // Browsers hold what a form's answer leads to against it, too.
    forms
      ? `form-action ${["'self'", ...(forms === true ? [] : onlyOrigins(forms))].join(' ')}`
      : "form-action 'none'",
    `frame-ancestors ${typeof frames === 'string' ? frames : ancestors(frames)}`,
  ];
  return directives.join('; ');
}

/** On any port; `http:` in a policy stands for `https:` as well. */
function ancestors(hosts: readonly string[]): string {
  return hosts.length === 0 ? "'none'" : hosts.map((host) => `http://${host}:*`).join(' ');
}

function documentOf(page: Page, assets: PageAssets[], icon: string | null): SafeHtml {
  const of = (pick: (asset: PageAssets) => string[]) => assets.flatMap(pick);
  const modules = of(({ preloads, lazy }) => (page.eager ? [...preloads, ...lazy] : preloads));
  return html`<html lang="en">
<head>
<meta charset="utf-8">
<title>${page.title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
${icon && html`<link rel="icon" href="${icon}" type="image/svg+xml">`}
${of(({ styles }) => styles).map((href) => html`<link rel="stylesheet" href="${href}">\n`)}${modules.map(
  (href) => html`<link rel="modulepreload" href="${href}">\n`,
)}${of(({ scripts }) => scripts).map((src) => html`<script type="module" src="${src}"></script>\n`)}${page.head}
</head>
<body${page.bodyClass && html` class="${page.bodyClass}"`}>
${page.body}
</body>
</html>
`;
}

/** The frame that every full page has: skip link, header, main, footer. */
export function siteLayout(mainClass: string, main: SafeHtml): SafeHtml {
  return html`<a class="skip" href="#main">Skip to content</a>
<header class="site-header"><a class="brand" href="/">${LOGO}Marquee</a></header>
<main class="${mainClass}" id="main">
${main}
</main>
<footer class="site-footer">Served by Marquee, the video platform that creators host themselves.</footer>`;
}

const LOGO = html`<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#1c1714"/><g fill="#f6b73c"><circle cx="7" cy="7" r="1.6"/><circle cx="13" cy="7" r="1.6"/><circle cx="19" cy="7" r="1.6"/><circle cx="25" cy="7" r="1.6"/><circle cx="7" cy="25" r="1.6"/><circle cx="13" cy="25" r="1.6"/><circle cx="19" cy="25" r="1.6"/><circle cx="25" cy="25" r="1.6"/></g><path d="M12.5 11.6v8.8a.9.9 0 0 0 1.37.77l7.1-4.4a.9.9 0 0 0 0-1.54l-7.1-4.4a.9.9 0 0 0-1.37.77Z" fill="#fff"/></svg>`;

/** A short page of words: something is missing, or what this server is. */
export function messagePage(options: {
  heading: string;
  text: string;
  links?: SafeHtml;
  isOff?: boolean;
}): SafeHtml {
  return siteLayout(
    'page notice',
    html`<div class="bulbs" aria-hidden="true"${options.isOff && html` data-off`}></div>
<h1>${options.heading}</h1>
<p>${options.text}</p>
${options.links}`,
  );
}

/** A page that a link in a mail leads to: a heading, and words or a form below it. Not for search engines. */
export function emailLinkPage(status: number, title: string, content: SafeHtml): Page {
  return {
    status,
    title: `${title} · Marquee`,
    head: html`<meta name="robots" content="noindex">`,
    body: siteLayout('page notice', html`<h1>${title}</h1>\n${content}`),
    frames: "'none'",
    forms: true,
  };
}
