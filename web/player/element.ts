import './player.css';
import { AudioTrackList } from './audio-tracks.ts';
import { type Beacons, createBeacons } from './beacons.ts';
import { listenToKeys } from './keyboard-shortcuts.ts';
import { followLive } from './live-bar.ts';
import { type Kind, NO_REAL_TIME } from './messages.ts';
import { openPanel } from './panels.ts';
import { followPlan } from './plan.ts';
import { createPlayback, type Engine, type EngineEvent, type Phase, type Playback } from './playback.ts';
import { probe } from './probe.ts';
import { createRealTime, type RealTime } from './real-time.ts';
import { showRecordingLink } from './recording.ts';
import { RenditionList } from './renditions.ts';
import { createSeekableRange, type SeekableRange } from './seekable-range.ts';
import { createView, type View } from './view.ts';
import { countView } from './view-count.ts';

const COUNTDOWN_MS = 1000;
/** Distance behind live, in seconds, beyond which a viewer keeps their position. */
const AWAY_SEC = 12;
/** Phases in which media plays, or is about to. */
const PLAYING: ReadonlySet<Phase> = new Set(['starting', 'live', 'interrupted']);

declare global {
  interface HTMLElementTagNameMap {
    'marquee-player': MarqueePlayer;
  }
  interface HTMLElementEventMap {
    /** The broadcast began, stopped, was interrupted…; bubbles. */
    'marquee-phase': CustomEvent<Phase>;
    /** Number of viewers of the broadcast; bubbles. */
    'marquee-viewers': CustomEvent<number>;
  }
}

/**
 * `<marquee-player src poster live muted label starts-at>`: plays one broadcast and waits for it while it is
 * offline.
 *
 * - `src`: the master playlist; 404 means that the broadcast is offline. `whep`: its WHEP URL for real-time
 *   playback on demand.
 * - `poster`: a thumbnail of the last half minute, shown until there is a newer one.
 * - `live`: the broadcast was live when the page was rendered, so it is loaded without a check; `ended`: it
 *   had ended.
 * - `session`: the viewer's session, with which the player sends beacons.
 * - `muted`: start without audio (embedded players); otherwise only if the browser requires it.
 * - `label`: title of the broadcast; `starts-at`: ISO time of the announced start.
 *
 * `<marquee-player kind="video" src poster ready muted autoplay label start duration storyboard chapters
 * views>`: plays a video, and waits for it while it is processed.
 *
 * - `ready`: the video was playable when the page was rendered.
 * - `autoplay`: without it, only the playlist is loaded until the viewer plays.
 * - `start`: second to begin at; `duration`: seconds, known before anything is loaded.
 * - `storyboard`, `chapters`: WebVTT; `views`: URL that counts the view; `session` as above.
 */
export class MarqueePlayer extends HTMLElement {
  #view: View | null = null;
  #playback: Playback | null = null;
  #countdown: ReturnType<typeof setInterval> | undefined;
  #phase: Phase = 'offline';
  /**
   * The viewer's intent to play, preserved across reconnections. Without an explicit choice it follows the
   * motion preference.
   */
  #wantsPlay = false;
  #realTime: RealTime | null = null;
  /** Position at which a video resumes after a reconnection. */
  #positionSec = 0;
  #beacons: Beacons | null = null;
  #engine: Engine | null = null;
  #reach: SeekableRange | null = null;
  #endKeys: (() => void) | null = null;
  #leavePlan: (() => void) | null = null;
  #withdrawRecording: (() => void) | null = null;
  readonly #renditions = new RenditionList();
  readonly #audioTracks = new AudioTrackList();

  get phase(): Phase {
    return this.#phase;
  }

  /** Seeks and plays. @returns false while there is nothing to play. */
  seek(seconds: number): boolean {
    if (this.#view === null || this.#phase !== 'live') return false;
    const { video } = this.#view;
    this.#positionSec = seconds;
    // Before anything is loaded, the element only stores the start position.
    video.currentTime = seconds;
    void video.play().catch(() => {});
    return true;
  }

  connectedCallback(): void {
    const view = this.#view ?? this.#build();
    this.#playback = createPlayback({
      probe: () => probe(this.#src),
      attach: (report) => this.#attach(view, report),
      wasLive: this.hasAttribute('ended'),
      mayChange: this.#kind === 'broadcast',
      onPhase: (phase) => this.#enter(phase),
      isHidden: () => document.hidden,
      random: Math.random,
    });
    if (this.#reach !== null) this.#endKeys = listenToKeys(this.#reach);
    document.addEventListener('visibilitychange', this.#onWake);
    window.addEventListener('online', this.#onWake);
    this.#countdown = setInterval(() => this.#count(view), COUNTDOWN_MS);
    const isOn = this.hasAttribute('live') || this.hasAttribute('ready');
    view.show(isOn ? 'starting' : this.hasAttribute('ended') ? 'ended' : 'offline', this.#startsAt);
    this.#playback.start(isOn);
  }

  disconnectedCallback(): void {
    document.removeEventListener('visibilitychange', this.#onWake);
    window.removeEventListener('online', this.#onWake);
    clearInterval(this.#countdown);
    this.#endKeys?.();
    this.#offerRecording(false);
    this.#waitForPlan(false);
    this.#realTime?.rest();
    this.#playback?.stop();
    this.#playback = null;
    this.#beacons?.stop();
    this.#beacons = null;
  }

  get #src(): string {
    return this.getAttribute('src') ?? '';
  }

  get #kind(): Kind {
    return this.getAttribute('kind') === 'video' ? 'video' : 'broadcast';
  }

  get #startsAt(): Date | null {
    const text = this.getAttribute('starts-at');
    return text === null || Number.isNaN(Date.parse(text)) ? null : new Date(text);
  }

  #onWake = () => {
    if (!document.hidden) this.#playback?.wake();
  };

  #build(): View {
    const view = createView(this, this.getAttribute('label') ?? '', this.#kind);
    // The stage inside shows the phase from here on.
    this.removeAttribute('data-phase');
    const { video, unmute, retry } = view;
    const isBroadcast = this.#kind === 'broadcast';
    const facts = () => this.#engine?.facts() ?? null;
    // media-chrome reads the property when the controls are defined, so it must be set before.
    Object.defineProperty(video, 'videoRenditions', { value: this.#renditions });
    // A browser with native HLS has its own audio tracks.
    if ('MediaSource' in window || 'ManagedMediaSource' in window) {
      Object.defineProperty(video, 'audioTracks', { value: this.#audioTracks });
    }
    const hasPicture = () => this.#phase === 'live' || this.#phase === 'interrupted';
    this.#reach = createSeekableRange({ view, isBroadcast, hasPicture, facts, open: openPanel });
    openByMenu(this.#reach);
    if (isBroadcast) followLive(view, this.#reach);
    const whep = this.getAttribute('whep');
    if (whep !== null) this.#offerRealTime(view, whep);
    const likesMotion = !matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.#wantsPlay = likesMotion && (isBroadcast || this.hasAttribute('autoplay'));
    if (this.#kind === 'video') this.#buildVideo(view);
    video.muted = this.hasAttribute('muted');
    showPoster(this, video);
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

  #buildVideo({ video }: View): void {
    this.#positionSec = Number(this.getAttribute('start')) || 0;
    video.closest('media-controller')?.setAttribute('defaultduration', this.getAttribute('duration') ?? '');
    video.addEventListener('timeupdate', () => {
      if (video.currentTime > 0) this.#positionSec = video.currentTime;
    });
    const views = this.getAttribute('views');
    if (views !== null) countView(video, views);
    addTrack(video, { kind: 'metadata', label: 'thumbnails', src: this.getAttribute('storyboard') });
    addTrack(video, { kind: 'chapters', label: 'Chapters', src: this.getAttribute('chapters') });
  }

  async #attach(view: View, report: (event: EngineEvent) => void): Promise<Engine> {
    const isVideo = this.#kind === 'video';
    const [hls] = await Promise.all([
      import('./hls-engine.ts'),
      import('./controls.ts'),
      ...(isVideo ? [import('./more-controls.ts')] : []),
    ]);
    // A broadcast starts without waiting for these controls.
    if (!isVideo) void import('./more-controls.ts').catch(() => {});
    const startSec = () => this.#positionSec;
    const told = (event: EngineEvent) => {
      if (event === 'ready') void this.#play(view);
      report(event);
    };
    const realTime = await this.#realTime?.attach(told);
    if (realTime) {
      this.#tell(view.video, true);
      return this.#use(realTime);
    }
    if (hls.canUseHls()) {
      this.#tell(view.video, true);
      const options = { startSec, isEager: this.#wantsPlay };
      const choices = { renditions: this.#renditions, audioTracks: this.#audioTracks };
      const listener = { report: told, ...choices, onViewers: this.#onViewers };
      return this.#use(hls.attachHls(view.video, this.#src, listener, isVideo ? options : null));
    }
    const native = await import('./native-engine.ts');
    if (!native.canPlayNatively(view.video)) {
      queueMicrotask(() => report('unsupported'));
      return { opaque: false, facts: () => null, destroy: () => {} };
    }
    // There, broadcasts are counted by playlist requests: native playback has another user agent than the
    // page.
    this.#tell(view.video, isVideo);
    const engine = native.attachNative(view.video, this.#src, told, isVideo ? startSec() : null);
    // An iPhone loads nothing before playback is requested.
    void this.#play(view).then((started) => started || report('ready'));
    return this.#use(engine);
  }

  #offerRealTime({ stage, video }: View, url: string): void {
    const item = stage.querySelector<HTMLElement>('.player-real-time');
    const state = item?.querySelector('[slot=suffix]');
    if (!item || !state) return;
    const realTime = createRealTime({
      ...{ video, url, load: () => import('./whep-engine.ts'), random: Math.random },
      onWanted(isWanted) {
        state.textContent = isWanted ? '✓' : '';
      },
      onRefused: () => this.#reach?.say(NO_REAL_TIME),
      again: () => this.#playback?.retry(),
      isAway: () => document.hidden || video.paused || this.#behindSec(video) > AWAY_SEC,
    });
    this.#realTime = realTime;
    item.hidden = false;
    item.addEventListener('click', () => realTime.toggle());
  }

  #behindSec({ currentTime }: HTMLVideoElement): number {
    const liveSec = this.#engine?.facts()?.liveSec ?? null;
    return liveSec === null ? 0 : liveSec - currentTime;
  }

  #use(engine: Engine): Engine {
    this.#engine = engine;
    return engine;
  }

  #onViewers = (detail: number) => {
    this.dispatchEvent(new CustomEvent('marquee-viewers', { bubbles: true, detail }));
  };

  /** Plays with audio if the browser allows it, otherwise muted with an unmute button. */
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

  #offerRecording(isOffered: boolean): void {
    if (isOffered === (this.#withdrawRecording !== null)) return;
    this.#withdrawRecording?.();
    const panel = isOffered ? this.querySelector('.player-panel') : null;
    this.#withdrawRecording = panel && showRecordingLink(panel);
  }

  #tell(video: HTMLVideoElement, isPresence: boolean): void {
    const session = this.getAttribute('session');
    if (session !== null) this.#beacons ??= createBeacons(video, session, isPresence);
  }

  #count(view: View): void {
    if (this.#phase === 'offline' || this.#phase === 'reconnecting') view.show(this.#phase, this.#startsAt);
  }

  #waitForPlan(isWaiting: boolean): void {
    if (isWaiting === (this.#leavePlan !== null)) return;
    this.#leavePlan?.();
    this.#leavePlan = isWaiting ? followPlan(this) : null;
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    if (!PLAYING.has(phase)) this.#realTime?.rest();
    // Viewers who wait for a disconnected encoder are still present.
    this.#beacons?.show(phase === 'live' || phase === 'interrupted' || phase === 'reconnecting');
    this.#view?.show(phase, this.#startsAt);
    this.#offerRecording(phase === 'ended' && this.#kind === 'broadcast');
    this.#waitForPlan(phase === 'offline' && this.#kind === 'broadcast');
    this.dispatchEvent(new CustomEvent('marquee-phase', { bubbles: true, detail: phase }));
  }
}

/** Shows the poster; a broadcast has no frame in its first seconds. */
function showPoster(player: HTMLElement, video: HTMLVideoElement): void {
  const address = player.getAttribute('poster');
  if (address === null) return;
  const picture = new Image();
  picture.addEventListener('load', () => {
    video.poster = address;
  });
  picture.addEventListener('error', () => player.removeAttribute('poster'));
  picture.src = address;
}

function openByMenu(reach: SeekableRange): void {
  for (const item of reach.stage.querySelectorAll<HTMLElement>('[data-opens]')) {
    item.addEventListener('click', () => reach.open(item.dataset.opens === 'keys' ? 'keys' : 'stats'));
  }
}

function addTrack(
  video: HTMLVideoElement,
  { kind, label, src }: { kind: string; label: string; src: string | null },
): void {
  if (src === null) return;
  const track = document.createElement('track');
  Object.assign(track, { kind, label, src });
  video.append(track);
  track.track.mode = 'hidden';
  // media-chrome looks for `default`. Set earlier, the browser would also choose captions for the viewer.
  track.default = true;
}

/**
 * Reports whether the browser's autoplay policy rejected playback. A load that was replaced by another does
 * not count.
 */
async function refused(video: HTMLVideoElement): Promise<boolean> {
  try {
    await video.play();
    return false;
  } catch (error) {
    return error instanceof DOMException && error.name === 'NotAllowedError';
  }
}

customElements.define('marquee-player', MarqueePlayer);
