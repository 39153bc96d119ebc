import { HOUR_SEC } from '../../kernel/durations.ts';

/** Pure rules of rooms (docs/decisions/rooms.md). */

/** Columns of a room that determine its state. */
export interface RoomState {
  status: 'CREATED' | 'ACTIVE' | 'ENDED';
  started_at: Date | null;
  empty_since: Date | null;
  alone_since: Date | null;
  peak_participants: number;
}

export interface RoomTimes extends RoomState {
  departure_timeout_sec: number;
  max_duration_sec: number | null;
  auto_end_when_alone_sec: number | null;
  expires_at: Date | null;
}

/** Columns of a room that follow from the number of its participants. */
export type Presence = Pick<
  RoomState,
  'status' | 'started_at' | 'empty_since' | 'alone_since' | 'peak_participants'
>;

/**
 * Returns the state of a room with `count` participants.
 *
 * @param emptySince when the last one left, if earlier than now.
 */
export function applyPresence(room: RoomState, count: number, now: Date, emptySince = now): Presence {
  const { status, started_at, empty_since, alone_since, peak_participants } = room;
  if (status === 'ENDED') return { status, started_at, empty_since, alone_since, peak_participants };
  if (count === 0) {
    const since = empty_since ?? (status === 'ACTIVE' ? emptySince : null);
    return { status, started_at, empty_since: since, alone_since: null, peak_participants };
  }
  const isNew = status === 'CREATED';
  const peak = Math.max(isNew ? 0 : peak_participants, count);
  return {
    status: 'ACTIVE',
    started_at: isNew ? now : started_at,
    empty_since: null,
    // The first arrival does not start the timer of a single participant.
    alone_since: count === 1 && peak > 1 ? (alone_since ?? now) : null,
    peak_participants: peak,
  };
}

export type DueEnd = 'EXPIRED' | 'SUSPENDED' | 'MAX_DURATION' | 'ALONE';

/**
 * Returns the transition due by time: the end of the room with its reason, IDLE when no participant returned,
 * or null.
 */
export function dueTransition(
  room: RoomTimes,
  { planHours, isSuspended }: { planHours: number; isSuspended: boolean },
  now: Date,
): DueEnd | 'IDLE' | null {
  if (room.status === 'ENDED') return null;
  const isOver = (since: Date | null, sec: number | null) =>
    since !== null && sec !== null && since.getTime() + sec * 1000 <= now.getTime();
  if (isOver(room.expires_at, 0)) return 'EXPIRED';
  if (room.status !== 'ACTIVE') return null;
  if (isSuspended) return 'SUSPENDED';
  if (isOver(room.started_at, lastsAtMost(room.max_duration_sec, planHours))) return 'MAX_DURATION';
  if (isOver(room.alone_since, room.auto_end_when_alone_sec)) return 'ALONE';
  return isOver(room.empty_since, room.departure_timeout_sec) ? 'IDLE' : null;
}

/**
 * Returns the time at which a waiting participant is removed because the room stayed empty.
 *
 * @param since the time of their arrival.
 */
export function waitsUntil(
  room: { empty_since: Date | null; empty_timeout_sec: number },
  since: Date,
): number {
  const begin = Math.max(since.getTime(), room.empty_since?.getTime() ?? 0);
  return begin + room.empty_timeout_sec * 1000;
}

/** Returns the last time an ended room had participants; null when it never had any. */
export function lastOccupiedAt(
  room: Pick<RoomState, 'started_at' | 'empty_since'> & { ended_at: Date | null },
) {
  return room.started_at === null ? null : (room.empty_since ?? room.ended_at);
}

/** Returns the maximum duration in seconds. */
function lastsAtMost(maxDurationSec: number | null, planHours: number): number {
  return Math.min(maxDurationSec ?? Number.POSITIVE_INFINITY, planHours * HOUR_SEC);
}

/** Returns the current capacity of a room, because plans and engines change. */
export function capacityOf(maxParticipants: number, planParticipants: number, engineMax: number): number {
  return Math.min(maxParticipants, planParticipants, engineMax);
}

/** Returns whole seconds; null without a start. */
export function secondsBetween(from: Date | null, to: Date): number | null {
  return from === null ? null : Math.max(0, Math.floor((to.getTime() - from.getTime()) / 1000));
}

export interface Permissions {
  canPublish: boolean;
  canSubscribe: boolean;
  canPublishData: boolean;
  canScreenShare: boolean;
}

export type Role = 'HOST' | 'SPEAKER' | 'VIEWER';

/**
 * Returns the permissions of a role: the defaults of the room, changed by the token; viewers never send
 * media.
 */
export function permissionsOf(role: Role, room: Permissions, given: Partial<Permissions> = {}): Permissions {
  const own = role === 'HOST' ? ALL : room;
  const asked = { ...own, ...given };
  if (role !== 'VIEWER') return asked;
  return { ...asked, canPublish: false, canScreenShare: false };
}

const ALL: Permissions = { canPublish: true, canSubscribe: true, canPublishData: true, canScreenShare: true };

/**
 * Line breaks and other characters that turn or hide text; joiners remain allowed, because names and emoji
 * need them.
 */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;
const VISIBLE = /[^\p{C}\p{Z}\s]/u;

/** Control characters except the line break. */
const CONTROL = /(?!\n)\p{Cc}/u;

/** Reports whether the text contains visible characters and no control characters. */
export function hasVisibleText(text: string): boolean {
  return VISIBLE.test(text) && !CONTROL.test(text);
}

/** Reports whether the text is a valid name or identity. */
export function isName(text: string): boolean {
  return VISIBLE.test(text) && !UNSEEN.test(text);
}
