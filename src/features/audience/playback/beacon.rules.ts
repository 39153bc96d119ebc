import { HOUR_SEC, MINUTE_MS } from '../../../kernel/durations.ts';

export const EVENT_TYPES = ['PLAY', 'PAUSE', 'SEEK', 'TICK', 'END', 'ERROR'] as const;

/** Event as the player reported it. */
export interface ReportedPlayerEvent {
  type: (typeof EVENT_TYPES)[number];
  positionSec: number;
  /** ISO 8601, or epoch milliseconds, on the player's clock. */
  at: string | number;
  quality?: number;
}

/** Validated part of a reported event. */
export interface AcceptedPlayerEvent extends Omit<ReportedPlayerEvent, 'at'> {
  at: number;
}

/** Age beyond which a beacon event is ignored. */
const LATE_MS = 5 * MINUTE_MS;
/**
 * Tolerated lead of a player's clock: over the server clock when the beacon has no send time, and over its
 * own send time.
 */
const AHEAD_MS = { ours: MINUTE_MS, own: 1000 };
/** Tolerance for players that report positions slightly beyond the end. */
const BEYOND_SEC = 2;
/** Maximum position in a broadcast, which has no duration. */
const LONGEST_SEC = 31 * 24 * HOUR_SEC;

/** Values against which the events of a beacon are validated. */
export interface BeaconContext {
  nowMs: number;
  /** Send time on the player's clock; undefined when the beacon has none. */
  sentAt: string | number | undefined;
  /** Duration of a video; null for a broadcast. */
  durationSec: number | null;
}

/**
 * The events that count (docs/concepts/playback.md#beacons): not from the future, not older than five minutes, and of a
 * position that there is.
 */
export function acceptEvents(
  events: readonly ReportedPlayerEvent[],
  { nowMs, sentAt, durationSec }: BeaconContext,
): AcceptedPlayerEvent[] {
  const sentMs = sentAt === undefined ? null : millisecondsOf(sentAt);
  const clockMs = sentMs ?? nowMs;
  const aheadMs = sentMs === null ? AHEAD_MS.ours : AHEAD_MS.own;
  const longest = durationSec ?? LONGEST_SEC;
  return events.flatMap(({ type, positionSec, at, quality }): AcceptedPlayerEvent[] => {
    const atMs = millisecondsOf(at);
    if (atMs === null || atMs > clockMs + aheadMs || atMs < clockMs - LATE_MS) return [];
    if (positionSec < 0 || positionSec > longest + BEYOND_SEC) return [];
    const event = { type, positionSec: Math.min(positionSec, longest), at: atMs };
    return [quality === undefined ? event : { ...event, quality }];
  });
}

/** Returns the time in milliseconds; null when it is invalid. */
function millisecondsOf(at: string | number): number | null {
  const ms = typeof at === 'number' ? at : Date.parse(at);
  return Number.isFinite(ms) ? Math.round(ms) : null;
}
