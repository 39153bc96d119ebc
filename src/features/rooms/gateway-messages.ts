import Type, { type Static } from 'typebox';
import { compileSchema } from '../../platform/schema-validator.ts';
import type { ParticipantRow } from './participants.repository.ts';

/** Messages sent by browsers (docs/concepts/rooms.md#the-gateway). */
const Kind = Type.Union([Type.Literal('AUDIO'), Type.Literal('VIDEO'), Type.Literal('SCREEN')]);
const Action = Type.Union([
  Type.Literal('mute'),
  Type.Literal('kick'),
  Type.Literal('admit'),
  Type.Literal('deny'),
  Type.Literal('end'),
  Type.Literal('record'),
]);
const Incoming = Type.Union([
  Type.Object({ type: Type.Literal('signal'), data: Type.Record(Type.String(), Type.Unknown()) }),
  Type.Object({
    type: Type.Literal('state'),
    audio: Type.Boolean(),
    video: Type.Boolean(),
    screen: Type.Boolean(),
  }),
  Type.Object({ type: Type.Literal('chat'), text: Type.String({ minLength: 1, maxLength: 1000 }) }),
  Type.Object({ type: Type.Literal('hand'), raised: Type.Boolean() }),
  Type.Object({
    type: Type.Literal('moderate'),
    action: Action,
    identity: Type.Optional(Type.String()),
    kind: Type.Optional(Kind),
    on: Type.Optional(Type.Boolean()),
  }),
  Type.Object({ type: Type.Literal('leave') }),
  Type.Object({ type: Type.Literal('ping') }),
]);
export type Incoming = Static<typeof Incoming>;
export type Moderation = Extract<Incoming, { type: 'moderate' }>;
const incoming = compileSchema(Incoming);

/** Parses a message; returns null when it is invalid. */
export function readMessage(text: string): Incoming | null {
  try {
    const message: unknown = JSON.parse(text);
    return incoming.matches(message) && text.isWellFormed() ? message : null;
  } catch {
    return null;
  }
}

/** Returns a participant as all people in the room see them. */
export function viewOf(row: ParticipantRow) {
  return {
    identity: row.identity,
    name: row.name,
    role: row.role,
    audio: row.audio && !row.audio_muted,
    video: row.video && !row.video_muted,
    screen: row.screen && !row.screen_muted,
    hand: row.hand_raised,
    bridgeId: row.bridge_id,
    joinedAt: row.joined_at?.toISOString() ?? null,
  };
}

export const KINDS = ['AUDIO', 'VIDEO', 'SCREEN'] as const;

/** Returns the tracks of a participant that a host has muted. */
export function mutesOf(row: ParticipantRow) {
  return { AUDIO: row.audio_muted, VIDEO: row.video_muted, SCREEN: row.screen_muted } as const;
}

/** Why a connection is closed (docs/concepts/rooms.md#the-gateway), each with words of at most 123 bytes. */
export const CLOSE = {
  LEFT: [1000, 'You left the room.'],
  STOPPING: [1001, 'This server is shutting down. Reconnect.'],
  SEAT_LOST: [1001, 'The session has expired. Reconnect.'],
  BAD_MESSAGE: [4400, 'Invalid protocol message.'],
  BAD_TOKEN: [4401, 'The token is missing or belongs to another room.'],
  EXPIRED_TOKEN: [4401, 'The token has expired.'],
  FOREIGN_PAGE: [4401, 'This token is valid only on the join page.'],
  REMOVED: [4403, 'A host removed you from the room.'],
  BANNED: [4403, 'You are banned from this room.'],
  DENIED: [4403, 'The host did not admit you.'],
  NOBODY: [4403, 'No host was available to admit you.'],
  NO_ROOM: [4404, 'Room not found.'],
  FULL: [4409, 'The room is full.'],
  ENDED: [4410, 'The room has ended.'],
  REPLACED: [4411, 'You joined this room from another connection.'],
  TOO_FAST: [4429, 'Too many messages.'],
  TOO_MANY: [4429, 'Too many connections.'],
  FAILED: [1011, 'An internal error occurred. Reconnect.'],
} as const satisfies Record<string, readonly [number, string]>;
export type CloseReason = keyof typeof CLOSE;

/** Returns why the connection of a stay that has ended is closed. */
export function closeOf(row: ParticipantRow | undefined): CloseReason {
  switch (row?.leave_reason) {
    case 'KICKED':
      return 'REMOVED';
    case 'DENIED':
      return 'DENIED';
    case 'DUPLICATE_IDENTITY':
      return 'REPLACED';
    case 'TIMEOUT':
      return row.joined_at === null ? 'NOBODY' : 'SEAT_LOST';
    default:
      return 'ENDED';
  }
}
