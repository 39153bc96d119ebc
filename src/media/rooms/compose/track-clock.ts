/**
 * Clock of a track: capture times from RTP timestamps and arrival times. Timestamps are regular but start at
 * a random value and drift; arrivals are absolute but include the network delay. The packets with the least
 * delay relate one to the other (docs/decisions/room-recordings.md#timestamps).
 */
export interface TrackClock {
  /** Returns the time in milliseconds after the arrival of the track's first packet. */
  timeOf(packet: Stamped): number;
}

interface Stamped {
  sequence: number;
  timestamp: number;
  receivedMs: number;
}

/** Section between two discontinuities of the timestamps. */
interface Epoch {
  fromSequence: number;
  startedMs: number;
  windows: Window[];
}

/** Window of a few seconds, and the minimum delay of a packet in it. */
interface Window {
  number: number;
  delayMs: number;
}

const WINDOW_MS = 5000;
/** Windows before and after that are compared: drift is slow, so they show what arrived early here. */
const NEIGHBOURS = 2;
/** Limits that distinguish a timestamp jump from a stalled network. */
const JUMP_MS = 400;
const JUMP_LASTS_MS = 3000;
/** Time at the start of a stream in which packets may be delayed together. */
const SETTLE_MS = 3000;
/** Maximum assumed delay of a packet, whatever its timestamp is. */
const LATEST_MS = 5000;

export class TrackClockBuilder {
  readonly #ticksPerMs: number;
  readonly #epochs: Epoch[] = [];
  /** Candidate for the next epoch. */
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

/** Returns the minimum delay of the last two windows. */
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

/** Interpolates linearly between the centers of two windows. */
function delayAt(delays: readonly Window[], receivedMs: number): number {
  const at = receivedMs / WINDOW_MS - 0.5;
  const index = lastIndexUpTo(delays, at, ({ number }) => number);
  const [before, after] = [delays[index], delays[index + 1]];
  if (before === undefined || after === undefined) return (before ?? after)?.delayMs ?? 0;
  const share = (at - before.number) / (after.number - before.number);
  return before.delayMs + share * (after.delayMs - before.delayMs);
}

/** Returns the last item of a sorted list whose `key` is at most `limit`. */
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
