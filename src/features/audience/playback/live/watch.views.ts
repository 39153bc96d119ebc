import { html, type SafeHtml } from '../../../../platform/html.ts';
import { embedReport, type MediaPage, mediaHead, timeElement, watchBody } from '../media.views.ts';
import type { StreamSnapshot } from './snapshot.ts';

/** State of a stream for one viewer. `preview` shows the signal to its owner before the start. */
export type StreamViewState = 'live' | 'preview' | 'scheduled' | 'ended' | 'offline';

/** Data of the watch and embed pages of a stream. */
export interface WatchView extends MediaPage {
  /** Rendered chat; null without chat. */
  chat: SafeHtml | null;
  stream: StreamSnapshot;
  showing: StreamViewState;
  /** Playable parts of the recording of the ended broadcast, in order. */
  recordings: readonly { url: string; part: number; of: number }[];
  /** Path from the root of the site. */
  playlist: string;
  /** WHEP path from the root of the site; null without WHEP. */
  whep: string | null;
  /** Session with which the player sends beacons; null when the viewer is not counted. */
  session: string | null;
  /** True when the viewer is the owner with a preview token. */
  isPreview: boolean;
}

const STATES: Record<StreamViewState, string> = {
  live: 'Live',
  preview: 'Preview',
  scheduled: 'Scheduled',
  ended: 'Ended',
  offline: 'Offline',
};

export function streamHead(view: WatchView): SafeHtml {
  return mediaHead(view, `Live video by ${view.creator.name ?? view.creator.username}.`);
}

export function streamBody(view: WatchView): SafeHtml {
  const { showing } = view;
  const badge = html`<span class="badge" data-badge="${showing}">${STATES[showing]}</span>`;
  return watchBody(view, {
    player: player(view, false),
    facts: html`${badge}${moment(view)}<span data-viewers hidden></span>`,
    more: html`${issues(view)}${view.chat}`,
  });
}

/** Renders the issues of the signal for its owner. */
function issues(view: WatchView): SafeHtml | null {
  if (!view.isPreview) return null;
  return html`<p class="signal-issues" role="status" data-issues-of="${view.playlist}" data-issues="${view.stream.issues.join(' ')}" hidden></p>`;
}

export function embedBody(view: WatchView): SafeHtml {
  return html`<main aria-label="Player">${player(view, true)}${embedReport(view)}${view.chat}</main>`;
}

/** Renders the player element, which shows its panel until its script has taken over. */
function player(view: WatchView, isEmbed: boolean): SafeHtml {
  const { stream, showing, playlist, whep, session } = view;
  const isOn = showing === 'live' || showing === 'preview';
  const startsAt = showing === 'scheduled' ? stream.scheduledStartAt : null;
  return html`<marquee-player src="${playlist}" label="${stream.title}"${isOn && html` live poster="${playlist.replace('master.m3u8', 'thumbnail.jpg')}"`}${isEmbed && html` muted`}${
    startsAt && html` starts-at="${startsAt.toISOString()}"`
  }${session && html` session="${session}"`}${whep && html` whep="${whep}"`} ${showing === 'ended' && html` ended`} data-phase="${isOn ? 'starting' : showing === 'ended' ? 'ended' : 'offline'}">
<div class="player-panel">
<p class="player-panel-state">${STATES[showing]}</p>
<p class="player-panel-title" dir="auto"><bdi>${stream.title}</bdi></p>
<p class="player-panel-message">${panelMessage(showing, startsAt, playlist)}</p>
${recorded(view, isEmbed)}
</div>
</marquee-player>`;
}

/**
 * Renders the recordings. The player requests the page again while more are expected
 * (`web/player/recording.ts`).
 */
function recorded({ recordings }: WatchView, isEmbed: boolean): SafeHtml | null {
  const [first] = recordings;
  if (first === undefined) return null;
  const target = isEmbed && html` target="_blank"`;
  const links = recordings.map(
    ({ url, part, of }) =>
      html`<a href="${url}"${target}>Watch the recording${of > 1 && html`, part ${part}`}</a>`,
  );
  return html`<p class="player-panel-recording"${recordings.length < first.of && html` data-more`}>${links}</p>`;
}

function panelMessage(showing: StreamViewState, startsAt: Date | null, playlist: string): SafeHtml {
  if (showing === 'live' || showing === 'preview') {
    return html`Waiting for video…<noscript> The player needs JavaScript. Without it, <a href="${playlist}">open the stream</a> in a video player.</noscript>`;
  }
  if (startsAt !== null) return html`Starts ${timeElement(startsAt, 'local')}.`;
  if (showing === 'ended') return html`The broadcast has ended. If it starts again, playback resumes here.`;
  return html`The broadcast has not started yet. Playback starts automatically when it does.`;
}

/** Renders the start time; the page's script hides it when it is outdated. */
function moment({ stream, showing }: WatchView): SafeHtml | null {
  if (showing === 'live' && stream.liveSince !== null) {
    return html`<span data-while="on">Started ${timeElement(stream.liveSince, 'relative')}</span>`;
  }
  if (showing === 'scheduled' && stream.scheduledStartAt !== null) {
    return html`<span data-while="off">Starts ${timeElement(stream.scheduledStartAt, 'local')}</span>`;
  }
  if (showing === 'preview') return html`<span>Only people with the link can see it</span>`;
  return null;
}
