import type { Engine, EngineEvent } from './playback.ts';
import type { WhepConnection } from './whep-engine.ts';

/** Duration of a connection after which a broken one is replaced immediately. */
const STEADY_MS = 5000;
/** First and maximum delay between connection attempts. */
const WAIT_MS = { first: 4000, most: 30_000 };
const SLOWER = 1.5;
const CONNECT_MS = 8000;

/** Functions of the WHEP engine, which is a separate chunk. */
export type WhepEngine = Pick<
  typeof import('./whep-engine.ts'),
  'connectWhep' | 'hasConnected' | 'attachWhep'
>;

interface Deps {
  video: HTMLVideoElement;
  /** WHEP URL of the broadcast. */
  url: string;
  load(): Promise<WhepEngine>;
  /** Called when the viewer turns real time on or off. */
  onWanted(isWanted: boolean): void;
  /** It is not shown now. */
  onRefused(): void;
  /** Attaches a new engine: the viewer has chosen, or real time is available while other media plays. */
  again(): void;
  /** Reports whether the viewer is elsewhere: in another tab, paused, or behind live. */
  isAway(): boolean;
  /** From 0 to 1; spreads the requests of many viewers. */
  random(): number;
}

/** Real-time playback on the viewer's choice. */
export interface RealTime {
  /** Turns real time on or off for the viewer. */
  toggle(): void;
  /**
   * Connects in real time. Null if the viewer has it turned off or it is unavailable: other media plays then,
   * and attempts continue in the background unless the rejection is permanent.
   */
  attach(report: (event: EngineEvent) => void): Promise<Engine | null>;
  /** Stops connection attempts until the next `attach`, while nothing plays. */
  rest(): void;
}

/** Reports whether an error may be temporary: the engine is unavailable or full, or the network is down. */
function mayPass(error: unknown): boolean {
  return (
    error instanceof TypeError || (error instanceof Error && 'mayPass' in error && error.mayPass === true)
  );
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one state that its inner functions share.
export function createRealTime(deps: Deps): RealTime {
  let isWanted = false;
  /**
   * Whether real time has played since the viewer chose it; if a connection ends before that, real time is
   * turned off.
   */
  let hasPlayed = false;
  /** Whether the last connection broke quickly, so that other media plays first. */
  let isUnsteady = false;
  let waitMs = WAIT_MS.first;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Number of the current operation, so that results of canceled ones are discarded. */
  let turn = 0;
  let prepared: WhepConnection | null = null;

  const want = (wanted: boolean) => {
    isWanted = wanted;
    hasPlayed = isUnsteady = false;
    waitMs = WAIT_MS.first;
    deps.onWanted(wanted);
  };
  const rest = () => {
    turn += 1;
    clearTimeout(timer);
    prepared?.end();
    prepared = null;
  };
  const giveUp = () => {
    want(false);
    deps.onRefused();
  };
  const later = () => {
    timer = setTimeout(() => void prepare(), waitMs * (0.75 + deps.random() / 2));
    waitMs = Math.min(WAIT_MS.most, waitMs * SLOWER);
  };
  /** Connects in the background; current playback continues until real time is known to work. */
  const prepare = async () => {
    if (deps.isAway()) return later();
    const mine = turn;
    try {
      const engine = await deps.load();
      const connection = await engine.connectWhep(deps.url);
      const isThere = mine === turn && (await engine.hasConnected(connection, CONNECT_MS));
      if (mine !== turn) return connection.end();
      if (!isThere || deps.isAway()) {
        connection.end();
        return later();
      }
      prepared = connection;
      deps.again();
    } catch (error) {
      if (mine !== turn) return;
      if (mayPass(error)) later();
      else giveUp();
    }
  };
  const listen = (report: (event: EngineEvent) => void) => {
    let readyAt: number | null = null;
    return (event: EngineEvent) => {
      if (event === 'ready') {
        readyAt = performance.now();
        hasPlayed = true;
      }
      if (event === 'gone') {
        const isSteady = readyAt !== null && performance.now() - readyAt >= STEADY_MS;
        if (isSteady) waitMs = WAIT_MS.first;
        else if (hasPlayed) isUnsteady = true;
        else giveUp();
      }
      report(event);
    };
  };

  return {
    rest,
    toggle() {
      rest();
      want(!isWanted);
      deps.again();
    },
    async attach(report) {
      const ready = prepared;
      prepared = null;
      rest();
      if (!isWanted) return null;
      if (isUnsteady) {
        isUnsteady = false;
        later();
        return null;
      }
      const mine = turn;
      try {
        const engine = await deps.load();
        const connection = ready ?? (await engine.connectWhep(deps.url));
        if (mine === turn) return engine.attachWhep(deps.video, connection, listen(report));
        connection.end();
      } catch (error) {
        if (mine !== turn) return null;
        if (!mayPass(error)) giveUp();
        else {
          deps.onRefused();
          later();
        }
      }
      return null;
    },
  };
}
