import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { html, type SafeHtml } from '../platform/html.ts';
import { NOT_BUILT, type WebAssets } from './assets.ts';

const SCRIPT = 'dashboard/main.tsx';
const ICON = 'site/icon.svg';

interface Options {
  assets: WebAssets;
  /** Additional origins of images. */
  mediaOrigins: readonly string[];
}

/**
 * `GET /dashboard` and every address below it: the one page of the dashboard, whose script finds out by the
 * address what to show (docs/decisions/dashboard.md#policy).
 */
export function dashboardPage({ assets, mediaOrigins }: Options): (app: FastifyInstance) => void {
  return (app) => {
    for (const path of ['/dashboard', '/dashboard/*']) {
      app.get(path, (_request, reply) => sendDashboard(reply, assets, mediaOrigins));
    }
  };
}

function sendDashboard(
  reply: FastifyReply,
  assets: WebAssets,
  mediaOrigins: readonly string[],
): FastifyReply {
  const nonce = randomBytes(16).toString('base64');
  reply.headers({
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'same-origin',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Content-Security-Policy': policy(nonce, mediaOrigins),
  });
  const text = documentOf(assets, nonce);
  if (text === null) return reply.status(503).type('text/plain; charset=utf-8').send(`${NOT_BUILT}\n`);
  return reply.type('text/html; charset=utf-8').send(`<!doctype html>\n${text}`);
}

function policy(nonce: string, mediaOrigins: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    // The components write their style elements themselves, with this nonce.
    `style-src 'self' 'nonce-${nonce}'`,
    // Images chosen for an upload are previewed from a blob.
    `img-src ${["'self'", ...mediaOrigins].join(' ')} data: blob:`,
    "media-src 'self' blob: data:",
    "connect-src 'self'",
    // The preview is the embedded player.
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Null while `web/` is not built. */
function documentOf(assets: WebAssets, nonce: string): SafeHtml | null {
  const entry = assets.entry(SCRIPT);
  if (entry === null) return null;
  const icon = assets.url(ICON);
  return html`<html lang="en">
<head>
<meta charset="utf-8">
<title>Marquee</title>
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="style-nonce" nonce="${nonce}">
${icon && html`<link rel="icon" href="${icon}" type="image/svg+xml">`}
${entry.styles.map((href) => html`<link rel="stylesheet" href="${href}">\n`)}${entry.preloads.map(
  (href) => html`<link rel="modulepreload" href="${href}">\n`,
)}${entry.scripts.map((src) => html`<script type="module" src="${src}"></script>\n`)}
</head>
<body>
<div id="root"></div>
<noscript>The dashboard requires JavaScript. All its features are also available in the API.</noscript>
</body>
</html>
`;
}
