import type { Engine, EngineEvent } from './playback.ts';
import type { WhepConnection } from './whep-engine.ts';

/** Real time that has lasted so long is asked for at once when its connection breaks. */
const STEADY_MS = 5000;
/** How long is waited before it is asked for again, at first and at most. */
const WAIT_MS = { first: 4000, most: 30_000 };
const SLOWER = 1.5;
const CONNECT_MS = 8000;

/** How it is done: a chunk of its own. */
export type WhepEngine = Pick<
  typeof import('./whep-engine.ts'),
  'connectWhep' | 'hasConnected' | 'attachWhep'
>;

interface Deps {
  video: HTMLVideoElement;
  /** Where the server shows it. */
  url: string;
  load(): Promise<WhepEngine>;
  /** The viewer wants it, or not any more. */
  onWanted(isWanted: boolean): void;
  /** It is not shown now. */
  onRefused(): void;
  /** Attaches anew: the viewer has chosen, or real time is there while something else plays. */
  again(): void;
  /** The viewer has turned to something else: another tab, a pause, what was before. */
  isAway(): boolean;
  /** From 0 to 1; spreads the requests of many viewers. */
  random(): number;
}

/** The picture as early as can be, where the viewer wants that. */
export interface RealTime {
  /** By the viewer. */
  toggle(): void;
  /**
   * Null where the viewer does not want it, or it cannot be: something else plays then, beside which it is asked for again and
   * again, unless it can never be.
   */
  attach(report: (event: EngineEvent) => void): Promise<Engine | null>;
  /** Nothing plays: it is asked for when something does. */
  rest(): void;
}

/** The engine is away or full, or the network is. */
function mayPass(error: unknown): boolean {
  return (
    error instanceof TypeError || (error instanceof Error && 'mayPass' in error && error.mayPass === true)
  );
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one state that its inner functions share.
export function createRealTime(deps: Deps): RealTime {
  let isWanted = false;
  /** Since the viewer has chosen it: whoever it never reaches is not asked to wait for it. */
  let hasPlayed = false;
  /** It broke as soon as it was there, so something else plays first. */
  let isUnsteady = false;
  let waitMs = WAIT_MS.first;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Counts what was begun, so that what comes of what was given up is let go. */
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
  /** Beside what plays, which is not disturbed before it is known that real time comes. */
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
