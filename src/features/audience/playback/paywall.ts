import type { Page } from '../../../http/page.ts';
import { siteLayout } from '../../../http/page.ts';
import type { Mode } from '../../../kernel/access.ts';
import type { Snapshots } from '../../../kernel/snapshots.ts';
import { html, type SafeHtml } from '../../../platform/html.ts';
import type { ProtectedMedia } from './access.service.ts';
import type { StreamSnapshot } from './live/snapshot.ts';
import type { VideoSnapshot } from './videos/snapshot.ts';

/** Offer that gives a visitor access to a video or a stream. */
export interface Offer {
  name: string;
  /** Formatted price: `$5.00 a month`. */
  price: string;
  /** ID of the tier; null for a one-time purchase of the media. */
  tierId: string | null;
}

/** Offers of a seller. */
export interface Seller {
  offers: readonly Offer[];
  /** Path of the page on which members request a link to their content. */
  memberPath: string;
}

/** Returns the offers for TIER or PURCHASE media; implemented by the features that sell. */
export type Sellers = (what: PurchasableMedia) => Promise<Seller>;

/** Media that can be bought. */
export interface PurchasableMedia extends ProtectedMedia {
  title: string;
  priceCents: number | null;
  creator: { username: string; name: string | null };
  mode: Mode;
}

/** Reports whether visitors without access see the price. */
export function isPurchasable({ visibility }: Pick<ProtectedMedia, 'visibility'>): boolean {
  return visibility === 'TIER' || visibility === 'PURCHASE';
}

/** Finds media whose watch page shows a price; undefined for other media. */
export async function purchasableAt(
  { streams, videos }: { streams: Snapshots<StreamSnapshot>; videos: Snapshots<VideoSnapshot> },
  id: string,
): Promise<VideoSnapshot | StreamSnapshot | undefined> {
  const video = await videos.get(id);
  const found = video === undefined ? await streams.get(id) : isShown(video) ? video : undefined;
  return found !== undefined && isPurchasable(found) ? found : undefined;
}

/** Reports whether the video is playable: nothing else is offered for sale. */
export function isShown({ rungs }: Pick<VideoSnapshot, 'rungs'>): boolean {
  return rungs.length > 0;
}

/**
 * Returns the watch page of media that must be paid for: prices, forms that lead to the checkout, and a link
 * to sign in for existing buyers.
 *
 * @param isBack true when the visitor returns from a checkout (docs/concepts/checkout.md#redirect-urls).
 */
export function paywallPage(sold: PurchasableMedia, { offers, memberPath }: Seller, isBack: boolean): Page {
  const by = sold.creator.name ?? sold.creator.username;
  const words =
    sold.visibility === 'TIER' ? 'This content is for members only.' : 'This content must be purchased.';
  return {
    status: 200,
    title: `${sold.title} · ${by}`,
    head: html`<meta name="robots" content="noindex">`,
    body: siteLayout(
      'page notice',
      html`<h1><bdi>${sold.title}</bdi></h1>
${isBack && html`<p role="status"><b>Just paid? Your receipt is on its way: open the link in the email to watch here.</b></p>`}
<p>By <bdi>${by}</bdi>. ${words}</p>
${sold.mode === 'test' && html`<p>Test mode: no money moves.</p>`}${
  offers.length === 0
    ? html`<p>It is not available for purchase right now.</p>`
    : html`<ul class="offers">${offers.map((offer) => offerItem(sold.id, offer))}</ul>`
}
<p>Already purchased? <a href="${memberPath}">Get a sign-in link by email</a> to watch it here.</p>`,
    ),
    frames: "'none'",
    forms: true,
  };
}

/** Returns the watch page of followers-only media for other viewers. @param follow the follow button. */
export function followersOnlyPage(
  { title, creator }: Pick<PurchasableMedia, 'title' | 'creator'>,
  follow: SafeHtml,
): Page {
  const by = creator.name ?? creator.username;
  return {
    status: 200,
    title: `${title} · ${by}`,
    head: html`<meta name="robots" content="noindex">`,
    body: siteLayout(
      'page notice',
      html`<h1><bdi>${title}</bdi></h1>
<p>By <bdi>${by}</bdi>. Follow to watch: this content is for followers only.</p>
${follow}`,
    ),
    frames: "'none'",
    forms: true,
  };
}

function offerItem(id: string, { name, price, tierId }: Offer): SafeHtml {
  return html`<li><form class="offer" method="post" action="/watch/${id}/buy">
<p><b><bdi>${name}</bdi></b>, ${price}</p>
${
  tierId === null
    ? html`<button class="button main" type="submit">Buy</button>`
    : html`<input type="hidden" name="tier" value="${tierId}">
<button class="button main" type="submit" aria-label="Subscribe to ${name}">Subscribe</button>`
}
</form></li>`;
}
