import type { Clock } from '../../../kernel/clock.ts';
import type { Logger } from '../../../platform/logger.ts';

/** State of which only the current value is sent. */
export interface StreamState {
  viewers: { current: number; peak: number; unique: number };
  health: object | null;
}

/** Reader of states; deleted streams are omitted. */
export type StreamStates = (streamIds: readonly string[]) => Promise<ReadonlyMap<string, StreamState>>;

type StateName = keyof StreamState;

interface StateEvent {
  readonly event: string;
  readonly id?: string;
  readonly data: string;
}

export interface StateFollower {
  show(event: StateEvent): void;
  /** Called when the stream has been deleted. */
  gone(): void;
}

interface Deps {
  states: StreamStates;
  clock: Clock;
  log: Logger;
}

/** Minimum interval between two events of a state. */
const TICK_MS = 5000;
/** Maximum interval between two events of a state. */
const QUIET_MS = 60_000;
/** Tolerance for ticks that are not exactly on time. */
const SLACK_MS = TICK_MS / 2;

interface Watched {
  followers: Map<StateFollower, ReadonlySet<StateName>>;
  /** Last sent value of each state, and its time. */
  shown: Map<StateName, { text: string; atMs: number }>;
}

/**
 * Sender of states to all tails of this process: one read every five seconds for all their streams. The read
 * also detects a deletion whose hint was lost.
 */
export class StateTicker {
  readonly #deps: Deps;
  readonly #watched = new Map<string, Watched>();
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> | null = null;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * @param names empty: the follower is only notified when the stream is deleted.
   * @returns the function that unsubscribes.
   */
  follow(streamId: string, names: readonly StateName[], follower: StateFollower): () => void {
    const watched = this.#watched.get(streamId) ?? { followers: new Map(), shown: new Map() };
    this.#watched.set(streamId, watched);
    watched.followers.set(follower, new Set(names));
    this.#timer ??= setInterval(() => void this.#tick(), TICK_MS);
    return () => {
      watched.followers.delete(follower);
      if (watched.followers.size > 0) return;
      this.#watched.delete(streamId);
      if (this.#watched.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  /** Returns the current states as events, for a new follower. */
  async now(streamId: string, names: readonly StateName[]): Promise<StateEvent[]> {
    if (names.length === 0) return [];
    const state = (await this.#deps.states([streamId])).get(streamId);
    return state === undefined ? [] : names.map((name) => this.#eventOf(streamId, name, state));
  }

  gone(streamId: string): void {
    for (const follower of [...(this.#watched.get(streamId)?.followers.keys() ?? [])]) follower.gone();
  }

  #tick(): Promise<void> {
    this.#reading ??= this.#read()
      .catch((error: unknown) => this.#deps.log.warn({ err: error }, 'the states of streams cannot be read'))
      .finally(() => {
        this.#reading = null;
      });
    return this.#reading;
  }

  async #read(): Promise<void> {
    const ids = [...this.#watched.keys()];
    const states = await this.#deps.states(ids);
    for (const id of ids) {
      const state = states.get(id);
      if (state === undefined) this.gone(id);
      else this.#show(id, state);
    }
  }

  #show(streamId: string, state: StreamState): void {
    const watched = this.#watched.get(streamId);
    if (watched === undefined) return;
    const nowMs = performance.now();
    for (const name of ['viewers', 'health'] as const) {
      const text = JSON.stringify(state[name]);
      const last = watched.shown.get(name);
      if (last !== undefined && last.text === text && nowMs - last.atMs < QUIET_MS - SLACK_MS) continue;
      watched.shown.set(name, { text, atMs: nowMs });
      const event = this.#eventOf(streamId, name, state);
      for (const [follower, names] of watched.followers) if (names.has(name)) follower.show(event);
    }
  }

  #eventOf(streamId: string, name: StateName, state: StreamState): StateEvent {
    const at = this.#deps.clock.now().toISOString();
    const body =
      name === 'viewers' ? { streamId, ...state.viewers, at } : { streamId, health: state.health, at };
    return { event: name, id: `${this.#deps.clock.ms()}-0`, data: JSON.stringify(body) };
  }
}
