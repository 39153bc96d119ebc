import { messagePage, type Page, siteLayout } from '../../http/page.ts';
import { html, type SafeHtml } from '../../platform/html.ts';

/**
 * Data of a room that the join page shows to anyone with its URL. The name is omitted: only admitted people
 * see it.
 */
export interface JoinView {
  roomId: string;
  /** Name of the creator, as on the channel. */
  creator: string;
  recordEnabled: boolean;
  isBroadcast: boolean;
  joinUrl: string;
  /** Absolute URL of the image for link previews. */
  pictureUrl: string | null;
  /** Origin of the media server that browsers connect to directly. */
  connectOrigins: readonly string[];
}

const NOINDEX = html`<meta name="robots" content="noindex">`;

export function lobbyView(view: JoinView): Page {
  return {
    status: 200,
    title: 'Join a room',
    head: joinHead(view),
    body: joinBody(view),
    bodyClass: 'room-page',
    script: 'room/main.ts',
    hasPlainStyles: true,
    connectOrigins: view.connectOrigins,
    frames: "'none'",
  };
}

/** Page for rooms that are deleted or never existed. */
export const MISSING_ROOM: Page = {
  status: 404,
  title: 'Not found',
  head: NOINDEX,
  body: messagePage({
    heading: 'Room not found.',
    text: 'The URL may be mistyped, or the room may have been removed. Ask the person who invited you.',
    isOff: true,
  }),
  frames: "'none'",
};

export const ENDED_ROOM: Page = {
  status: 410,
  title: 'Room ended',
  head: NOINDEX,
  body: messagePage({
    heading: 'The room has ended.',
    text: 'No one can join it anymore. Ask the person who shared the link for a new one.',
    isOff: true,
  }),
  frames: "'none'",
};

/**
 * Returns the head of the page. Link previews are rendered by programs that anyone may run, so they name
 * neither the room nor a person.
 */
function joinHead({ joinUrl, pictureUrl }: JoinView): SafeHtml {
  const summary = "You're invited to a video call. It opens in your browser.";
  return html`${NOINDEX}
<meta name="referrer" content="no-referrer">
<meta name="description" content="${summary}">
<meta property="og:site_name" content="Marquee">
<meta property="og:type" content="website">
<meta property="og:title" content="Join a room">
<meta property="og:description" content="${summary}">
<meta property="og:url" content="${joinUrl}">
<meta name="twitter:card" content="summary">
<meta name="twitter:title" content="Join a room">
<meta name="twitter:description" content="${summary}">
${pictureUrl && html`<meta property="og:image" content="${pictureUrl}">`}`;
}

function joinBody(view: JoinView): SafeHtml {
  const { roomId } = view;
  return siteLayout(
    'page room',
    html`<div data-room="${roomId}" data-gateway="/rtc/rooms/${roomId}" data-pass="/r/${roomId}/token">
${lobby(view)}
<section class="room-screen notice" data-screen hidden>
<div class="bulbs" aria-hidden="true"></div>
<h1 tabindex="-1"></h1>
<p></p>
<ul class="links"></ul>
</section>
<div class="call" data-call hidden></div>
</div>`,
  );
}

function lobby({ creator, recordEnabled, isBroadcast }: JoinView): SafeHtml {
  return html`<div class="lobby" data-lobby>
<div class="lobby-head">
<h1>Join the room</h1>
<p class="lobby-by">Hosted by <bdi>${creator}</bdi></p>
<ul class="lobby-facts">
<li>Camera and microphone stay off until you turn them on. You can join without them.</li>
<li data-guest>The host will admit you.</li>
${recordEnabled && html`<li>The room may be recorded. You will be notified when it is.</li>`}
<li data-broadcast${isBroadcast ? '' : html` hidden`}>This room is being broadcast. Viewers of the stream see and hear you.</li>
</ul>
<noscript><p class="problem">Rooms require JavaScript. Enable it for this page, then reload.</p></noscript>
</div>
<div class="lobby-devices">
<div class="preview">
<video muted playsinline autoplay hidden aria-label="Your camera"></video>
<p data-no-preview>Your camera is off.</p>
</div>
<div data-devices></div>
</div>
<form class="form lobby-form">
<label class="field" data-guest>Your name <input name="name" required maxlength="160" autocomplete="name" dir="auto" aria-describedby="name-problem"></label>
<p class="problem" id="name-problem" role="alert" hidden></p>
<button type="submit" class="button main" disabled>Ask to join</button>
</form>
</div>`;
}
