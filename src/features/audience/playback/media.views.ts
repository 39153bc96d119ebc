import { messagePage, type Page, siteLayout } from '../../../http/page.ts';
import { html, type SafeHtml } from '../../../platform/html.ts';
import type { AccessRequest } from './access.service.ts';

/**
 * What a page offers about following whose it is, with how many do; null where it offers nothing.
 *
 * @param page its address, from the root of the site: whoever follows comes back to it.
 */
export type RenderFollowBox = (
  asking: AccessRequest,
  creator: Followed,
  page: string,
) => Promise<SafeHtml | null>;

interface Followed {
  accountId: string;
  workspaceId: string;
  username: string;
  name: string | null;
}

/** What the pages of anything that can be watched have in common. Addresses are absolute. */
export interface MediaPage {
  title: string;
  description: string | null;
  creator: { username: string; name: string | null };
  /** About following the creator; null on embedded pages, and in test mode, which has no channel to be seen. */
  follow: SafeHtml | null;
  watchUrl: string;
  embedUrl: string;
  /** Where whoever runs the platform is told what is wrong with it. */
  reportUrl: string;
  /** For link previews. */
  picture: Picture | null;
  /** Search engines may list the page. */
  isListed: boolean;
  /** Where oEmbed consumers learn of it; null when it is not open to everybody. */
  oembedUrl: string | null;
}

const SUMMARY_LENGTH = 200;
export interface Picture extends Size {
  url: string;
}

export interface Size {
  width: number;
  height: number;
}

/** What an embedded player measures where nothing is said. */
export const EMBED_SIZE: Readonly<Size> = { width: 1280, height: 720 };
const FRAME_WIDTH = 640;

export function creatorName({ creator }: Pick<MediaPage, 'creator'>): string {
  return creator.name ?? creator.username;
}

/** Open Graph, the player card, the canonical address, oEmbed. `fallback` describes what has no description. */
export function mediaHead(page: MediaPage, fallback: string, player = EMBED_SIZE): SafeHtml {
  const { title, watchUrl, embedUrl, picture, oembedUrl } = page;
  const summary = summarize(page.description ?? fallback);
  return html`<meta name="description" content="${summary}">
<meta name="author" content="${creatorName(page)}">
<link rel="canonical" href="${watchUrl}">
${oembedUrl && html`<link rel="alternate" type="application/json+oembed" href="${oembedUrl}" title="${title}">`}
${!page.isListed && html`<meta name="robots" content="noindex">`}
<meta property="og:site_name" content="Marquee">
<meta property="og:type" content="video.other">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${summary}">
<meta property="og:url" content="${watchUrl}">
<meta property="og:video:url" content="${embedUrl}">
<meta property="og:video:type" content="text/html">
<meta property="og:video:width" content="${player.width}">
<meta property="og:video:height" content="${player.height}">
<meta name="twitter:card" content="player">
<meta name="twitter:title" content="${title}">
<meta name="twitter:description" content="${summary}">
<meta name="twitter:player" content="${embedUrl}">
<meta name="twitter:player:width" content="${player.width}">
<meta name="twitter:player:height" content="${player.height}">
${
  picture &&
  html`<meta property="og:image" content="${picture.url}">
<meta property="og:image:width" content="${picture.width}">
<meta property="og:image:height" content="${picture.height}">
<meta name="twitter:image" content="${picture.url}">`
}`;
}

/** A watch page: the player, a line of facts, title, creator, buttons, description, and what else there is. */
export function watchBody(
  page: MediaPage,
  parts: { player: SafeHtml; facts: SafeHtml; more?: SafeHtml | null; shape?: Size },
) {
  const by = creatorName(page);
  return siteLayout(
    'page watch',
    html`${parts.player}
<div class="watch-head">
<div class="watch-about">
<p class="watch-meta">${parts.facts}</p>
<h1><bdi>${page.title}</bdi></h1>
<div class="creator">
<span class="creator-mark" aria-hidden="true">${initial(by)}</span>
<p class="creator-names">${creatorNames(page)}</p>
${page.follow}
</div>
</div>
<div class="actions">
<button type="button" class="button" hidden data-copy="${page.watchUrl}">Copy link</button>
<button type="button" class="button" hidden data-copy="${embedFrame(page, { ...frameSize(parts.shape ?? EMBED_SIZE), isFluid: true })}">Copy embed code</button>
</div>
</div>
${page.description && html`<p class="description" dir="auto">${page.description}</p>`}${parts.more}
<p class="report"><a href="${page.reportUrl}" rel="nofollow">Report</a></p>`,
  );
}

/** They lead to the channel, where there is one to be seen. */
function creatorNames(page: MediaPage): SafeHtml {
  const { username } = page.creator;
  const names = html`<b><bdi>${creatorName(page)}</bdi></b><span><bdi>@${username}</bdi></span>`;
  return page.follow === null ? names : html`<a href="/@${username}">${names}</a>`;
}

/**
 * The pages of what is not there and of what this viewer may not see: the same for both.
 *
 * @param noun what it would be, such as `video`.
 */
export function notFoundPages(noun: string): { watch: Page; embed: Page } {
  const missing = {
    status: 404,
    title: 'Not found',
    head: html`<meta name="robots" content="noindex">`,
  };
  const watch = messagePage({
    heading: `This ${noun} was not found.`,
    text: `The URL may be mistyped, the ${noun} may have been removed, or it may be restricted to invited viewers. Ask the person who shared it.`,
    isOff: true,
  });
  const embed = messagePage({
    heading: `This ${noun} is not available.`,
    text: 'It may have been removed, or you may not have access.',
    isOff: true,
  });
  return {
    watch: { ...missing, body: watch, frames: "'none'" },
    embed: { ...missing, body: embed, frames: '*' },
  };
}

/** The markup that another site puts in: as wide as its place when it is fluid. */
export function embedFrame(
  { embedUrl, title }: Pick<MediaPage, 'embedUrl' | 'title'>,
  { width, height, isFluid }: { width: number; height: number; isFluid: boolean },
): string {
  const fluid = `aspect-ratio:${width}/${height};width:100%;height:auto`;
  return String(
    html`<iframe src="${embedUrl}" title="${title}" width="${width}" height="${height}" style="border:0${isFluid && `;${fluid}`}" allow="autoplay; fullscreen; picture-in-picture" allowfullscreen></iframe>`,
  );
}

/** The largest of the same shape that fits, never larger than it is. */
export function scaleToFit({ width, height }: Size, max: Size): Size {
  const scale = Math.min(1, max.width / width, max.height / height);
  const side = (pixels: number) => Math.max(1, Math.round(pixels * scale));
  return { width: side(width), height: side(height) };
}

function frameSize({ width, height }: Size): Size {
  return { width: FRAME_WIDTH, height: Math.round((FRAME_WIDTH * height) / width) };
}

/** UTC until the page's script puts it on the viewer's clock. */
export function timeElement(at: Date, style: 'local' | 'relative' | 'date'): SafeHtml {
  const text = style === 'date' ? day.format(at) : `${moment.format(at)} UTC`;
  return html`<time datetime="${at.toISOString()}" data-style="${style}">${text}</time>`;
}

const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

function initial(name: string): string {
  const [first] = new Intl.Segmenter().segment(name.trim());
  return first?.segment.toLocaleUpperCase('en') ?? '';
}

function summarize(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= SUMMARY_LENGTH ? line : `${line.slice(0, SUMMARY_LENGTH - 1).trimEnd()}…`;
}

/** In the corner of an embedded player; it opens beside the page that the player is on. */
export function embedReport({ reportUrl }: Pick<MediaPage, 'reportUrl'>): SafeHtml {
  return html`<a class="embed-report" href="${reportUrl}" target="_blank" rel="nofollow noopener">Report</a>`;
}
