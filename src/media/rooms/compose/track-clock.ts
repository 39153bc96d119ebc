/**
 * When what a track holds was made, by its timestamps and the times at which its packets came: timestamps are even but
 * begin anywhere and drift, arrivals are true but late by what the network took. The packets that came fastest tie one to
 * the other (docs/decisions/room-recordings.md#timestamps).
 */
export interface TrackClock {
  /** Milliseconds after the track's first packet came. */
  timeOf(packet: Stamped): number;
}

interface Stamped {
  sequence: number;
  timestamp: number;
  receivedMs: number;
}

/** From one discontinuity of the timestamps to the next. */
interface Epoch {
  fromSequence: number;
  startedMs: number;
  windows: Window[];
}

/** A few seconds, and the least that a packet was late in them. */
interface Window {
  number: number;
  delayMs: number;
}

const WINDOW_MS = 5000;
/** Drift is slow: so many windows before and after say what is fast here. */
const NEIGHBOURS = 2;
/** More than this for longer than that is no network that stood still, but a timestamp that jumped. */
const JUMP_MS = 400;
const JUMP_LASTS_MS = 3000;
/** At the start of a stream packets may wait for each other. */
const SETTLE_MS = 3000;
/** Nothing is later than that, whatever its timestamp says. */
const LATEST_MS = 5000;

export class TrackClockBuilder {
  readonly #ticksPerMs: number;
  readonly #epochs: Epoch[] = [];
  /** What may turn out to be the next epoch. */
  #candidate: Epoch | null = null;

  constructor(clockRate: number) {
    this.#ticksPerMs = clockRate / 1000;
  }

  add({ sequence, timestamp, receivedMs }: Stamped): void {
    const delayMs = receivedMs - timestamp / this.#ticksPerMs;
    const epoch = this.#epochs.at(-1);
    const begin = (): Epoch => ({ fromSequence: sequence, startedMs: receivedMs, windows: [] });
    const change = epoch === undefined ? 0 : delayMs - usualDelay(epoch);
    if (epoch === undefined) this.#epochs.push(note(begin(), receivedMs, delayMs));
    else if (change > JUMP_MS) {
      this.#candidate ??= begin();
      note(this.#candidate, receivedMs, delayMs);
      if (receivedMs - this.#candidate.startedMs < JUMP_LASTS_MS) return;
      this.#epochs.push(this.#candidate);
    } else if (change < -JUMP_MS && receivedMs - epoch.startedMs >= SETTLE_MS) {
      this.#epochs.push(note(begin(), receivedMs, delayMs));
    } else note(epoch, receivedMs, delayMs);
    this.#candidate = null;
  }

  build(): TrackClock {
    const ticksPerMs = this.#ticksPerMs;
    const epochs = this.#epochs.map(({ fromSequence, windows }) => ({
      fromSequence,
      delays: smooth(windows),
    }));
    return {
      timeOf({ sequence, timestamp, receivedMs }) {
        const epoch = lastUpTo(epochs, sequence, ({ fromSequence }) => fromSequence) ?? epochs[0];
        const delayMs = epoch === undefined ? 0 : delayAt(epoch.delays, receivedMs);
        const ms = timestamp / ticksPerMs + delayMs;
        return Math.max(receivedMs - LATEST_MS, Math.min(receivedMs, ms));
      },
    };
  }
}

function note(epoch: Epoch, receivedMs: number, delayMs: number): Epoch {
  const number = Math.floor(receivedMs / WINDOW_MS);
  const last = epoch.windows.at(-1);
  if (last !== undefined && number <= last.number) last.delayMs = Math.min(last.delayMs, delayMs);
  else epoch.windows.push({ number, delayMs });
  return epoch;
}

/** The least of the last two windows. */
function usualDelay({ windows }: Epoch): number {
  return Math.min(...windows.slice(-2).map(({ delayMs }) => delayMs));
}

function smooth(windows: readonly Window[]): Window[] {
  return windows.map(({ number }, index) => {
    const near = windows.slice(Math.max(0, index - NEIGHBOURS), index + NEIGHBOURS + 1);
    const fast = near.filter((one) => Math.abs(one.number - number) <= NEIGHBOURS);
    return { number, delayMs: Math.min(...fast.map(({ delayMs }) => delayMs)) };
  });
}

/** Between the middles of two windows, in proportion. */
function delayAt(delays: readonly Window[], receivedMs: number): number {
  const at = receivedMs / WINDOW_MS - 0.5;
  const index = lastIndexUpTo(delays, at, ({ number }) => number);
  const [before, after] = [delays[index], delays[index + 1]];
  if (before === undefined || after === undefined) return (before ?? after)?.delayMs ?? 0;
  const share = (at - before.number) / (after.number - before.number);
  return before.delayMs + share * (after.delayMs - before.delayMs);
}

/** The last of a sorted list whose `key` is not above `limit`. */
export function lastUpTo<T>(sorted: readonly T[], limit: number, key: (one: T) => number): T | undefined {
  return sorted[lastIndexUpTo(sorted, limit, key)];
}

function lastIndexUpTo<T>(sorted: readonly T[], limit: number, key: (one: T) => number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const one = sorted[middle];
    if (one !== undefined && key(one) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
