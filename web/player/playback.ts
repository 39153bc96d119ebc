import type { Availability } from './probe.ts';

/**
 * Where a broadcast stands for its viewer. `offline`: not begun. `starting`: live, no picture yet. `live`:
 * there is a picture. `interrupted`: the encoder sends nothing. `reconnecting`: the server is out of reach of this
 * viewer.
 * `ended`: it was live here and is over. `failed`: this browser cannot show what is sent.
 */
export type Phase = 'offline' | 'starting' | 'live' | 'interrupted' | 'reconnecting' | 'ended' | 'failed';

/**
 * What an engine tells. `ready`: the first picture is there; `stalled` and `resumed`: it stopped, it moves
 * again; `empty`: a playlist without segments; `gone`: a playlist that does not exist; `network`: retries
 * are used up; `media`: the data cannot be played; `unsupported`: nor will it ever be by this browser; `changed`: what is
 * sent has qualities that are known to who begins anew.
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

/** What an engine knows of what plays; null is unknown. Rates are bits a second. */
export interface EngineState {
  protocol: string;
  /** Where of a broadcast one is live, in seconds of the element. */
  liveSec: number | null;
  /** How far behind the newest picture that the server has. */
  delaySec: number | null;
  frameRate: number | null;
  /** Of the quality that plays. */
  bitrate: number | null;
  /** What the network brings. */
  bandwidth: number | null;
  codecs: string | null;
}

export interface Engine {
  /** Null before anything is known. */
  facts(): EngineState | null;
  /** Its own playlist requests cannot be observed (native HLS), so the end has to be asked for. */
  opaque: boolean;
  destroy(): void;
}

interface Deps {
  probe(): Promise<Availability>;
  /** Starts loading and playing; it reports until it is destroyed. */
  attach(report: (event: EngineEvent) => void): Promise<Engine>;
  onPhase(phase: Phase): void;
  /** It has been on before, and is over. */
  wasLive: boolean;
  /** What cannot be shown now may be sent otherwise in a while. */
  mayChange: boolean;
  /** The tab is in the background: ask rarely. */
  isHidden(): boolean;
  /** From 0 to 1; spreads the requests of many viewers. */
  random(): number;
}

export interface Playback {
  /** `live`: the page was rendered while the broadcast was on, so it is not asked first. */
  start(live: boolean): void;
  /** Asks now instead of at the next turn: the tab is visible again, the network is back. */
  wake(): void;
  /** Leaves `failed` at once, or hurries any wait. */
  retry(): void;
  stop(): void;
}

const OFFLINE_POLL_MS = 2500;
const HIDDEN_POLL_MS = 15_000;
const OPAQUE_POLL_MS = 3000;
/** The server keeps the rest of a broadcast so long for those who were watching. */
const ENDING_MS = 15_000;
const EMPTY_POLL_MS = 1000;
const BACKOFF_MAX_MS = 15_000;
const FAILED_POLL_MS = 8000;
/** Playing this long forgives earlier failures. */
const STABLE_MS = 10_000;
const MEDIA_FAILURES_MAX = 4;

/** What is said then holds until there is a picture. */
const QUIET: ReadonlySet<Phase | null> = new Set<Phase>(['reconnecting', 'interrupted', 'failed']);

/** Follows a broadcast through its whole life. Every retry waits; waits grow to 15 s and are spread. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one state that its inner functions share.
export function createPlayback(deps: Deps): Playback {
  let phase: Phase | null = null;
  let engine: Engine | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Counts what was begun, so that answers to what was given up are dropped. */
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

  /** Asks whether the broadcast is on and acts on the answer; `then` is what follows a yes. */
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
      // It says itself when it has shown the rest.
      later(ENDING_MS, check);
    });

  /** The picture stands still: whether the encoder or the viewer's own network is away, the server tells. */
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
