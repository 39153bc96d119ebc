import type { Page } from '../../http/page.ts';
import { siteFrame } from '../../http/page.ts';
import type { Mode } from '../../kernel/access.ts';
import { html, type SafeHtml } from '../../platform/html.ts';
import type { Guarded } from './access.service.ts';

/** What opens a video or a stream to somebody who may not see it yet. */
export interface Offer {
  name: string;
  /** As people read it: `$5.00 a month`. */
  price: string;
}

/** Who sells it. */
export interface Seller {
  offers: readonly Offer[];
  /** Where members get a link to what they have, below the platform's address. */
  memberPath: string;
}

/** What may be bought of what is for TIER or PURCHASE; filled by the features that sell. */
export type Sellers = (what: Sold) => Promise<Seller>;

/** What is sold. */
export interface Sold extends Guarded {
  title: string;
  priceCents: number | null;
  creator: { username: string; name: string | null };
  mode: Mode;
}

/** Is a visitor who may not see it told what it costs? */
export function isSold({ visibility }: Pick<Guarded, 'visibility'>): boolean {
  return visibility === 'TIER' || visibility === 'PURCHASE';
}

/** The watch page of what is for those who pay: what it costs, and where to buy it or to sign in. */
export function lockedPage(sold: Sold, { offers, memberPath }: Seller): Page {
  const by = sold.creator.name ?? sold.creator.username;
  const words = sold.visibility === 'TIER' ? 'This is for members.' : 'This is for those who have bought it.';
  return {
    status: 200,
    title: `${sold.title} · ${by}`,
    head: html`<meta name="robots" content="noindex">`,
    body: siteFrame(
      'page notice',
      html`<h1><bdi>${sold.title}</bdi></h1>
<p>By <bdi>${by}</bdi>. ${words}</p>
${sold.mode === 'test' && html`<p>This is the test mode: no money moves.</p>`}${
  offers.length === 0
    ? html`<p>It cannot be bought at the moment.</p>`
    : html`<ul class="offers">${offers.map(offerItem)}</ul>`
}
<p>Have you bought it already? <a href="${memberPath}">Get a link by mail</a>, and watch it here.</p>`,
    ),
    frames: "'none'",
  };
}

function offerItem({ name, price }: Offer): SafeHtml {
  return html`<li><b><bdi>${name}</bdi></b>, ${price}</li>`;
}
