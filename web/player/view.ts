import { countdown, type Kind, localTime, MESSAGES, NO_NETWORK, RETRY, UNMUTE } from './messages.ts';
import type { Phase } from './playback.ts';

/** User-supplied values are not inserted here: details of the broadcast are set as text. */
const START = `
  <video slot="media" playsinline></video>
  <media-loading-indicator slot="centered-chrome" noautohide></media-loading-indicator>
  <media-play-button slot="centered-chrome" class="player-big-play" notooltip></media-play-button>`;
const SOUND = `
    <media-play-button></media-play-button>
    <media-mute-button></media-mute-button>
    <media-volume-range></media-volume-range>`;
const SCREENS = `
    <media-cast-button></media-cast-button>
    <media-airplay-button></media-airplay-button>
    <media-pip-button></media-pip-button>
    <media-fullscreen-button></media-fullscreen-button>`;
const SUBMENU = (name: string, menu: string) => `
    <media-settings-menu-item>${name}
      <${menu} slot="submenu" hidden><div slot="title">${name}</div></${menu}>
    </media-settings-menu-item>`;

/** @param first additional first entry. */
const SETTINGS = (first: string) => `
  <media-settings-menu hidden anchor="auto">${first}
    ${SUBMENU('Quality', 'media-rendition-menu')}
    ${SUBMENU('Audio', 'media-audio-track-menu')}
    ${SUBMENU('Captions', 'media-captions-menu')}
    <media-settings-menu-item data-opens="stats">Statistics<span slot="suffix"></span></media-settings-menu-item>
    <media-settings-menu-item data-opens="keys">Keyboard shortcuts<span slot="suffix"></span></media-settings-menu-item>
  </media-settings-menu>`;

const REAL_TIME = `
    <media-settings-menu-item class="player-real-time" hidden>Real time<span slot="suffix"></span></media-settings-menu-item>`;

// The keys are ours: those of media-chrome work only where it has the focus.
const CONTROLS: Record<Kind, string> = {
  broadcast: `
<media-controller defaultstreamtype="live" nohotkeys inert>${START}${SETTINGS(REAL_TIME)}
  <media-control-bar class="player-seek" hidden>
    <media-time-range></media-time-range>
  </media-control-bar>
  <media-control-bar>${SOUND}
    <media-live-button></media-live-button>
    <span class="player-behind" hidden></span>
    <span class="player-viewers" hidden></span>
    <span class="player-spacer"></span>
    <media-captions-button></media-captions-button>
    <media-settings-menu-button></media-settings-menu-button>${SCREENS}
  </media-control-bar>
</media-controller>`,
  video: `
<media-controller defaultstreamtype="on-demand" nohotkeys inert>${START}${SETTINGS(SUBMENU('Speed', 'media-playback-rate-menu'))}
  <media-control-bar class="player-seek">
    <media-time-range></media-time-range>
  </media-control-bar>
  <media-control-bar>${SOUND}
    <media-time-display showduration notoggle></media-time-display>
    <span class="player-spacer"></span>
    <media-captions-button></media-captions-button>
    <media-settings-menu-button></media-settings-menu-button>${SCREENS}
  </media-control-bar>
</media-controller>`,
};
const FRAME = `
<button type="button" class="player-unmute" hidden></button>
<p class="player-said" role="status"></p>
<p class="player-status visually-hidden" role="status"></p>`;

const PANEL = `
<p class="player-panel-state"></p>
<p class="player-panel-title" dir="auto"></p>
<p class="player-panel-message"></p>`;

/** Phases without a panel, in which the video and its controls are visible. */
const PHASES_WITH_VIDEO: ReadonlySet<Phase> = new Set(['live', 'interrupted']);

export interface View {
  stage: HTMLElement;
  controller: HTMLElement;
  video: HTMLVideoElement;
  /** Brief message above the video. */
  said: HTMLElement;
  /** The button that ends the silence of a muted start. */
  unmute: HTMLButtonElement;
  retry: HTMLButtonElement;
  show(phase: Phase, startsAt: Date | null): void;
}

let count = 0;

/** Builds the player's parts into `host`; the panel that the server rendered there is reused. */
export function createView(host: HTMLElement, label: string, kind: Kind): View {
  const stage = document.createElement('div');
  stage.className = 'player-stage';
  stage.id = `player-stage-${count++}`;
  stage.innerHTML = CONTROLS[kind] + FRAME;
  const controller = part(stage, 'media-controller', HTMLElement);
  controller.setAttribute('fullscreenelement', stage.id);
  const panel = host.querySelector('.player-panel') ?? createPanel(label);
  const retry = document.createElement('button');
  retry.type = 'button';
  retry.className = 'player-panel-retry';
  retry.textContent = RETRY;
  // Screen readers announce the start time; the countdown is visual only.
  const remaining = document.createElement('p');
  remaining.className = 'player-panel-countdown';
  remaining.setAttribute('role', 'timer');
  panel.append(remaining, retry);
  controller.after(panel);
  host.replaceChildren(stage);

  const unmute = part(stage, '.player-unmute', HTMLButtonElement);
  unmute.textContent = UNMUTE;
  const status = part(stage, '.player-status', HTMLElement);
  const state = part(stage, '.player-panel-state', HTMLElement);
  const message = part(stage, '.player-panel-message', HTMLElement);

  return {
    ...{ stage, controller },
    video: part(stage, 'video', HTMLVideoElement),
    said: part(stage, '.player-said', HTMLElement),
    unmute,
    retry,
    show(phase, startsAt) {
      const words = MESSAGES[kind][phase];
      const isAhead = phase === 'offline' && startsAt !== null;
      const isOffline = phase === 'reconnecting' && !navigator.onLine;
      const text = isAhead ? startMessage(startsAt) : isOffline ? NO_NETWORK : words.message;
      stage.dataset.phase = phase;
      controller.toggleAttribute('inert', !PHASES_WITH_VIDEO.has(phase));
      retry.hidden = phase !== 'failed';
      setText(state, isAhead ? 'Scheduled' : words.state);
      setText(message, text);
      const isCounting = isAhead && startsAt > new Date();
      remaining.hidden = !isCounting;
      setText(remaining, isCounting ? countdown(startsAt, new Date()) : '');
      // Only a new phase is announced by screen readers.
      if (status.dataset.phase !== phase) setText(status, text);
      status.dataset.phase = phase;
    },
  };
}

function startMessage(startsAt: Date): string {
  if (startsAt <= new Date()) return 'Starting soon. Playback starts automatically.';
  return `Starts ${localTime(startsAt)}.`;
}

function createPanel(label: string): Element {
  const panel = document.createElement('div');
  panel.className = 'player-panel';
  panel.innerHTML = PANEL;
  part(panel, '.player-panel-title', HTMLElement).textContent = label;
  return panel;
}

/** @throws {Error} when the markup above lacks it. */
function part<T extends Element>(root: Element, selector: string, type: new () => T): T {
  const found = root.querySelector(selector);
  if (found instanceof type) return found;
  throw new Error(`the player has no ${selector}`);
}

function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
