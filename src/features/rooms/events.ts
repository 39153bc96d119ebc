import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../events/catalogue.ts';
import { namedSchema } from '../../http/named-schema.ts';
import { Instant, Nullable, OneOf } from '../../http/schema.ts';
import { VALUES } from '../../platform/db/tables.generated.ts';

const sequence = Type.Integer({
  minimum: 1,
  description: 'Increases with each event about this room and its participants.',
});
const data = namedSchema(
  'RoomEventData',
  Type.Object({
    roomId: Type.String(),
    name: Type.String(),
    startedAt: Nullable(Instant),
    endedAt: Nullable(Instant),
    durationSec: Nullable(Type.Integer({ description: 'Seconds since `startedAt`; null if no one joined.' })),
    peakParticipants: Type.Integer({
      description: 'Peak number of concurrent participants since `startedAt`.',
    }),
    reason: Nullable(OneOf(VALUES.room.end_reason)),
    sequence,
  }),
);
const sample = {
  roomId: 'room_01kafe3n4pfx2v9yq6m8d7t5zr',
  name: 'Monday class',
  startedAt: null,
  endedAt: null,
  durationSec: null,
  peakParticipants: 0,
  reason: null,
};
const startedAt = '2026-11-20T09:00:00.000Z';
const endedAt = '2026-11-20T10:00:00.000Z';
const held = { ...sample, startedAt, endedAt, durationSec: 3600, peakParticipants: 8 };

const participantData = namedSchema(
  'RoomParticipantEventData',
  Type.Object({
    roomId: Type.String(),
    identity: Type.String(),
    name: Nullable(Type.String()),
    role: OneOf(VALUES.room_participant.role),
    joinedAt: Instant,
    leftAt: Nullable(Instant),
    durationSec: Nullable(Type.Integer()),
    reason: Nullable(OneOf(VALUES.room_participant.leave_reason)),
    sequence,
  }),
);
const participantSample = {
  roomId: sample.roomId,
  identity: 'customer-17',
  name: 'Ada',
  role: 'SPEAKER' as const,
  joinedAt: startedAt,
  leftAt: null,
  durationSec: null,
  reason: null,
};

export const roomCreated = defineEvent({
  type: 'room.created',
  description: 'A room was created.',
  data,
  sample: { ...sample, sequence: 1 },
});

export const roomStarted = defineEvent({
  type: 'room.started',
  description: 'The first participant joined a room.',
  data,
  sample: { ...sample, startedAt, peakParticipants: 1, sequence: 2 },
});

export const roomIdle = defineEvent({
  type: 'room.idle',
  description: 'All participants left and the departure timeout passed. The room can be used again.',
  data,
  sample: { ...held, sequence: 5 },
});

export const roomEnded = defineEvent({
  type: 'room.ended',
  description: 'A room ended permanently; its participants were disconnected.',
  data,
  sample: { ...held, reason: 'CALL', sequence: 6 },
});

export const roomDeleted = defineEvent({
  type: 'room.deleted',
  description: 'A room was deleted. If it was active, it ended.',
  data,
  sample: { ...held, reason: 'CALL', sequence: 7 },
});

export const participantJoined = defineEvent({
  type: 'room.participant_joined',
  description: 'A participant joined. Rejoining within the departure timeout does not send this event.',
  data: participantData,
  sample: { ...participantSample, sequence: 3 },
});

export const participantLeft = defineEvent({
  type: 'room.participant_left',
  description: 'A participant left the room.',
  data: participantData,
  sample: { ...participantSample, leftAt: endedAt, durationSec: 3600, reason: 'CLIENT', sequence: 4 },
});

export const roomRecordingReady = defineEvent({
  type: 'room.recording_ready',
  description:
    'The video of a recording can be played, even if its room was deleted. Additional renditions may follow.',
  data: namedSchema(
    'RoomRecordingEventData',
    Type.Object({
      roomId: Type.String(),
      videoId: Type.String(),
      durationSec: Nullable(Type.Number()),
      sequence,
    }),
  ),
  sample: {
    roomId: sample.roomId,
    videoId: 'vid_01kafe3n4pfx2v9yq6m8d7t5zr',
    durationSec: 3600,
    sequence: 8,
  },
  notice: {
    severity: 'INFO',
    words: ({ videoId: id }) => ({
      title: 'Recording ready',
      body: 'The recording of your room is ready to watch and publish.',
      resource: { type: 'VIDEO', id },
    }),
  },
});

export const roomEvents: EventDefinition[] = [
  roomCreated,
  roomStarted,
  roomIdle,
  roomEnded,
  roomDeleted,
  participantJoined,
  participantLeft,
  roomRecordingReady,
];
