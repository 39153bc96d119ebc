import { html, jsonScript, type SafeHtml } from '../../../../platform/html.ts';
import {
  creatorName,
  EMBED_SIZE,
  embedReport,
  type MediaPage,
  mediaHead,
  type Size,
  timeElement,
  watchBody,
} from '../media.views.ts';
import type { VideoSnapshot } from './snapshot.ts';

/** Data of the watch and embed pages of a video. Media URLs are relative to the root of the site. */
export interface VideoView extends MediaPage {
  video: VideoSnapshot;
  /** True when a rung is playable. */
  isPlayable: boolean;
  playlist: string;
  poster: string | null;
  storyboard: string | null;
  chapters: string | null;
  /** URL to which the view is reported; null when it does not count. */
  viewsUrl: string | null;
  /** Session with which the player sends beacons. */
  session: string;
  /** Second at which to begin. */
  startSec: number;
  /** Token of the viewer as a query string; empty without one. */
  suffix: string;
}

export interface EmbedOptions {
  autoplay: boolean;
  muted: boolean;
}

const numbers = new Intl.NumberFormat('en');

/** Returns the size of the video, or the default size before it is known. */
export function shapeOf({ width, height }: Pick<VideoSnapshot, 'width' | 'height'>): Size {
  return width === null || height === null ? EMBED_SIZE : { width, height };
}

export function videoHead(view: VideoView): SafeHtml {
  const head = mediaHead(view, `Video by ${creatorName(view)}.`, shapeOf(view.video));
  if (!view.isListed) return head;
  return html`${head}
${jsonScript('application/ld+json', videoObject(view))}`;
}

/** https://schema.org/VideoObject */
function videoObject(view: VideoView): object {
  const { video, picture } = view;
  const url = (startSec: number) => `${view.watchUrl}?t=${Math.floor(startSec)}`;
  return {
    '@context': 'https://schema.org',
    '@type': 'VideoObject',
    name: view.title,
    description: view.description ?? view.title,
    ...(picture && { thumbnailUrl: [picture.url] }),
    uploadDate: (video.publishedAt ?? video.createdAt).toISOString(),
    ...(video.durationSec !== null && { duration: `PT${Math.round(video.durationSec)}S` }),
    embedUrl: view.embedUrl,
    url: view.watchUrl,
    author: { '@type': 'Person', name: creatorName(view) },
    interactionStatistic: {
      '@type': 'InteractionCounter',
      interactionType: { '@type': 'WatchAction' },
      userInteractionCount: video.viewCount,
    },
    ...(video.chapters.length > 0 && {
      hasPart: video.chapters.map(({ startSec, title }, index) => ({
        '@type': 'Clip',
        name: title,
        startOffset: Math.floor(startSec),
        endOffset: Math.floor(video.chapters[index + 1]?.startSec ?? video.durationSec ?? startSec),
        url: url(startSec),
      })),
    }),
  };
}

export function videoBody(view: VideoView): SafeHtml {
  return watchBody(view, {
    player: player(view, { autoplay: true, muted: false }),
    facts: facts(view),
    more: view.video.chapters.length > 0 ? chapterList(view) : null,
    shape: shapeOf(view.video),
  });
}

export function videoEmbedBody(view: VideoView, options: EmbedOptions): SafeHtml {
  return html`<main aria-label="Player">${player(view, options)}${embedReport(view)}</main>`;
}

function facts({ video, isPlayable }: VideoView): SafeHtml {
  const { viewCount, publishedAt } = video;
  const views = viewCount === 1 ? '1 view' : `${numbers.format(viewCount)} views`;
  return html`${!isPlayable && html`<span class="badge" data-badge="processing">Processing</span>`}<span>${views}</span>${
    publishedAt && html`<span>${timeElement(publishedAt, 'date')}</span>`
  }`;
}

/** Renders each chapter as a link that works without a script; the script seeks in place. */
function chapterList({ video, suffix }: VideoView): SafeHtml {
  const token = suffix === '' ? '' : `&${suffix.slice(1)}`;
  return html`<nav class="chapters" aria-labelledby="chapters">
<h2 id="chapters">Chapters</h2>
<ol>${video.chapters.map(
    ({ startSec, title }) => html`
<li><a href="?t=${Math.floor(startSec)}${token}" data-seek="${startSec}"><span class="chapter-time">${clockTime(startSec)}</span> <bdi>${title}</bdi></a></li>`,
  )}
</ol>
</nav>`;
}

/** Renders the player element, which shows its content until its script has taken over. */
function player(view: VideoView, { autoplay, muted }: EmbedOptions): SafeHtml {
  const { video, isPlayable, playlist, poster, storyboard, chapters, viewsUrl, session, startSec } = view;
  return html`<marquee-player kind="video" src="${playlist}" label="${video.title}"${isPlayable && html` ready`}${
    poster && html` poster="${poster}"`
  }${storyboard && html` storyboard="${storyboard}"`}${chapters && html` chapters="${chapters}"`}${
    viewsUrl && html` views="${viewsUrl}"`
  } session="${session}"${video.durationSec !== null && html` duration="${video.durationSec}"`}${startSec > 0 && html` start="${startSec}"`}${
    autoplay && html` autoplay`
  }${muted && html` muted`} data-phase="${isPlayable ? 'starting' : 'offline'}">
${poster && html`<img class="player-poster" src="${poster}" alt="">`}
<div class="player-panel">
<p class="player-panel-state">${isPlayable ? 'Video' : 'Processing'}</p>
<p class="player-panel-title" dir="auto"><bdi>${video.title}</bdi></p>
<p class="player-panel-message">${message(isPlayable, playlist)}</p>
</div>
</marquee-player>`;
}

function message(isPlayable: boolean, playlist: string): SafeHtml {
  if (!isPlayable)
    return html`This video is still processing. Playback starts automatically when it is ready.`;
  return html`Loading…<noscript> The player needs JavaScript. Without it, <a href="${playlist}">open the video</a> in a video player.</noscript>`;
}

/** Formats a duration as `1:02:03` or `2:03`. */
function clockTime(seconds: number): string {
  const whole = Math.floor(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
