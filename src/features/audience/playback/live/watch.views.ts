import { html, type SafeHtml } from '../../../../platform/html.ts';
import { embedReport, type MediaPage, mediaHead, timeElement, watchBody } from '../media.views.ts';
import type { StreamSnapshot } from './snapshot.ts';

/** How a stream presents itself to one viewer. `preview` shows the signal to its owner before the start. */
export type StreamViewState = 'live' | 'preview' | 'scheduled' | 'ended' | 'offline';

/** All that the two pages of a stream say. */
export interface WatchView extends MediaPage {
  /** Null where there is none. */
  chat: SafeHtml | null;
  stream: StreamSnapshot;
  showing: StreamViewState;
  /** Of the broadcast that has ended, in its order: those of its parts that play. */
  recordings: readonly { url: string; part: number; of: number }[];
  /** From the root of the site. */
  playlist: string;
  /** Where it is shown in real time, from the root of the site; null where it is not. */
  whep: string | null;
  /** With which the player tells that it plays; null where nobody is counted. */
  session: string | null;
  /** The viewer is the owner, by a preview token. */
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

/** To its owner: what is wrong with the signal. */
function issues(view: WatchView): SafeHtml | null {
  if (!view.isPreview) return null;
  return html`<p class="signal-issues" role="status" data-issues-of="${view.playlist}" data-issues="${view.stream.issues.join(' ')}" hidden></p>`;
}

export function embedBody(view: WatchView): SafeHtml {
  return html`<main aria-label="Player">${player(view, true)}${embedReport(view)}${view.chat}</main>`;
}

/** The player's element, which shows the panel inside it until its script has taken over. */
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

/** The player asks the page for it again while there is none, or more to come (`web/player/recording.ts`). */
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

/** Since when, or from when; the page's script hides it when it no longer holds. */
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
