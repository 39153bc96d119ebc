import Type, { type Static } from 'typebox';
import { Instant, Metadata, Nullable, NullableObject, OneOf, Title, Visibility } from '../../http/schema.ts';
import { MODES, type Mode } from '../../kernel/access.ts';
import { VALUES } from '../../platform/db/tables.generated.ts';
import type { StreamLinks as PlaybackLinks } from '../playback/index.ts';
import type { ListedSession, ShownStream } from './repository.ts';
import { deriveStatus, durationSec } from './rules.ts';
import { settingsOf } from './settings.ts';

const STATUSES = ['IDLE', 'PREVIEW', 'LIVE', 'LIVE_NO_SIGNAL', 'DISABLED'] as const;

const LatencyMode = OneOf(VALUES.stream.latency_mode);
const ChatMode = OneOf(VALUES.stream.chat_mode);
const settings = {
  description: Type.Optional(Nullable(Type.String({ maxLength: 5000 }))),
  visibility: Type.Optional(Visibility),
  enabled: Type.Optional(Type.Boolean()),
  latencyMode: Type.Optional(LatencyMode),
  record: Type.Optional(Type.Boolean()),
  recordVisibility: Type.Optional(Visibility),
  reconnectWindowSec: Type.Optional(Type.Integer({ minimum: 0, maximum: 1800 })),
  autoStart: Type.Optional(Type.Boolean()),
  autoStopAfterSec: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 43_200 }))),
  maxDurationSec: Type.Optional(Type.Integer({ minimum: 60, maximum: 43_200 })),
  chatEnabled: Type.Optional(Type.Boolean()),
  chatMode: Type.Optional(ChatMode),
  slowModeSec: Type.Optional(Type.Integer({ minimum: 0, maximum: 3600 })),
  scheduledStartAt: Type.Optional(Nullable(Type.String({ format: 'date-time' }))),
  metadata: Type.Optional(Metadata),
  externalId: Type.Optional(Nullable(Type.String({ maxLength: 255 }))),
};

export const StreamIn = Type.Object({ title: Title, ...settings });
export type StreamIn = Static<typeof StreamIn>;

export const StreamPatch = Type.Object({ title: Type.Optional(Title), ...settings });
export type StreamPatch = Static<typeof StreamPatch>;

const Health = Type.Object({
  bitrateKbps: Type.Number(),
  fps: Type.Number(),
  width: Type.Integer(),
  height: Type.Integer(),
  codec: Type.String(),
  issues: Type.Array(Type.String()),
});

export const Stream = Type.Object(
  {
    id: Type.String(),
    streamId: Type.String({ description: 'The same as `id`.' }),
    title: Type.String(),
    description: Nullable(Type.String()),
    visibility: Visibility,
    hasSignal: Type.Boolean({ description: 'An encoder is connected.' }),
    isLive: Type.Boolean({ description: 'The broadcast is live to viewers.' }),
    status: OneOf(STATUSES, { description: 'Derived from the two flags.' }),
    enabled: Type.Boolean(),
    streamKey: Nullable(
      Type.String({ description: 'Only where the key may write streams; null elsewhere.' }),
    ),
    ingest: Type.Object({
      rtmpUrl: Type.String({ description: 'An encoder publishes to this address, "/" and the stream key.' }),
      rtmpsUrl: Nullable(Type.String()),
      srtUrl: Nullable(Type.String()),
      whipUrl: Nullable(Type.String()),
    }),
    playbackUrl: Type.String({ description: 'The HLS master playlist; 404 while isLive is false.' }),
    previewUrl: Nullable(
      Type.String({ description: 'A signed playlist for the owner while hasSignal is true.' }),
    ),
    embedUrl: Type.String(),
    latencyMode: LatencyMode,
    record: Type.Boolean(),
    recordVisibility: Visibility,
    reconnectWindowSec: Type.Integer(),
    autoStart: Type.Boolean(),
    autoStopAfterSec: Nullable(Type.Integer()),
    maxDurationSec: Type.Integer(),
    chatEnabled: Type.Boolean(),
    chatMode: ChatMode,
    slowModeSec: Type.Integer(),
    scheduledStartAt: Nullable(Instant),
    restreamIds: Type.Array(Type.String()),
    currentSessionId: Nullable(Type.String()),
    startedAt: Nullable(Instant),
    endedAt: Nullable(Instant),
    lastSignalAt: Nullable(Instant),
    viewerCount: Type.Integer(),
    peakViewers: Type.Integer(),
    health: NullableObject(Health),
    metadata: Metadata,
    externalId: Nullable(Type.String()),
    thumbnailUrl: Nullable(Type.String()),
    createdAt: Instant,
    updatedAt: Instant,
    mode: OneOf(MODES),
  },
  { $id: 'Stream' },
);
export type Stream = Static<typeof Stream>;

export const StreamSession = Type.Object(
  {
    id: Type.String(),
    signalStartedAt: Instant,
    signalEndedAt: Nullable(Instant),
    broadcastStartedAt: Nullable(Instant),
    broadcastEndedAt: Nullable(Instant),
    durationSec: Nullable(Type.Integer({ description: 'Whole seconds of the broadcast.' })),
    peakViewers: Type.Integer(),
    uniqueViewers: Type.Integer(),
    recordingVideoId: Nullable(
      Type.String({ description: 'The video of the recording, from the end of the broadcast on.' }),
    ),
    error: Nullable(
      Type.String({
        description:
          'DURATION_EXCEEDED: stopped at maxDurationSec. QUOTA_EXCEEDED: not recorded, the storage was full.',
      }),
    ),
  },
  { $id: 'StreamSession' },
);

/** The addresses of a stream: where it is published, and where playback shows it. */
export interface StreamLinks extends PlaybackLinks {
  rtmpUrl: string;
}

export interface StreamView {
  mode: Mode;
  links: StreamLinks;
  /** Null hides it. */
  streamKey: string | null;
}

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

export function toStream(row: ShownStream, view: StreamView): Stream {
  return {
    id: row.id,
    streamId: row.id,
    ...settingsOf(row),
    hasSignal: row.has_signal,
    isLive: row.is_live,
    status: deriveStatus({ hasSignal: row.has_signal, isLive: row.is_live, enabled: row.enabled }),
    streamKey: view.streamKey,
    ingest: { rtmpUrl: view.links.rtmpUrl, rtmpsUrl: null, srtUrl: null, whipUrl: null },
    playbackUrl: view.links.playbackUrl(row),
    previewUrl: row.has_signal ? view.links.previewUrl(row.id) : null,
    embedUrl: view.links.embedUrl(row.id),
    restreamIds: [],
    currentSessionId: row.has_signal || row.is_live ? row.current_session_id : null,
    startedAt: iso(row.started_at),
    endedAt: iso(row.ended_at),
    lastSignalAt: iso(row.last_signal_at),
    viewerCount: row.viewer_count,
    peakViewers: row.peak_viewers,
    health: row.has_signal ? row.health : null,
    thumbnailUrl: null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    mode: view.mode,
  };
}

export function toSession(row: ListedSession): Static<typeof StreamSession> {
  return {
    id: row.id,
    signalStartedAt: row.signal_started_at.toISOString(),
    signalEndedAt: iso(row.signal_ended_at),
    broadcastStartedAt: iso(row.broadcast_started_at),
    broadcastEndedAt: iso(row.broadcast_ended_at),
    durationSec: durationSec(row.broadcast_started_at, row.broadcast_ended_at),
    peakViewers: row.peak_viewers,
    uniqueViewers: row.unique_viewers,
    recordingVideoId: row.recording_video_id,
    error: row.error,
  };
}
