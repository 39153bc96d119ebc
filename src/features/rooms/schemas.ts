import Type, { type Static } from 'typebox';
import { namedSchema } from '../../http/named-schema.ts';
import { IdOf, Instant, Metadata, Nullable, OneOf } from '../../http/schema.ts';
import { MODES, type Mode } from '../../kernel/access.ts';
import { HOUR_SEC } from '../../kernel/durations.ts';
import { VALUES } from '../../platform/db/tables.generated.ts';
import { defaultsOf, type RoomDetails } from './locked.ts';
import type { ParticipantRow } from './participants.repository.ts';
import { secondsBetween } from './rules.ts';

const Layout = namedSchema('RoomLayout', OneOf(VALUES.room.record_layout));
export const Role = namedSchema('RoomRole', OneOf(VALUES.room_participant.role));
const Identity = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'Your identifier of the person; unique among the participants in the room.',
});
export const PersonName = Type.String({ minLength: 1, maxLength: 120 });

const permissions = {
  canPublish: Type.Boolean({ description: 'Send audio and video.' }),
  canSubscribe: Type.Boolean({ description: 'Receive audio and video of others.' }),
  canPublishData: Type.Boolean({ description: 'Post chat messages.' }),
  canScreenShare: Type.Boolean(),
};
const Permissions = namedSchema('RoomPermissions', Type.Object(permissions));
const PermissionsIn = namedSchema('RoomPermissionsInput', Type.Partial(Type.Object(permissions)));

const settings = {
  name: Type.String({ minLength: 1, maxLength: 120, pattern: '\\S' }),
  description: Nullable(Type.String({ maxLength: 2000 })),
  maxParticipants: Type.Integer({
    minimum: 1,
    description: 'Limited by the plan and the room engine.',
  }),
  emptyTimeoutSec: Type.Integer({
    minimum: 0,
    maximum: 24 * HOUR_SEC,
    description: 'Waiting participants are removed after the room has been empty for this long.',
  }),
  departureTimeoutSec: Type.Integer({
    minimum: 0,
    maximum: 300,
    description: "How long a dropped participant's seat is held, and an empty room stays open.",
  }),
  maxDurationSec: Nullable(
    Type.Integer({ minimum: 60, maximum: 24 * HOUR_SEC, description: "Null uses the plan's maximum." }),
  ),
  autoEndWhenAloneSec: Nullable(
    Type.Integer({
      minimum: 10,
      maximum: 24 * HOUR_SEC,
      description: 'The room ends after only one participant has remained for this long.',
    }),
  ),
  scheduledStartAt: Nullable(Instant),
  expiresAt: Nullable(
    Type.String({
      ...Instant,
      description: 'The room ends at this time, even if participants are connected.',
    }),
  ),
  recordEnabled: Type.Boolean({ description: 'Recording starts with the first participant.' }),
  recordLayout: Layout,
  waitingRoom: Type.Boolean({ description: 'Everyone except hosts waits until a host admits them.' }),
  metadata: Metadata,
};
const { name, ...others } = settings;
const optional = {
  ...Type.Partial(Type.Object(others)).properties,
  permissionsDefault: Type.Optional(PermissionsIn),
};

export const RoomIn = namedSchema('RoomCreate', Type.Object({ name, ...optional }), {
  name: 'Monday class',
  waitingRoom: true,
});
export type RoomIn = Static<typeof RoomIn>;

export const RoomPatch = namedSchema('RoomUpdate', Type.Object({ name: Type.Optional(name), ...optional }), {
  waitingRoom: false,
});
export type RoomPatch = Static<typeof RoomPatch>;

export const Room = namedSchema(
  'Room',
  Type.Object({
    id: IdOf('room'),
    ...settings,
    status: OneOf(VALUES.room.status),
    permissionsDefault: Permissions,
    serverUrl: Type.String({ description: 'WebSocket URL for custom clients.' }),
    joinUrl: Type.String({
      description: 'URL of the join page. Without a token, people wait until a host admits them.',
    }),
    participantCount: Type.Integer({
      description:
        'Includes seats reserved for reconnecting participants, but not people in the waiting room.',
    }),
    canRecord: Type.Boolean({ description: 'Whether `recordEnabled` is true and the platform can record.' }),
    recording: Type.Boolean({ description: 'Whether the room is being recorded.' }),
    streamId: Nullable(Type.String({ description: 'ID of the stream a bridge sends the room to.' })),
    bookingId: Nullable(
      Type.String({ description: 'ID of the ONE_TO_ONE booking the room was created for.' }),
    ),
    recordingVideoIds: Type.Array(Type.String()),
    startedAt: Nullable(Type.String({ ...Instant, description: 'When the room last became ACTIVE.' })),
    endedAt: Nullable(Instant),
    endReason: Nullable(OneOf(VALUES.room.end_reason)),
    createdAt: Instant,
    updatedAt: Instant,
    mode: OneOf(MODES),
  }),
  {
    id: 'room_01kafe3n4pfx2v9yq6m8d7t5zr',
    name: 'Monday class',
    description: null,
    maxParticipants: 10,
    emptyTimeoutSec: 300,
    departureTimeoutSec: 20,
    maxDurationSec: null,
    autoEndWhenAloneSec: null,
    scheduledStartAt: null,
    expiresAt: null,
    recordEnabled: false,
    recordLayout: 'GRID',
    waitingRoom: true,
    metadata: {},
    status: 'CREATED',
    permissionsDefault: { canPublish: true, canSubscribe: true, canPublishData: true, canScreenShare: true },
    serverUrl: 'wss://marquee.example.com/rtc/rooms/room_01kafe3n4pfx2v9yq6m8d7t5zr',
    joinUrl: 'https://marquee.example.com/r/room_01kafe3n4pfx2v9yq6m8d7t5zr',
    participantCount: 0,
    canRecord: false,
    recording: false,
    streamId: null,
    bookingId: null,
    recordingVideoIds: [],
    startedAt: null,
    endedAt: null,
    endReason: null,
    createdAt: '2026-11-20T09:00:00.000Z',
    updatedAt: '2026-11-20T09:00:00.000Z',
    mode: 'live',
  },
);

export const RecordingIn = namedSchema('RoomRecordingStart', Type.Object({ layout: Type.Optional(Layout) }), {
  layout: 'SPEAKER',
});

export const TokenIn = namedSchema(
  'RoomTokenCreate',
  Type.Object({
    identity: Identity,
    name: Type.Optional(Nullable(PersonName)),
    role: Type.Optional(Role),
    ttlSec: Type.Optional(
      Type.Integer({
        minimum: 60,
        maximum: 6 * HOUR_SEC,
        description: 'How long the token can be used to join; default 3600.',
      }),
    ),
    permissions: Type.Optional(PermissionsIn),
  }),
  { identity: 'customer-17', name: 'Ada', role: 'SPEAKER' },
);
export type TokenIn = Static<typeof TokenIn>;

export const Token = namedSchema(
  'RoomToken',
  Type.Object({
    token: Type.String(),
    url: Type.String({ description: 'URL of the join page with the token.' }),
    serverUrl: Type.String(),
    expiresAt: Instant,
    identity: Type.String(),
    role: Role,
  }),
);

const Track = Type.Object({
  kind: OneOf(['AUDIO', 'VIDEO']),
  source: OneOf(['MICROPHONE', 'CAMERA', 'SCREEN']),
  muted: Type.Boolean({ description: 'Whether a host muted the track.' }),
});
export const Participant = namedSchema(
  'RoomParticipant',
  Type.Object({
    identity: Type.String(),
    name: Nullable(Type.String()),
    role: Role,
    state: OneOf(VALUES.room_participant.state, {
      description: 'JOINING participants are waiting to be admitted.',
    }),
    joinedAt: Nullable(Instant),
    leftAt: Nullable(Instant),
    durationSec: Nullable(Type.Integer()),
    leaveReason: Nullable(OneOf(VALUES.room_participant.leave_reason)),
    bridgeId: Nullable(
      Type.String({ description: 'Set if the participant is a stream bridged into the room.' }),
    ),
    tracks: Type.Array(Track),
  }),
  {
    identity: 'customer-17',
    name: 'Ada',
    role: 'SPEAKER',
    state: 'ACTIVE',
    joinedAt: '2026-11-20T09:00:00.000Z',
    leftAt: null,
    durationSec: null,
    leaveReason: null,
    bridgeId: null,
    tracks: [{ kind: 'AUDIO', source: 'MICROPHONE', muted: false }],
  },
);

export const MuteIn = namedSchema(
  'RoomMute',
  Type.Object({
    kind: OneOf(['AUDIO', 'VIDEO', 'SCREEN']),
    muted: Type.Optional(Type.Boolean({ description: 'False unmutes; default true.' })),
  }),
  { kind: 'AUDIO' },
);

export const RemovedParticipant = namedSchema(
  'RoomIdentity',
  Type.Object({
    id: Type.String({ description: 'Identity of the participant.' }),
    identity: Type.String(),
    deleted: Type.Literal(true),
  }),
  { id: 'customer-17', identity: 'customer-17', deleted: true },
);

export function toRemovedParticipant(identity: string): Static<typeof RemovedParticipant> {
  return { id: identity, identity, deleted: true };
}

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

/** @param publicUrl without a trailing slash. */
export function joinUrlOf(publicUrl: string, id: string): string {
  return `${publicUrl}/r/${id}`;
}

/** @param publicUrl without a trailing slash. */
export function serverUrlOf(publicUrl: string, id: string): string {
  return `${publicUrl.replace(/^http/, 'ws')}/rtc/rooms/${id}`;
}

export function toRoom(
  { row, count, canRecord, streamId, bookingId }: RoomDetails,
  mode: Mode,
  publicUrl: string,
): Static<typeof Room> {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    status: row.status,
    maxParticipants: row.max_participants,
    emptyTimeoutSec: row.empty_timeout_sec,
    departureTimeoutSec: row.departure_timeout_sec,
    maxDurationSec: row.max_duration_sec,
    autoEndWhenAloneSec: row.auto_end_when_alone_sec,
    scheduledStartAt: iso(row.scheduled_start_at),
    expiresAt: iso(row.expires_at),
    recordEnabled: row.record_enabled,
    recordLayout: row.record_layout,
    waitingRoom: row.waiting_room,
    permissionsDefault: defaultsOf(row),
    serverUrl: serverUrlOf(publicUrl, row.id),
    joinUrl: joinUrlOf(publicUrl, row.id),
    participantCount: count,
    canRecord,
    recording: row.recording_since !== null,
    streamId,
    bookingId,
    recordingVideoIds: row.recording_video_ids,
    metadata: row.metadata,
    startedAt: iso(row.started_at),
    endedAt: iso(row.ended_at),
    endReason: row.end_reason,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    mode,
  };
}

export function toParticipant(row: ParticipantRow): Static<typeof Participant> {
  return {
    identity: row.identity,
    name: row.name,
    role: row.role,
    state: row.state,
    joinedAt: iso(row.joined_at),
    leftAt: iso(row.left_at),
    durationSec: row.left_at === null ? null : secondsBetween(row.joined_at, row.left_at),
    leaveReason: row.leave_reason,
    bridgeId: row.bridge_id,
    tracks: row.state === 'ACTIVE' ? tracksOf(row) : [],
  };
}

function tracksOf(row: ParticipantRow): Static<typeof Track>[] {
  const all = [
    { isSent: row.audio, kind: 'AUDIO', source: 'MICROPHONE', muted: row.audio_muted },
    { isSent: row.video, kind: 'VIDEO', source: 'CAMERA', muted: row.video_muted },
    { isSent: row.screen, kind: 'VIDEO', source: 'SCREEN', muted: row.screen_muted },
  ] as const;
  return all.filter(({ isSent }) => isSent).map(({ isSent: _isSent, ...track }) => track);
}
