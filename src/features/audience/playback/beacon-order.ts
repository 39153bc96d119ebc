import type { UsageEvents } from '../../insight/usage-events/index.ts';
import { unlessUnavailable } from './last-known.ts';
import type { PlaybackSession } from './playback-sessions.ts';

/**
 * Maximum sessions, about 10 MB. The longest silent session is dropped first, and read from the usage events
 * again.
 */
const MAX_SESSIONS = 100_000;

/** Order of the beacons of each session. */
export interface BeaconOrder {
  /** Reports whether the number is higher than all numbers of the session before, and remembers it. */
  advance(session: Pick<PlaybackSession, 'key'>, number: number, now: Date): Promise<boolean>;
}

/**
 * Creates the memory of the highest number per session; usage events contain those of other nodes and from
 * before a restart.
 */
export function createBeaconOrder(facts: Pick<UsageEvents, 'lastNumber'>): BeaconOrder {
  /** Ordered with the longest silent session first. */
  const latest = new Map<string, number>();
  /** Without the database, beacons are accepted: the rollups drop repeated ones. */
  const lastStored = (playbackSession: string, before: Date) =>
    unlessUnavailable(facts.lastNumber({ playbackSession, before }));
  return {
    async advance({ key }, number, now) {
      const stored = latest.has(key) ? null : await lastStored(key, now);
      const known = Math.max(latest.get(key) ?? -1, stored ?? -1);
      latest.delete(key);
      latest.set(key, Math.max(known, number));
      const [oldest] = latest.keys();
      if (latest.size > MAX_SESSIONS && oldest !== undefined) latest.delete(oldest);
      return number > known;
    },
  };
}
