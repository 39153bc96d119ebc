import type { Availability } from './probe.ts';

/**
 * State of a broadcast for its viewer. `offline`: not started. `starting`: live, no frame yet. `live`:
 * playing. `interrupted`: the encoder sends nothing. `reconnecting`: this viewer cannot reach the server.
 * `ended`: it was live here and has ended. `failed`: this browser cannot play it.
 */
export type Phase = 'offline' | 'starting' | 'live' | 'interrupted' | 'reconnecting' | 'ended' | 'failed';

/**
 * Event of an engine. `ready`: the first frame is available; `stalled` and `resumed`: playback stopped or
 * continued; `empty`: a playlist without segments; `gone`: a playlist that does not exist; `network`: retries
 * are exhausted; `media`: the data cannot be decoded; `unsupported`: this browser can never play it;
 * `changed`: there are new renditions, which only a restart picks up.
 */
export type EngineEvent =
  | 'ready'
  | 'stalled'
  | 'resumed'
  | 'empty'
  | 'gone'
  | 'network'
  | 'media'
  | 'unsupported'
  | 'changed';

/** Playback details of an engine; null is unknown. Rates are in bits per second. */
export interface EngineState {
  protocol: string;
  /** Live position of a broadcast, in seconds of the element. */
  liveSec: number | null;
  /** Delay behind the newest frame on the server. */
  delaySec: number | null;
  frameRate: number | null;
  /** Bitrate of the current rendition. */
  bitrate: number | null;
  /** Estimated network bandwidth. */
  bandwidth: number | null;
  codecs: string | null;
}

export interface Engine {
  /** Null before anything is known. */
  facts(): EngineState | null;
  /** Its own playlist requests cannot be observed (native HLS), so the end must be polled. */
  opaque: boolean;
  destroy(): void;
}

interface Deps {
  probe(): Promise<Availability>;
  /** Starts loading and playing; it reports until it is destroyed. */
  attach(report: (event: EngineEvent) => void): Promise<Engine>;
  onPhase(phase: Phase): void;
  /** Whether the broadcast was live before and has ended. */
  wasLive: boolean;
  /** Whether unsupported media may be replaced by a supported signal later. */
  mayChange: boolean;
  /** Reports whether the tab is in the background, where polling is slower. */
  isHidden(): boolean;
  /** From 0 to 1; spreads the requests of many viewers. */
  random(): number;
}

export interface Playback {
  /** @param live the page was rendered during the broadcast, so it starts without a probe. */
  start(live: boolean): void;
  /** Polls now: the tab is visible again, or the network is back. */
  wake(): void;
  /** Leaves `failed` immediately, or shortens any wait. */
  retry(): void;
  stop(): void;
}

const OFFLINE_POLL_MS = 2500;
const HIDDEN_POLL_MS = 15_000;
const OPAQUE_POLL_MS = 3000;
/** Time for which the server serves the rest of a broadcast to its last viewers. */
const ENDING_MS = 15_000;
const EMPTY_POLL_MS = 1000;
const BACKOFF_MAX_MS = 15_000;
const FAILED_POLL_MS = 8000;
/** Playing this long forgives earlier failures. */
const STABLE_MS = 10_000;
const MEDIA_FAILURES_MAX = 4;

/** Phases that persist until a frame is shown. */
const QUIET: ReadonlySet<Phase | null> = new Set<Phase>(['reconnecting', 'interrupted', 'failed']);

/** Follows a broadcast through its whole life. Every retry waits; waits grow to 15 s and are spread. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one state that its inner functions share.
export function createPlayback(deps: Deps): Playback {
  let phase: Phase | null = null;
  let engine: Engine | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Number of the current operation, so that results of canceled ones are ignored. */
  let turn = 0;
  let { wasLive } = deps;
  let readyAt: number | null = null;
  let failures = 0;
  let mediaFailures = 0;
  let isStalled = false;

  const enter = (next: Phase) => {
    if (phase === next) return;
    phase = next;
    deps.onPhase(next);
  };
  const later = (ms: number, then: () => void) => {
    clearTimeout(timer);
    timer = setTimeout(then, ms * (0.75 + deps.random() / 2));
  };
  const backoff = (then: () => void) => {
    later(Math.min(BACKOFF_MAX_MS, 1000 * 2 ** failures), then);
    failures += 1;
  };
  const detach = () => {
    turn += 1;
    clearTimeout(timer);
    if (readyAt !== null && performance.now() - readyAt > STABLE_MS) failures = mediaFailures = 0;
    readyAt = null;
    isStalled = false;
    engine?.destroy();
    engine = null;
  };
  const notLive = () => {
    failures = mediaFailures = 0;
    enter(wasLive ? 'ended' : 'offline');
    later(deps.isHidden() ? HIDDEN_POLL_MS : OFFLINE_POLL_MS, check);
  };
  const unreachable = () => {
    if (phase !== 'offline' && phase !== 'ended') enter('reconnecting');
    backoff(check);
  };

  /** Checks whether the broadcast is live and acts on the result; `then` runs if it is. */
  const check = async (then: () => void = attach) => {
    detach();
    const mine = turn;
    const answer = await deps.probe();
    if (mine !== turn) return;
    if (answer === 'live') then();
    else if (answer === 'offline') notLive();
    else unreachable();
  };

  const attach = async () => {
    detach();
    const mine = turn;
    if (!QUIET.has(phase)) enter('starting');
    try {
      const attached = await deps.attach((event) => {
        if (mine === turn) handle(event);
      });
      if (mine !== turn) return attached.destroy();
      engine = attached;
      if (attached.opaque) watchForEnd();
    } catch (error) {
      // Most likely the player's own code could not be loaded.
      console.error(error);
      if (mine === turn) unreachable();
    }
  };

  const watchForEnd = () =>
    later(OPAQUE_POLL_MS, async () => {
      const mine = turn;
      const answer = await deps.probe();
      if (mine !== turn) return;
      if (answer !== 'offline') return watchForEnd();
      // The engine reports itself when it has played the rest.
      later(ENDING_MS, check);
    });

  /**
   * Finds out why playback stalled: a probe of the server tells a missing encoder from the viewer's own
   * network.
   */
  const blame = async () => {
    if (phase !== 'live') return;
    const mine = turn;
    isStalled = true;
    const answer = await deps.probe();
    if (mine !== turn || !isStalled) return;
    enter(answer === 'unreachable' ? 'reconnecting' : 'interrupted');
  };

  const fail = () => {
    enter('failed');
    if (deps.mayChange) later(FAILED_POLL_MS, check);
  };
  const mediaFailure = () => {
    detach();
    mediaFailures += 1;
    if (mediaFailures >= MEDIA_FAILURES_MAX) return fail();
    backoff(attach);
  };

  const handle = (event: EngineEvent) => {
    switch (event) {
      case 'ready':
        wasLive = true;
        readyAt = performance.now();
        return enter('live');
      case 'stalled':
        return void blame();
      case 'resumed':
        isStalled = false;
        return enter('live');
      case 'empty':
        detach();
        if (phase === 'reconnecting') enter('starting');
        return later(EMPTY_POLL_MS, check);
      case 'gone':
        return void check(() => backoff(attach));
      case 'network':
        detach();
        return unreachable();
      case 'media':
        return mediaFailure();
      case 'unsupported':
        detach();
        return fail();
      case 'changed':
        return void attach();
    }
  };

  return {
    start: (live) => void (live ? attach() : check()),
    wake: () => void (engine === null && phase !== 'failed' && check()),
    retry: () => {
      failures = mediaFailures = 0;
      if (phase === 'failed') enter('starting');
      void check();
    },
    stop: detach,
  };
}
