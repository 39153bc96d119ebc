import { siteFrame } from '../../http/page.ts';
import { html, type SafeHtml } from '../../platform/html.ts';
import type { StreamGate } from './gate.service.ts';

/** How a stream presents itself to one viewer. `preview` shows the signal to its owner before the start. */
export type Showing = 'live' | 'preview' | 'scheduled' | 'offline';

/** All that the two pages of a stream say. Addresses of pages are absolute, that of the playlist is not. */
export interface WatchView {
  gate: StreamGate;
  showing: Showing;
  playlist: string;
  watchUrl: string;
  embedUrl: string;
  /** Absolute address of the picture for link previews. */
  cardUrl: string | null;
  /** Search engines may list the page. */
  isListed: boolean;
}

const STATES: Record<Showing, string> = {
  live: 'Live',
  preview: 'Preview',
  scheduled: 'Scheduled',
  offline: 'Offline',
};
const SUMMARY_LENGTH = 200;
const EMBED_WIDTH = 1280;
const EMBED_HEIGHT = 720;

export function creatorName({ creator }: StreamGate): string {
  return creator.name ?? creator.username;
}

/** Open Graph, the player card, and the canonical address. */
export function watchHead(view: WatchView): SafeHtml {
  const { gate, watchUrl, embedUrl, cardUrl } = view;
  const by = creatorName(gate);
  const summary = summarize(gate.description ?? `Live video by ${by}.`);
  return html`<meta name="description" content="${summary}">
<meta name="author" content="${by}">
<link rel="canonical" href="${watchUrl}">
${!view.isListed && html`<meta name="robots" content="noindex">`}
<meta property="og:site_name" content="Marquee">
<meta property="og:type" content="video.other">
<meta property="og:title" content="${gate.title}">
<meta property="og:description" content="${summary}">
<meta property="og:url" content="${watchUrl}">
<meta property="og:video:url" content="${embedUrl}">
<meta property="og:video:type" content="text/html">
<meta property="og:video:width" content="${EMBED_WIDTH}">
<meta property="og:video:height" content="${EMBED_HEIGHT}">
<meta name="twitter:card" content="player">
<meta name="twitter:title" content="${gate.title}">
<meta name="twitter:description" content="${summary}">
<meta name="twitter:player" content="${embedUrl}">
<meta name="twitter:player:width" content="${EMBED_WIDTH}">
<meta name="twitter:player:height" content="${EMBED_HEIGHT}">
${
  cardUrl &&
  html`<meta property="og:image" content="${cardUrl}">
<meta property="og:image:width" content="1200">
<meta property="og:image:height" content="630">
<meta name="twitter:image" content="${cardUrl}">`
}`;
}

export function watchBody(view: WatchView): SafeHtml {
  const { gate, showing, watchUrl } = view;
  const by = creatorName(gate);
  return siteFrame(
    'page watch',
    html`${player(view, false)}
<div class="watch-head">
<div class="watch-about">
<p class="watch-meta"><span class="badge" data-badge="${showing}">${STATES[showing]}</span>${moment(view)}</p>
<h1><bdi>${gate.title}</bdi></h1>
<div class="creator">
<span class="creator-mark" aria-hidden="true">${initial(by)}</span>
<p class="creator-names"><b><bdi>${by}</bdi></b><span><bdi>@${gate.creator.username}</bdi></span></p>
</div>
</div>
<div class="actions">
<button type="button" class="button" hidden data-copy="${watchUrl}">Copy link</button>
<button type="button" class="button" hidden data-copy="${iframe(view)}">Copy embed code</button>
</div>
</div>
${gate.description && html`<p class="description" dir="auto">${gate.description}</p>`}`,
  );
}

export function embedBody(view: WatchView): SafeHtml {
  return html`<main>${player(view, true)}</main>`;
}

/** The player's element, which shows the panel inside it until its script has taken over. */
function player({ gate, showing, playlist }: WatchView, isMuted: boolean): SafeHtml {
  const isOn = showing === 'live' || showing === 'preview';
  const startsAt = showing === 'scheduled' ? gate.scheduledStartAt : null;
  return html`<marquee-player src="${playlist}" label="${gate.title}"${isOn && html` live`}${isMuted && html` muted`}${
    startsAt && html` starts-at="${startsAt.toISOString()}"`
  } data-phase="${isOn ? 'starting' : 'offline'}">
<div class="player-panel">
<p class="player-panel-state">${STATES[showing]}</p>
<p class="player-panel-title" dir="auto"><bdi>${gate.title}</bdi></p>
<p class="player-panel-message">${panelMessage(isOn, startsAt, playlist)}</p>
</div>
</marquee-player>`;
}

function panelMessage(isOn: boolean, startsAt: Date | null, playlist: string): SafeHtml {
  if (isOn) {
    return html`Waiting for the first picture…<noscript> The player needs JavaScript. Without it, <a href="${playlist}">open the stream</a> in a video player.</noscript>`;
  }
  if (startsAt !== null) return html`Starts ${time(startsAt, 'local')}.`;
  return html`The broadcast has not started yet. It plays here as soon as it does.`;
}

/** Since when, or from when; the page's script hides it when it no longer holds. */
function moment({ gate, showing }: WatchView): SafeHtml | null {
  if (showing === 'live' && gate.liveSince !== null) {
    return html`<span data-while="on">Started ${time(gate.liveSince, 'relative')}</span>`;
  }
  if (showing === 'scheduled' && gate.scheduledStartAt !== null) {
    return html`<span data-while="off">Starts ${time(gate.scheduledStartAt, 'local')}</span>`;
  }
  if (showing === 'preview') return html`<span>Only people with this address see it</span>`;
  return null;
}

const utc = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

function time(at: Date, style: 'local' | 'relative'): SafeHtml {
  return html`<time datetime="${at.toISOString()}" data-style="${style}">${utc.format(at)} UTC</time>`;
}

function iframe({ gate, embedUrl }: WatchView): string {
  return String(
    html`<iframe src="${embedUrl}" title="${gate.title}" width="640" height="360" style="border:0;aspect-ratio:16/9;width:100%;height:auto" allow="autoplay; fullscreen; picture-in-picture" allowfullscreen></iframe>`,
  );
}

function initial(name: string): string {
  const [first] = new Intl.Segmenter().segment(name.trim());
  return first?.segment.toLocaleUpperCase('en') ?? '';
}

function summarize(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= SUMMARY_LENGTH ? line : `${line.slice(0, SUMMARY_LENGTH - 1).trimEnd()}…`;
}
