import { messagePage, type Page, siteLayout } from '../../../http/page.ts';
import { html, type SafeHtml } from '../../../platform/html.ts';
import type { AccessRequest } from './access.service.ts';

/**
 * Renderer of the follow button and the follower count of a creator; returns null when following is not
 * offered.
 *
 * @param page its path, from the root of the site, to which a new follower returns.
 */
export type RenderFollowBox = (
  asking: AccessRequest,
  creator: FollowedCreator,
  page: string,
) => Promise<SafeHtml | null>;

interface FollowedCreator {
  accountId: string;
  workspaceId: string;
  username: string;
  name: string | null;
}

/** Common data of the watch and embed pages. URLs are absolute. */
export interface MediaPage {
  title: string;
  description: string | null;
  creator: { username: string; name: string | null };
  /**
   * Rendered follow box of the creator; null on embedded pages, and in test mode, which has no public
   * channel.
   */
  follow: SafeHtml | null;
  watchUrl: string;
  embedUrl: string;
  /** URL of the report form to the operator. */
  reportUrl: string;
  /** Image for link previews. */
  picture: Picture | null;
  /** True when search engines may list the page. */
  isListed: boolean;
  /** URL for oEmbed consumers; null for restricted media. */
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

/** Default size of an embedded player. */
export const EMBED_SIZE: Readonly<Size> = { width: 1280, height: 720 };
const FRAME_WIDTH = 640;

export function creatorName({ creator }: Pick<MediaPage, 'creator'>): string {
  return creator.name ?? creator.username;
}

/**
 * Renders Open Graph, the player card, the canonical URL and oEmbed. `fallback` replaces a missing
 * description.
 */
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

/** Renders a watch page: the player, statistics, title, creator, buttons, description and further content. */
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

/** Renders the creator's name as a link to the channel, if it is public. */
function creatorNames(page: MediaPage): SafeHtml {
  const { username } = page.creator;
  const names = html`<b><bdi>${creatorName(page)}</bdi></b><span><bdi>@${username}</bdi></span>`;
  return page.follow === null ? names : html`<a href="/@${username}">${names}</a>`;
}

/**
 * Returns the pages for missing and hidden media, which are identical.
 *
 * @param noun its kind, such as `video`.
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

/** Renders the embed markup for other sites; a fluid one fills the width of its container. */
export function embedFrame(
  { embedUrl, title }: Pick<MediaPage, 'embedUrl' | 'title'>,
  { width, height, isFluid }: { width: number; height: number; isFluid: boolean },
): string {
  const fluid = `aspect-ratio:${width}/${height};width:100%;height:auto`;
  return String(
    html`<iframe src="${embedUrl}" title="${title}" width="${width}" height="${height}" style="border:0${isFluid && `;${fluid}`}" allow="autoplay; fullscreen; picture-in-picture" allowfullscreen></iframe>`,
  );
}

/** Returns the largest size of the same aspect ratio that fits, never larger than the original. */
export function scaleToFit({ width, height }: Size, max: Size): Size {
  const scale = Math.min(1, max.width / width, max.height / height);
  const side = (pixels: number) => Math.max(1, Math.round(pixels * scale));
  return { width: side(width), height: side(height) };
}

function frameSize({ width, height }: Size): Size {
  return { width: FRAME_WIDTH, height: Math.round((FRAME_WIDTH * height) / width) };
}

/** Renders a time in UTC, which the page's script converts to the viewer's time zone. */
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

/**
 * Renders the report link in the corner of an embedded player. It opens a new tab next to the embedding page.
 */
export function embedReport({ reportUrl }: Pick<MediaPage, 'reportUrl'>): SafeHtml {
  return html`<a class="embed-report" href="${reportUrl}" target="_blank" rel="nofollow noopener">Report</a>`;
}
