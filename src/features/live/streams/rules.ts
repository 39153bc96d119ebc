import type { Mode } from '../../../kernel/access.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { PLANS, type Plan, TEST_MODE_HEIGHT } from '../../../kernel/plans.ts';
import type { RejectionIssue } from '../../../media/contract/index.ts';
import type { StreamHealth } from '../../../platform/db/json-columns.ts';

/** Interval of the points of a series. */
export const POINT_MS = 10_000;

/**
 * State of a stream: its two independent flags (docs/decisions/streams.md) and the last emitted state of its
 * broadcast.
 */
export interface StreamState {
  id: string;
  hasSignal: boolean;
  isLive: boolean;
  /** When the broadcast had both its switch and media; null until the first media arrives. */
  startedAt: Date | null;
  endedAt: Date | null;
  startedNotifiedAt: Date | null;
  stoppedNotifiedAt: Date | null;
  /** When the stop of a signal that was never broadcast was last reported. */
  signalStopNotifiedAt: Date | null;
  notifiedIsLive: boolean;
  /** Time at which a suppressed broadcast event must be checked again. */
  dueAt: Date | null;
}

/** Issues for which the media plane ends a publish. */
const REFUSALS: ReadonlySet<string> = new Set<RejectionIssue>([
  'NO_TRANSCODE_CAPACITY',
  'UNSUPPORTED_CODEC',
  'RESOLUTION_CHANGED',
  'BITRATE_OVER_PLAN',
  'ENCODERS_OVER_PLAN',
]);

export function isRejectionIssue(word: string | null): boolean {
  return word !== null && REFUSALS.has(word);
}

/** Returns the health of the signal. The rejection of an encoder remains visible after it has gone. */
export function visibleHealth(row: {
  has_signal: boolean;
  health: StreamHealth | null;
}): Required<StreamHealth> | null {
  const { health } = row;
  if (health === null || !(row.has_signal || health.issues.some(isRejectionIssue))) return null;
  // Older rows lack these fields.
  const { keyframeIntervalSec = null, droppedFrames = 0, lateFrames = 0, avDriftMs = null } = health;
  return { ...health, keyframeIntervalSec, droppedFrames, lateFrames, avDriftMs };
}

export type StreamEvent =
  | { type: 'stream.live'; data: { streamId: string; status: 'HAS_SIGNAL' | 'ACTIVE'; wentLiveAt: string } }
  | { type: 'stream.ended'; data: { streamId: string; endedAt: string; durationSec: null } }
  | {
      type: 'stream.broadcast_started';
      data: { streamId: string; isLive: true; startedAt: string | null };
    }
  | {
      type: 'stream.broadcast_stopped';
      data: { streamId: string; isLive: false; endedAt: string; durationSec: number | null };
    };

export interface Transition {
  state: StreamState;
  events: StreamEvent[];
}

export type StreamStatus = 'IDLE' | 'PREVIEW' | 'LIVE' | 'LIVE_NO_SIGNAL' | 'DISABLED';

/**
 * Minimum interval between two broadcast_started or two broadcast_stopped events of a stream
 * (docs/decisions/streams.md#de-duplication).
 */
const DEDUPE_MS = 60_000;

/** See docs/decisions/streams.md. */
export function deriveStatus(stream: {
  hasSignal: boolean;
  isLive: boolean;
  enabled: boolean;
}): StreamStatus {
  if (!stream.enabled) return 'DISABLED';
  if (stream.isLive) return stream.hasSignal ? 'LIVE' : 'LIVE_NO_SIGNAL';
  return stream.hasSignal ? 'PREVIEW' : 'IDLE';
}

/** Starts the signal when an encoder connects; changes nothing when there already was one. */
export function onSignalUp(state: StreamState, now: Date): Transition {
  if (state.hasSignal) return { state, events: [] };
  const startedAt = state.isLive ? (state.startedAt ?? now) : state.startedAt;
  const status = state.isLive ? 'ACTIVE' : 'HAS_SIGNAL';
  return {
    state: { ...state, hasSignal: true, startedAt },
    events: [{ type: 'stream.live', data: { streamId: state.id, status, wentLiveAt: now.toISOString() } }],
  };
}

/** Ends the signal. The broadcast continues: only a user stops it (docs/decisions/streams.md). */
export function onSignalDown(state: StreamState, now: Date): Transition {
  if (!state.hasSignal) return { state, events: [] };
  return {
    state: { ...state, hasSignal: false },
    events: [
      {
        type: 'stream.ended',
        data: { streamId: state.id, endedAt: now.toISOString(), durationSec: null },
      },
    ],
  };
}

/** Starts the broadcast. Idempotent. Without a signal `startedAt` waits for the first media. */
export function start(state: StreamState, now: Date): Transition {
  if (state.isLive) return { state, events: [] };
  const live = { ...state, isLive: true, startedAt: state.hasSignal ? now : null, endedAt: null };
  return emitBroadcastState(live, now);
}

/**
 * Ends the broadcast; idempotent. On a signal that was never broadcast the stop is reported once, with no duration,
 * and opens no minute for the stop of a broadcast (docs/decisions/streams.md#the-four-events).
 *
 * @param session when the present signal came and whether it was ever broadcast; null without a signal.
 */
export function stop(
  state: StreamState,
  now: Date,
  session: { signalStartedAt: Date; wasBroadcast: boolean } | null,
): Transition {
  if (state.isLive) return emitBroadcastState({ ...state, isLive: false, endedAt: now }, now);
  // A pending stop of a broadcast precedes the stop of a signal without a broadcast.
  if (state.notifiedIsLive) return emitBroadcastState(state, now);
  const neverLive = state.hasSignal && session !== null && !session.wasBroadcast;
  if (!neverLive || alreadySaidStopped(state, session.signalStartedAt)) return { state, events: [] };
  const opens = Math.max(opensAt(state.stoppedNotifiedAt), opensAt(state.signalStopNotifiedAt));
  if (opens > now.getTime()) return { state, events: [] };
  return {
    state: { ...state, signalStopNotifiedAt: now, notifiedIsLive: false },
    events: [broadcastStopped(state.id, now, null)],
  };
}

function alreadySaidStopped(state: StreamState, signalStartedAt: Date): boolean {
  return [state.stoppedNotifiedAt, state.signalStopNotifiedAt].some(
    (at) => at !== null && at >= signalStartedAt,
  );
}

/**
 * Emits the current state of the broadcast when it differs from the last emitted one and a minute has passed
 * since the last event of that type. Otherwise schedules another check, so that a receiver never keeps a
 * wrong state (docs/decisions/streams.md#de-duplication).
 */
export function emitBroadcastState(state: StreamState, now: Date): Transition {
  if (state.isLive === state.notifiedIsLive) {
    return { state: { ...state, dueAt: null }, events: [] };
  }
  const last = state.isLive ? state.startedNotifiedAt : state.stoppedNotifiedAt;
  if (opensAt(last) > now.getTime()) {
    const dueAt = last === null ? null : dateFromMs(opensAt(last));
    return { state: { ...state, dueAt }, events: [] };
  }
  const said = { ...state, notifiedIsLive: state.isLive, dueAt: null };
  if (state.isLive) {
    return {
      state: { ...said, startedNotifiedAt: now },
      events: [
        {
          type: 'stream.broadcast_started',
          data: { streamId: state.id, isLive: true, startedAt: state.startedAt?.toISOString() ?? null },
        },
      ],
    };
  }
  const endedAt = state.endedAt ?? now;
  return {
    state: { ...said, stoppedNotifiedAt: now },
    events: [broadcastStopped(state.id, endedAt, durationSec(state.startedAt, endedAt))],
  };
}

function opensAt(last: Date | null): number {
  return last === null ? 0 : last.getTime() + DEDUPE_MS;
}

function broadcastStopped(streamId: string, endedAt: Date, duration: number | null): StreamEvent {
  return {
    type: 'stream.broadcast_stopped',
    data: { streamId, isLive: false, endedAt: endedAt.toISOString(), durationSec: duration },
  };
}

/**
 * Returns whole seconds; null when the broadcast never had media, which differs from a zero-length broadcast.
 */
export function durationSec(startedAt: Date | null, endedAt: Date | null): number | null {
  if (startedAt === null || endedAt === null) return null;
  return Math.max(0, Math.floor((endedAt.getTime() - startedAt.getTime()) / 1000));
}

/** Returns the live limits of a workspace. Test workspaces are limited to 720 lines. */
export function livePlan(plan: Plan, mode: Mode): { maxHeight: number; concurrent: number } {
  const { maxLiveHeight, concurrentStreams } = PLANS[plan];
  const maxHeight = mode === 'test' ? Math.min(maxLiveHeight, TEST_MODE_HEIGHT) : maxLiveHeight;
  return { maxHeight, concurrent: concurrentStreams };
}
