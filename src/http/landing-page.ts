import type { FastifyInstance } from 'fastify';
import { html } from '../platform/html.ts';
import type { WebAssets } from './assets.ts';
import { messagePage, staticPage } from './page.ts';

/** Serves `GET /`: a page that describes this server to visitors with a browser. */
export function landingPage({ assets }: { assets: WebAssets }): (app: FastifyInstance) => void {
  const body = messagePage({
    heading: 'This is a Marquee server.',
    text: 'It receives live video from encoders, plays it to viewers, and provides a partner API with signed webhooks. To watch, open the link from a creator.',
    links: html`<ul class="links">
<li><a class="button" href="/dashboard">Dashboard</a></li>
<li><a class="button" href="/openapi.json">API description</a></li>
<li><a class="button" href="/api/v1/health">Health</a></li>
</ul>`,
  });
  const page = staticPage(assets, { status: 200, title: 'Marquee', body, frames: "'none'" });
  return (app) => {
    app.get('/', page);
  };
}
