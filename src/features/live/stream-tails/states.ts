import type { Clock } from '../../../kernel/clock.ts';
import type { Logger } from '../../../platform/logger.ts';

/** What is only ever shown as it is now. */
export interface StreamState {
  viewers: { current: number; peak: number; unique: number };
  health: object | null;
}

/** Reads states; a stream that is not there any more is left out. */
export type StreamStates = (streamIds: readonly string[]) => Promise<ReadonlyMap<string, StreamState>>;

type StateName = keyof StreamState;

interface StateEvent {
  readonly event: string;
  readonly id?: string;
  readonly data: string;
}

export interface StateFollower {
  show(event: StateEvent): void;
  /** The stream is not there any more. */
  gone(): void;
}

interface Deps {
  states: StreamStates;
  clock: Clock;
  log: Logger;
}

/** Two events of a state are at least so far apart… */
const TICK_MS = 5000;
/** …and at most so far. */
const QUIET_MS = 60_000;
/** A tick is never quite on time. */
const SLACK_MS = TICK_MS / 2;

interface Watched {
  followers: Map<StateFollower, ReadonlySet<StateName>>;
  /** What was shown last of each state, and when. */
  shown: Map<StateName, { text: string; atMs: number }>;
}

/**
 * Shows states to all tails of this process: one read every five seconds for all their streams. So it also sees that
 * a stream was deleted where the hint of that was lost.
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
   * @param names none: it is told only when the stream is gone.
   * @returns the function that ends it.
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

  /** The states as events, for whoever has just come. */
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
