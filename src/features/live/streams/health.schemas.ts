import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, NullableObject } from '../../../http/schema.ts';
import type { HealthPointRow } from './health.repository.ts';
import { HEALTH_MESSAGES, healthMessage } from './health-messages.ts';
import type { StreamDetails } from './lists.repository.ts';
import { POINT_MS, visibleHealth } from './rules.ts';

export const HEALTH_EXAMPLE = {
  bitrateKbps: 4520.5,
  fps: 30,
  width: 1920,
  height: 1080,
  codec: 'avc1.640028',
  keyframeIntervalSec: 2,
  droppedFrames: 0,
  lateFrames: 0,
  avDriftMs: 12,
  issues: [],
};

function issueWords(): string {
  const words = Object.entries(HEALTH_MESSAGES).map(([word, { remedy }]) => `${word}: ${remedy}`);
  return `Empty if there are no issues. Values and remedies: ${words.join(' ')}`;
}

export const Health = namedSchema(
  'StreamHealth',
  Type.Object({
    bitrateKbps: Type.Number(),
    fps: Type.Number(),
    width: Type.Integer(),
    height: Type.Integer(),
    codec: Type.String({
      description: 'RFC 6381 codec string of the video, or of the audio if there is no video.',
    }),
    keyframeIntervalSec: Nullable(
      Type.Number({ description: 'Largest recent interval; null before the second keyframe.' }),
    ),
    droppedFrames: Type.Integer({ description: 'Frames missing by timestamp in this connection.' }),
    lateFrames: Type.Integer({ description: 'Frames more than a second late in this connection.' }),
    avDriftMs: Nullable(Type.Integer({ description: 'How far audio is ahead of video; null without both.' })),
    issues: Type.Array(Type.String(), { description: issueWords() }),
  }),
  HEALTH_EXAMPLE,
);

export const StreamHealthHour = namedSchema(
  'StreamHealthHour',
  Type.Object({
    streamId: IdOf('str'),
    healthy: Nullable(Type.Boolean({ description: 'Null without a signal.' })),
    current: NullableObject(Health),
    issues: Type.Array(Type.Object({ code: Type.String(), meaning: Type.String(), remedy: Type.String() }), {
      description: 'Human-readable issues of `current`.',
    }),
    intervalSec: Type.Integer(),
    points: Type.Array(
      Type.Object({
        at: Instant,
        bitrateKbps: Type.Integer(),
        fps: Type.Number(),
        keyframeIntervalSec: Nullable(Type.Number()),
        droppedFrames: Type.Integer({ description: 'Count during the interval of the point.' }),
        lateFrames: Type.Integer({ description: 'Count during the interval of the point.' }),
        avDriftMs: Nullable(Type.Integer()),
      }),
      {
        description:
          'Measurements of the last hour, oldest first; periods without measurements have no points.',
      },
    ),
  }),
  {
    streamId: 'str_01kafe3n4pfx2v9yq6m8d7t5zr',
    healthy: false,
    current: { ...HEALTH_EXAMPLE, keyframeIntervalSec: 10, issues: ['KEYFRAME_INTERVAL'] },
    issues: [
      {
        code: 'KEYFRAME_INTERVAL',
        meaning: 'More than 4 s between keyframes: new viewers start further behind live.',
        remedy: 'Set the keyframe interval of the encoder to 2 s.',
      },
    ],
    intervalSec: 10,
    points: [
      {
        at: '2026-11-20T09:00:10.000Z',
        bitrateKbps: 4520,
        fps: 30,
        keyframeIntervalSec: 10,
        droppedFrames: 0,
        lateFrames: 0,
        avDriftMs: 12,
      },
    ],
  },
);

export function toHealthHour({
  stream,
  points,
}: {
  stream: StreamDetails;
  points: readonly HealthPointRow[];
}): Static<typeof StreamHealthHour> {
  const current = visibleHealth(stream);
  return {
    streamId: stream.id,
    healthy: current === null ? null : current.issues.length === 0,
    current,
    issues: (current?.issues ?? []).map((code) => {
      const { meaning, remedy } = healthMessage(code);
      return { code, meaning, remedy };
    }),
    intervalSec: POINT_MS / 1000,
    points: points.map((row) => ({
      at: row.at.toISOString(),
      bitrateKbps: row.bitrate_kbps,
      fps: row.fps,
      keyframeIntervalSec: row.keyframe_interval_ms === null ? null : row.keyframe_interval_ms / 1000,
      droppedFrames: row.dropped_frames,
      lateFrames: row.late_frames,
      avDriftMs: row.av_drift_ms,
    })),
  };
}
