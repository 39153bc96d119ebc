import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';
import { Instant, Nullable, OneOf, Visibility } from '../../../http/schema.ts';

const streamId = Type.String();
const sequence = Type.Integer({
  minimum: 1,
  description: "Sequence number of this stream's events, excluding the four broadcast events.",
});
const changes = Type.Record(Type.String(), Type.Object({ from: Type.Unknown(), to: Type.Unknown() }), {
  description: 'Changed fields with old and new values.',
});
const SAMPLE_ID = 'str_01kafe3n4pfx2v9yq6m8d7t5zr';

// The four events of a broadcast: partners rely on exactly these payloads.

export const streamLive = defineEvent({
  type: 'stream.live',
  description: 'An encoder connected and is sending a signal. The broadcast has not started yet.',
  data: Type.Object({ streamId, status: OneOf(['HAS_SIGNAL', 'ACTIVE'] as const), wentLiveAt: Instant }),
  sample: { streamId: SAMPLE_ID, status: 'HAS_SIGNAL', wentLiveAt: '2026-11-20T09:00:00.000Z' },
});

export const streamEnded = defineEvent({
  type: 'stream.ended',
  description: 'The encoder signal was lost.',
  data: Type.Object({ streamId, endedAt: Instant, durationSec: Type.Null() }),
  sample: { streamId: SAMPLE_ID, endedAt: '2026-11-20T10:00:05.000Z', durationSec: null },
});

export const streamBroadcastStarted = defineEvent({
  type: 'stream.broadcast_started',
  description: 'The broadcast is live for viewers. Sent at most once per stream and minute.',
  data: Type.Object({ streamId, isLive: Type.Literal(true), startedAt: Nullable(Instant) }),
  sample: { streamId: SAMPLE_ID, isLive: true, startedAt: '2026-11-20T09:00:10.000Z' },
});

export const streamBroadcastStopped = defineEvent({
  type: 'stream.broadcast_stopped',
  description: 'The creator stopped the broadcast. Sent at most once per stream and minute.',
  data: Type.Object({
    streamId,
    isLive: Type.Literal(false),
    endedAt: Instant,
    durationSec: Nullable(Type.Integer()),
  }),
  sample: {
    streamId: SAMPLE_ID,
    isLive: false,
    endedAt: '2026-11-20T10:00:00.000Z',
    durationSec: 3590,
  },
});

// Other events of a stream.

export const streamCreated = defineEvent({
  type: 'stream.created',
  description: 'A stream was created.',
  data: Type.Object({ streamId, title: Type.String(), visibility: Visibility, sequence }),
  sample: { streamId: SAMPLE_ID, title: 'Friday night live', visibility: 'PUBLIC', sequence: 1 },
});

export const streamUpdated = defineEvent({
  type: 'stream.updated',
  description: 'The settings of a stream changed.',
  data: Type.Object({ streamId, title: Type.String(), visibility: Visibility, changes, sequence }),
  sample: {
    streamId: SAMPLE_ID,
    title: 'Saturday night live',
    visibility: 'PUBLIC',
    changes: { title: { from: 'Friday night live', to: 'Saturday night live' } },
    sequence: 2,
  },
});

export const streamDeleted = defineEvent({
  type: 'stream.deleted',
  description: 'A stream was deleted; a connected encoder was disconnected.',
  data: Type.Object({ streamId, deletedAt: Instant, sequence }),
  sample: { streamId: SAMPLE_ID, deletedAt: '2026-11-21T09:00:00.000Z', sequence: 6 },
});

export const streamScheduled = defineEvent({
  type: 'stream.scheduled',
  description: 'A stream was scheduled. Sent again 15 minutes before the start.',
  data: Type.Object({ streamId, title: Type.String(), scheduledStartAt: Instant, sequence }),
  sample: {
    streamId: SAMPLE_ID,
    title: 'Saturday night live',
    scheduledStartAt: '2026-11-20T20:00:00.000Z',
    sequence: 3,
  },
});

export const streamKeyRotated = defineEvent({
  type: 'stream.key_rotated',
  description: 'The stream key was reset; an encoder using the old key was disconnected.',
  data: Type.Object({ streamId, rotatedAt: Instant, sequence }),
  sample: { streamId: SAMPLE_ID, rotatedAt: '2026-11-20T08:00:00.000Z', sequence: 4 },
});

export const streamHealthChanged = defineEvent({
  type: 'stream.health_changed',
  description: 'The health issues of the encoder signal changed. Sent at most once a minute.',
  data: Type.Object({ streamId, healthy: Type.Boolean(), issues: Type.Array(Type.String()), sequence }),
  sample: { streamId: SAMPLE_ID, healthy: false, issues: ['KEYFRAME_INTERVAL'], sequence: 5 },
});

export const streamRecordingReady = defineEvent({
  type: 'stream.recording_ready',
  description: 'The recording of a broadcast can be played.',
  data: Type.Object({
    streamId,
    sessionId: Type.String({ description: 'ID of the recorded session.' }),
    videoId: Type.String(),
    durationSec: Nullable(Type.Number()),
    sequence,
  }),
  sample: {
    streamId: SAMPLE_ID,
    sessionId: 'ses_01kafe7xq2v9yq6m8d7t5zr3n4',
    videoId: 'vid_01kafg2m9d7t5zr3n4pfx2v9yq',
    durationSec: 3590.4,
    sequence: 7,
  },
  notice: {
    severity: 'INFO',
    words: ({ videoId: id }) => ({
      title: 'Recording ready',
      body: 'The recording of your broadcast is ready to watch and publish.',
      resource: { type: 'VIDEO', id },
    }),
  },
});

export const streamTakenDown = defineEvent({
  type: 'stream.taken_down',
  description: 'The platform operator took a stream down: its broadcast ended and it was disabled.',
  data: Type.Object({
    streamId,
    title: Type.String(),
    reason: Type.String(),
    takenDownAt: Instant,
    sequence,
  }),
  sample: {
    streamId: SAMPLE_ID,
    title: 'Friday night live',
    reason: 'The broadcast infringes third-party rights.',
    takenDownAt: '2026-11-20T09:30:00.000Z',
    sequence: 8,
  },
  notice: {
    severity: 'CRITICAL',
    words: ({ title, reason, streamId: id }) => ({
      title: 'Stream taken down',
      body: `"${title}" can no longer be published to or watched. Reason: ${reason} If you disagree, open a support ticket.`,
      resource: { type: 'STREAM', id },
    }),
  },
});

export const streamRestored = defineEvent({
  type: 'stream.restored',
  description: 'A stream that was taken down can be enabled again.',
  data: Type.Object({ streamId, title: Type.String(), restoredAt: Instant, sequence }),
  sample: {
    streamId: SAMPLE_ID,
    title: 'Friday night live',
    restoredAt: '2026-11-22T09:00:00.000Z',
    sequence: 9,
  },
  notice: {
    severity: 'INFO',
    words: ({ title, streamId: id }) => ({
      title: 'Stream restored',
      body: `"${title}" is disabled until you enable it.`,
      resource: { type: 'STREAM', id },
    }),
  },
});

export const streamEvents: EventDefinition[] = [
  streamLive,
  streamEnded,
  streamBroadcastStarted,
  streamBroadcastStopped,
  streamCreated,
  streamUpdated,
  streamDeleted,
  streamScheduled,
  streamKeyRotated,
  streamHealthChanged,
  streamRecordingReady,
  streamTakenDown,
  streamRestored,
];
