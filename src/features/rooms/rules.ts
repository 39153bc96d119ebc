import { HOUR_SEC } from '../../kernel/durations.ts';

/** The rules of rooms, pure (docs/decisions/rooms.md). */

/** What of a room decides about its state. */
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

/** What follows for a room from how many are in it. */
export type Presence = Pick<
  RoomState,
  'status' | 'started_at' | 'empty_since' | 'alone_since' | 'peak_participants'
>;

/**
 * The room once `count` people are in it.
 *
 * @param emptySince when the last one was gone, where that was before now.
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
    // Whoever is the first to come is not alone yet.
    alone_since: count === 1 && peak > 1 ? (alone_since ?? now) : null,
    peak_participants: peak,
  };
}

export type DueEnd = 'EXPIRED' | 'SUSPENDED' | 'MAX_DURATION' | 'ALONE';

/** What time has brought about: the end of the room with its reason, that nobody came back (IDLE), or nothing. */
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
 * When somebody who waits is sent away: nobody was in the room for so long.
 *
 * @param since when they came.
 */
export function waitsUntil(
  room: { empty_since: Date | null; empty_timeout_sec: number },
  since: Date,
): number {
  const begin = Math.max(since.getTime(), room.empty_since?.getTime() ?? 0);
  return begin + room.empty_timeout_sec * 1000;
}

/** When the last time with somebody in a room that has ended was over; null when nobody ever came. */
export function lastOccupiedAt(
  room: Pick<RoomState, 'started_at' | 'empty_since'> & { ended_at: Date | null },
) {
  return room.started_at === null ? null : (room.empty_since ?? room.ended_at);
}

/** In seconds. */
function lastsAtMost(maxDurationSec: number | null, planHours: number): number {
  return Math.min(maxDurationSec ?? Number.POSITIVE_INFINITY, planHours * HOUR_SEC);
}

/** How many may be in a room now: plans change, and engines. */
export function capacityOf(maxParticipants: number, planParticipants: number, engineMax: number): number {
  return Math.min(maxParticipants, planParticipants, engineMax);
}

/** Whole seconds, null when it has not begun. */
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

/** What a role may do: what the room lets everybody, what the token says, and viewers send no media in any case. */
export function permissionsOf(role: Role, room: Permissions, given: Partial<Permissions> = {}): Permissions {
  const own = role === 'HOST' ? ALL : room;
  const asked = { ...own, ...given };
  if (role !== 'VIEWER') return asked;
  return { ...asked, canPublish: false, canScreenShare: false };
}

const ALL: Permissions = { canPublish: true, canSubscribe: true, canPublishData: true, canScreenShare: true };

/** Line breaks and what else turns or hides text; joiners stay, which names and emoji need. */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;
const VISIBLE = /[^\p{C}\p{Z}\s]/u;

/** Control characters but for the line break. */
const CONTROL = /(?!\n)\p{Cc}/u;

/** Is there something to be read in it? */
export function hasVisibleText(text: string): boolean {
  return VISIBLE.test(text) && !CONTROL.test(text);
}

/** May this be the name, or the identity, of somebody? */
export function isName(text: string): boolean {
  return VISIBLE.test(text) && !UNSEEN.test(text);
}
