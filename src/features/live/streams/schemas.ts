import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, NullableObject, OneOf, Title } from '../../../http/schema.ts';
import { Takedown, toTakedown } from '../../../http/takedown.ts';
import { MODES, type Mode } from '../../../kernel/access.ts';
import type { StreamLinks as PlaybackLinks } from '../../audience/playback/index.ts';
import { settingsOf, streamFields } from './fields.ts';
import { HEALTH_EXAMPLE, Health } from './health.schemas.ts';
import type { StreamDetails } from './lists.repository.ts';
import type { ListedSession } from './repository.ts';
import { deriveStatus, durationSec, visibleHealth } from './rules.ts';

const STATUSES = ['IDLE', 'PREVIEW', 'LIVE', 'LIVE_NO_SIGNAL', 'DISABLED'] as const;

namedSchema('StreamStatus', OneOf(STATUSES));

export const StreamIn = namedSchema('StreamCreate', Type.Object({ ...streamFields.input, title: Title }), {
  title: 'Friday night live',
  visibility: 'PUBLIC',
  record: true,
});
export type StreamIn = Static<typeof StreamIn>;

export const StreamPatch = namedSchema('StreamUpdate', Type.Object(streamFields.input), {
  title: 'Saturday night live',
  scheduledStartAt: '2026-11-28T20:00:00.000Z',
});
export type StreamPatch = Static<typeof StreamPatch>;

export const Stream = namedSchema(
  'Stream',
  Type.Object({
    id: IdOf('str'),
    streamId: IdOf('str', 'Same value as `id`.'),
    ...streamFields.output,
    hasSignal: Type.Boolean({ description: 'Whether an encoder is connected.' }),
    isLive: Type.Boolean({ description: 'Whether the broadcast is live for viewers.' }),
    status: OneOf(STATUSES, { description: 'Derived from the two flags.' }),
    streamKey: Nullable(Type.String({ description: 'Null if the key cannot write streams.' })),
    ingest: Type.Object({
      rtmpUrl: Type.String({ description: 'RTMP URL for encoders; append "/" and the stream key.' }),
      rtmpsUrl: Nullable(
        Type.String({
          description: 'RTMPS URL for encoders; null without a TLS certificate.',
        }),
      ),
      whipUrl: Nullable(
        Type.String({
          description: 'WHIP URL for publishing over WebRTC; null if WebRTC is unavailable.',
        }),
      ),
    }),
    playbackUrl: Type.String({
      description: 'HLS master playlist; while isLive is false it returns 404, or 302 to the recording.',
    }),
    whepUrl: Nullable(
      Type.String({
        description: 'WHEP URL for playback over WebRTC while isLive is true; null if WebRTC is unavailable.',
      }),
    ),
    previewUrl: Nullable(
      Type.String({ description: 'Signed playlist for the owner while hasSignal is true.' }),
    ),
    embedUrl: Type.String(),
    restreamIds: Type.Array(Type.String(), { description: 'IDs of the restreams of the stream.' }),
    currentSessionId: Nullable(Type.String()),
    startedAt: Nullable(Instant),
    endedAt: Nullable(Instant),
    lastSignalAt: Nullable(Instant),
    viewerCount: Type.Integer(),
    peakViewers: Type.Integer(),
    health: NullableObject(Health),
    thumbnailUrl: Nullable(
      Type.String({
        description: 'Image of the signal, refreshed every 30 seconds; null without a signal.',
      }),
    ),
    takedown: NullableObject(Takedown),
    createdAt: Instant,
    updatedAt: Instant,
    mode: OneOf(MODES),
  }),
  {
    id: 'str_01kafe3n4pfx2v9yq6m8d7t5zr',
    streamId: 'str_01kafe3n4pfx2v9yq6m8d7t5zr',
    ...streamFields.example,
    hasSignal: true,
    isLive: true,
    status: 'LIVE',
    streamKey: 'pC7yJ0wq3kTq8ZrW1xY6vB0nM4sD7fGh2LxQe9UaHdM',
    ingest: {
      rtmpUrl: 'rtmp://video.example.com:1935/live',
      rtmpsUrl: 'rtmps://video.example.com:1936/live',
      whipUrl: 'https://video.example.com/whip',
    },
    playbackUrl: 'https://video.example.com/live/str_01kafe3n4pfx2v9yq6m8d7t5zr/master.m3u8',
    whepUrl: 'https://video.example.com/whep/str_01kafe3n4pfx2v9yq6m8d7t5zr',
    previewUrl: null,
    embedUrl: 'https://video.example.com/embed/str_01kafe3n4pfx2v9yq6m8d7t5zr',
    restreamIds: [],
    currentSessionId: 'ses_01kafe3n4pfx2v9yq6m8d7t5zr',
    startedAt: '2026-11-20T09:00:00.000Z',
    endedAt: null,
    lastSignalAt: '2026-11-20T09:00:00.000Z',
    viewerCount: 132,
    peakViewers: 180,
    health: HEALTH_EXAMPLE,
    thumbnailUrl: null,
    takedown: null,
    createdAt: '2026-11-20T09:00:00.000Z',
    updatedAt: '2026-11-20T09:00:00.000Z',
    mode: 'live',
  },
);
export type Stream = Static<typeof Stream>;

export const StreamSession = namedSchema(
  'StreamSession',
  Type.Object({
    id: IdOf('ses'),
    signalStartedAt: Instant,
    signalEndedAt: Nullable(Instant),
    broadcastStartedAt: Nullable(Instant),
    broadcastEndedAt: Nullable(Instant),
    durationSec: Nullable(Type.Integer({ description: 'Broadcast duration in whole seconds.' })),
    peakViewers: Type.Integer(),
    uniqueViewers: Type.Integer(),
    recordingVideoId: Nullable(
      Type.String({ description: "ID of the recording's video, available after the broadcast ends." }),
    ),
    error: Nullable(
      Type.String({
        description:
          'DURATION_EXCEEDED: stopped at maxDurationSec. QUOTA_EXCEEDED: not recorded or only partially, because storage was full. UNSUPPORTED_CODEC, NO_TRANSCODE_CAPACITY, RESOLUTION_CHANGED, BITRATE_OVER_PLAN: the encoder was disconnected; see the health issues.',
      }),
    ),
  }),
  {
    id: 'ses_01kafe3n4pfx2v9yq6m8d7t5zr',
    signalStartedAt: '2026-11-20T09:00:00.000Z',
    signalEndedAt: null,
    broadcastStartedAt: '2026-11-20T09:00:00.000Z',
    broadcastEndedAt: null,
    durationSec: null,
    peakViewers: 180,
    uniqueViewers: 412,
    recordingVideoId: null,
    error: null,
  },
);

const SAMPLE_ID = 'str_01kafe3n4pfx2v9yq6m8d7t5zr';

export const StreamStatus = namedSchema(
  'StreamStatusNow',
  Type.Object({
    streamId: IdOf('str'),
    hasSignal: Type.Boolean(),
    isLive: Type.Boolean(),
    status: OneOf(STATUSES),
    startedAt: Nullable(Instant),
    endedAt: Nullable(Instant),
    health: NullableObject(Health),
    changed: Type.Array(Type.String(), {
      description: 'Names of the changed fields; empty if the event does not report a change.',
    }),
    at: Instant,
  }),
  {
    streamId: SAMPLE_ID,
    hasSignal: true,
    isLive: true,
    status: 'LIVE',
    startedAt: '2026-11-20T09:00:00.000Z',
    endedAt: null,
    health: HEALTH_EXAMPLE,
    changed: ['isLive', 'status', 'startedAt'],
    at: '2026-11-20T09:00:00.000Z',
  },
);

export const StreamViewers = namedSchema(
  'StreamViewers',
  Type.Object({
    streamId: IdOf('str'),
    current: Type.Integer({ description: 'Current number of viewers.' }),
    peak: Type.Integer({ description: 'Peak concurrent viewers in the current session.' }),
    unique: Type.Integer({ description: 'Unique viewers in the current session.' }),
    at: Instant,
  }),
  { streamId: SAMPLE_ID, current: 132, peak: 180, unique: 412, at: '2026-11-20T09:00:00.000Z' },
);

export const SimulateSignalIn = namedSchema(
  'SignalSimulation',
  Type.Object({
    on: Type.Boolean({ description: 'Whether to start or stop the simulated signal.' }),
    seconds: Type.Integer({
      minimum: 10,
      maximum: 3600,
      default: 600,
      description: 'Seconds after which the simulation ends.',
    }),
  }),
  { on: true, seconds: 120 },
);

/** URLs of a stream: where it is published, and where it is played. */
export interface StreamLinks extends Omit<PlaybackLinks, 'whepUrl'> {
  rtmpUrl: string;
  rtmpsUrl: string | null;
  /** Returns the WHIP URL; null while no media node can serve it. */
  whipUrl(): string | null;
  /** Returns the WHEP URL; null while no media node can serve it. */
  whepUrl(...stream: Parameters<PlaybackLinks['whepUrl']>): string | null;
  hasWhep(): boolean;
}

export interface StreamView {
  mode: Mode;
  links: StreamLinks;
  /** Stream key; null hides it. */
  streamKey: string | null;
}

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

export function toStream(row: StreamDetails, view: StreamView): Stream {
  return {
    id: row.id,
    streamId: row.id,
    ...settingsOf(row),
    hasSignal: row.has_signal,
    isLive: row.is_live,
    status: deriveStatus({ hasSignal: row.has_signal, isLive: row.is_live, enabled: row.enabled }),
    streamKey: view.streamKey,
    ingest: { rtmpUrl: view.links.rtmpUrl, rtmpsUrl: view.links.rtmpsUrl, whipUrl: view.links.whipUrl() },
    playbackUrl: view.links.playbackUrl(row),
    whepUrl: view.links.whepUrl(row),
    previewUrl: row.has_signal ? view.links.previewUrl(row.id) : null,
    embedUrl: view.links.embedUrl(row.id),
    restreamIds: row.restream_ids,
    currentSessionId: row.has_signal || row.is_live ? row.current_session_id : null,
    startedAt: iso(row.started_at),
    endedAt: iso(row.ended_at),
    lastSignalAt: iso(row.last_signal_at),
    viewerCount: row.viewer_count,
    peakViewers: row.peak_viewers,
    health: visibleHealth(row),
    thumbnailUrl: row.has_signal ? view.links.thumbnailUrl({ ...row, isLive: row.is_live }) : null,
    takedown: toTakedown(row),
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
