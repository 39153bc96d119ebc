import './player.css';
import { createPlayback, type Engine, type EngineEvent, type Phase, type Playback } from './playback.ts';
import { probe } from './probe.ts';
import { createView, type View } from './view.ts';

const COUNTDOWN_MS = 20_000;

declare global {
  interface HTMLElementTagNameMap {
    'marquee-player': MarqueePlayer;
  }
  interface HTMLElementEventMap {
    /** The broadcast began, stopped, was interrupted…; bubbles. */
    'marquee-phase': CustomEvent<Phase>;
  }
}

/**
 * `<marquee-player src poster live muted label starts-at>`: plays one broadcast and waits for it while it
 * is off.
 *
 * - `src`: the master playlist; 404 means that the broadcast is off.
 * - `live`: the broadcast was on when the page was made, so it is loaded without asking first.
 * - `muted`: begin without sound (embedded players); otherwise only if the browser insists.
 * - `label`: title of the broadcast; `starts-at`: ISO time of the announced start.
 */
export class MarqueePlayer extends HTMLElement {
  #view: View | null = null;
  #playback: Playback | null = null;
  #countdown: ReturnType<typeof setInterval> | undefined;
  #phase: Phase = 'offline';
  /** What the viewer wants, through every reconnection; without a word from them, motion only if they like it. */
  #wantsPlay = !matchMedia('(prefers-reduced-motion: reduce)').matches;

  get phase(): Phase {
    return this.#phase;
  }

  connectedCallback(): void {
    const view = this.#view ?? this.#build();
    this.#playback = createPlayback({
      probe: () => probe(this.#src),
      attach: (report) => this.#attach(view, report),
      onPhase: (phase) => this.#enter(phase),
      isHidden: () => document.hidden,
      random: Math.random,
    });
    document.addEventListener('visibilitychange', this.#onWake);
    window.addEventListener('online', this.#onWake);
    this.#countdown = setInterval(() => view.show(this.#phase, this.#startsAt), COUNTDOWN_MS);
    view.show(this.hasAttribute('live') ? 'starting' : 'offline', this.#startsAt);
    this.#playback.start(this.hasAttribute('live'));
  }

  disconnectedCallback(): void {
    document.removeEventListener('visibilitychange', this.#onWake);
    window.removeEventListener('online', this.#onWake);
    clearInterval(this.#countdown);
    this.#playback?.stop();
    this.#playback = null;
  }

  get #src(): string {
    return this.getAttribute('src') ?? '';
  }

  get #startsAt(): Date | null {
    const text = this.getAttribute('starts-at');
    return text === null || Number.isNaN(Date.parse(text)) ? null : new Date(text);
  }

  #onWake = () => {
    if (!document.hidden) this.#playback?.wake();
  };

  #build(): View {
    const view = createView(this, this.getAttribute('label') ?? '');
    // From here on the stage inside says it.
    this.removeAttribute('data-phase');
    const { video, unmute, retry } = view;
    video.muted = this.hasAttribute('muted');
    video.poster = this.getAttribute('poster') ?? '';
    video.addEventListener('play', () => {
      this.#wantsPlay = true;
    });
    video.addEventListener('pause', () => {
      if (video.readyState > 0 && !video.ended) this.#wantsPlay = false;
    });
    video.addEventListener('volumechange', () => {
      if (!video.muted) unmute.hidden = true;
    });
    unmute.addEventListener('click', () => {
      video.muted = false;
      if (video.volume === 0) video.volume = 1;
      unmute.hidden = true;
    });
    retry.addEventListener('click', () => this.#playback?.retry());
    this.#view = view;
    return view;
  }

  async #attach(view: View, report: (event: EngineEvent) => void): Promise<Engine> {
    const [hls] = await Promise.all([import('./hls-engine.ts'), import('./controls.ts')]);
    const told = (event: EngineEvent) => {
      if (event === 'ready') void this.#play(view);
      report(event);
    };
    if (hls.canUseHls()) return hls.attachHls(view.video, this.#src, told);
    const native = await import('./native-engine.ts');
    if (!native.canPlayNatively(view.video)) {
      queueMicrotask(() => report('unsupported'));
      return { opaque: false, destroy: () => {} };
    }
    const engine = native.attachNative(view.video, this.#src, told);
    // An iPhone loads nothing before it is told to play.
    void this.#play(view).then((started) => started || report('ready'));
    return engine;
  }

  /** Plays with sound where the browser lets us, else muted with a button to turn the sound on. */
  async #play({ video, unmute }: View): Promise<boolean> {
    if (!this.#wantsPlay) return false;
    const isRefused = await refused(video);
    if (isRefused && !video.muted) {
      video.muted = true;
      if (await refused(video)) return false;
    } else if (isRefused) {
      return false;
    }
    unmute.hidden = !video.muted;
    return true;
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#view?.show(phase, this.#startsAt);
    this.dispatchEvent(new CustomEvent('marquee-phase', { bubbles: true, detail: phase }));
  }
}

/** Did the browser's autoplay policy say no? A load that took the place of this one is no refusal. */
async function refused(video: HTMLVideoElement): Promise<boolean> {
  try {
    await video.play();
    return false;
  } catch (error) {
    return error instanceof DOMException && error.name === 'NotAllowedError';
  }
}

customElements.define('marquee-player', MarqueePlayer);
