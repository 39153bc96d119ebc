import type { Static } from 'typebox';
import { type Page, siteLayout } from '../../../http/page.ts';
import { formatMoney, INTERVAL_LABELS } from '../../../kernel/format-money.ts';
import { html, type SafeHtml } from '../../../platform/html.ts';
import type { ChannelContent, ChannelVideo, PublicChannel } from './schemas.ts';

/** Data of a channel page; image URLs are relative to the root of the site. */
export interface ChannelView {
  channel: Static<typeof PublicChannel>;
  follow: SafeHtml | null;
  videos: readonly Static<typeof ChannelVideo>[];
  /** URL of the next page of videos. */
  nextUrl: string | null;
  /** True on later pages of videos, which omit the rest of the channel. */
  isLater: boolean;
  /** Path of the page on which members request a link to their content. */
  memberPath: string;
  /** True when the visitor returns from a checkout. */
  isBack: boolean;
  /** Absolute URL of the page. */
  pageUrl: string;
  /** Origins of the store, when this server does not deliver the media. */
  mediaOrigins: readonly string[];
  /** Returns an own URL relative to the root of the site. */
  local(url: string): string;
}

const SUMMARY_LENGTH = 200;
const numbers = new Intl.NumberFormat('en');

export function channelPage(view: ChannelView): Page {
  const { channel, isLater, mediaOrigins } = view;
  return {
    status: 200,
    title: `${channel.displayName} (@${channel.username})`,
    head: headOf(view),
    body: siteLayout(
      'page channel',
      html`${header(view)}
${!isLater && html`${live(channel)}${tiers(view)}`}
${videos(view)}
<p class="report"><a href="/report/@${channel.username}" rel="nofollow">Report</a></p>`,
    ),
    frames: "'none'",
    forms: true,
    mediaOrigins,
  };
}

function headOf({ channel, pageUrl, isLater, local }: ChannelView): SafeHtml {
  const { displayName, description, username } = channel;
  const picture = channel.bannerUrl ?? channel.avatarUrl;
  const line = (description ?? `Channel of ${displayName}.`).replace(/\s+/g, ' ');
  const summary = line.length <= SUMMARY_LENGTH ? line : `${line.slice(0, SUMMARY_LENGTH - 1).trimEnd()}…`;
  return html`<meta name="description" content="${summary}">
<link rel="canonical" href="${pageUrl}">
${isLater && html`<meta name="robots" content="noindex">`}
<meta property="og:site_name" content="Marquee">
<meta property="og:type" content="profile">
<meta property="profile:username" content="${username}">
<meta property="og:title" content="${displayName}">
<meta property="og:description" content="${summary}">
<meta property="og:url" content="${pageUrl}">
${picture && html`<meta property="og:image" content="${new URL(local(picture), pageUrl).href}">`}`;
}

function header({ channel, follow, isBack, local }: ChannelView): SafeHtml {
  const { displayName, username, description, avatarUrl, bannerUrl, links } = channel;
  return html`${bannerUrl && html`<img class="channel-banner" src="${local(bannerUrl)}" alt="">`}
${isBack && html`<p role="status"><b>Just paid? Your receipt is on its way: open the link in the email to see your content.</b></p>`}
<div class="channel-head">
${
  avatarUrl === null
    ? html`<span class="creator-mark" aria-hidden="true">${initial(displayName)}</span>`
    : html`<img class="creator-mark" src="${local(avatarUrl)}" alt="" width="88" height="88">`
}
<div class="channel-names"><h1><bdi>${displayName}</bdi></h1><p><bdi>@${username}</bdi></p></div>
${follow}
</div>
${description && html`<p class="description" dir="auto">${description}</p>`}
${
  links.length > 0 &&
  html`<ul class="channel-links" aria-label="Links">${links.map(
    ({ label, url }) =>
      html`<li><a href="${url}" rel="nofollow ugc noopener noreferrer"><bdi>${label}</bdi></a></li>`,
  )}</ul>`
}`;
}

function live({ liveStreams }: ChannelContent): SafeHtml | false {
  if (liveStreams.length === 0) return false;
  return html`<section aria-labelledby="live"><h2 id="live">Live now</h2>
<ul class="channel-live">${liveStreams.map(
    ({ streamId, title }) =>
      html`<li><span class="badge" data-badge="live">Live</span> <a href="/watch/${streamId}"><bdi>${title}</bdi></a></li>`,
  )}</ul></section>`;
}

function tiers({ channel, memberPath }: ChannelView): SafeHtml | false {
  if (channel.tiers.length === 0) return false;
  return html`<section aria-labelledby="join"><h2 id="join">Become a member</h2>
<ul class="offers">${channel.tiers.map(
    ({ id, name, priceCents, interval }) =>
      html`<li><form class="offer" method="post" action="/@${channel.username}/join">
<p><b><bdi>${name}</bdi></b>, ${formatMoney(priceCents)} a ${INTERVAL_LABELS[interval]}</p>
<input type="hidden" name="tier" value="${id}">
<button class="button main" type="submit" aria-label="Join ${name}">Join</button>
</form></li>`,
  )}</ul>
<p>Already a member? <a href="${memberPath}">Get a sign-in link by email</a>.</p></section>`;
}

function videos({ videos: rows, nextUrl, isLater, channel, local }: ChannelView): SafeHtml {
  const more = html`${nextUrl && html`<p><a class="button" href="${nextUrl}">Older videos</a></p>`}${
    isLater && html`<p><a href="/@${channel.username}">Newest videos</a></p>`
  }`;
  return html`<section aria-labelledby="videos"><h2 id="videos">Videos</h2>
${
  rows.length === 0
    ? html`<p>No public videos yet.</p>`
    : html`<ul class="channel-videos">${rows.map((row) => video(row, local))}</ul>`
}
${more}</section>`;
}

function video(row: ChannelView['videos'][number], local: ChannelView['local']): SafeHtml {
  const { id, title, durationSec, thumbnailUrl, viewCount } = row;
  const views = `${numbers.format(viewCount)} ${viewCount === 1 ? 'view' : 'views'}`;
  return html`<li><a href="/watch/${id}">${
    thumbnailUrl === null
      ? html`<span class="channel-still"></span>`
      : html`<img class="channel-still" src="${local(thumbnailUrl)}" alt="" loading="lazy" width="320" height="180">`
  }<bdi>${title}</bdi></a><p>${durationSec !== null && html`${clock(durationSec)} · `}${views}</p></li>`;
}

/** Formats a duration as `1:02:03` or `2:03`. */
function clock(durationSec: number): string {
  const seconds = Math.round(durationSec);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown.map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
}

function initial(name: string): string {
  const [first] = new Intl.Segmenter().segment(name.trim());
  return first?.segment.toLocaleUpperCase('en') ?? '';
}
