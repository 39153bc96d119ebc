import { HOUR_SEC, MINUTE_MS } from '../../../kernel/durations.ts';

export const EVENT_TYPES = ['PLAY', 'PAUSE', 'SEEK', 'TICK', 'END', 'ERROR'] as const;

/** What a player told, as it came. */
export interface ReportedPlayerEvent {
  type: (typeof EVENT_TYPES)[number];
  positionSec: number;
  /** ISO 8601, or epoch milliseconds, on the player's clock. */
  at: string | number;
  quality?: number;
}

/** What is kept of it. */
export interface AcceptedPlayerEvent extends Omit<ReportedPlayerEvent, 'at'> {
  at: number;
}

/** A beacon that lay for longer says nothing. */
const LATE_MS = 5 * MINUTE_MS;
/** How far a player's clock may be ahead of ours where it does not say what it reads; and how far it may be ahead of itself. */
const AHEAD_MS = { ours: MINUTE_MS, own: 1000 };
/** Players go a little beyond the end. */
const BEYOND_SEC = 2;
/** Of a broadcast, which has no end. */
const LONGEST_SEC = 31 * 24 * HOUR_SEC;

/** By what the events of a beacon are judged. */
export interface BeaconContext {
  nowMs: number;
  /** On the player's clock, when it sent the beacon; undefined where it does not say. */
  sentAt: string | number | undefined;
  /** Of a video; null of a broadcast. */
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

/** Null for what is no moment. */
function millisecondsOf(at: string | number): number | null {
  const ms = typeof at === 'number' ? at : Date.parse(at);
  return Number.isFinite(ms) ? Math.round(ms) : null;
}
