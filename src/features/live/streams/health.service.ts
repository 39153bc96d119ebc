import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { HOUR_MS, MINUTE_MS } from '../../../kernel/durations.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { StreamHealth } from '../../../platform/db/json-columns.ts';
import type { HealthPointRow } from './health.repository.ts';
import * as repository from './health.repository.ts';
import type { StreamDetails } from './lists.repository.ts';
import { POINT_MS } from './rules.ts';
import type { Streams } from './service.ts';

/** Maximum points of all streams that are held when they cannot be written. */
const WAITING_MAX = 10_000;

/** The last hour of a signal (docs/concepts/streams.md#health). */
export interface HealthSeries {
  /** Adds a measurement; the measurements of ten seconds form one point. */
  add(streamId: string, health: StreamHealth): void;
  /** Writes the completed points; runs every five seconds. Failed points are retried by the next run. */
  flush(): Promise<void>;
  /** @throws {AppError} NOT_FOUND. */
  read(workspaceId: string, streamId: string): Promise<{ stream: StreamDetails; points: HealthPointRow[] }>;
  /** Deletes points older than an hour; runs every minute. */
  forget(): Promise<void>;
}

interface Deps {
  db: Db;
  clock: Clock;
  streams: Pick<Streams, 'get'>;
}

interface Gathering {
  atMs: number;
  measurements: StreamHealth[];
}

export function createHealthSeries({ db, clock, streams }: Deps): HealthSeries {
  const gathering = new Map<string, Gathering>();
  /** Totals of the connection at the end of the last point. */
  const totals = new Map<string, { dropped: number; late: number }>();
  let waiting: HealthPointRow[] = [];

  const finish = (streamId: string, { atMs, measurements }: Gathering) => {
    gathering.delete(streamId);
    const point = toPoint(streamId, atMs, measurements);
    const { dropped_frames: dropped, late_frames: late } = point;
    const before = totals.get(streamId) ?? { dropped: 0, late: 0 };
    totals.set(streamId, { dropped, late });
    waiting.push({
      ...point,
      dropped_frames: more(dropped, before.dropped),
      late_frames: more(late, before.late),
    });
    waiting = waiting.slice(-WAITING_MAX);
  };
  return {
    add(streamId, health) {
      // A connection has no bitrate in its first second.
      const isNew = !gathering.has(streamId) && !totals.has(streamId);
      if (isNew && health.bitrateKbps === 0) return;
      const atMs = Math.floor(clock.ms() / POINT_MS) * POINT_MS;
      const now = gathering.get(streamId);
      if (now !== undefined && now.atMs !== atMs) finish(streamId, now);
      const open = gathering.get(streamId) ?? { atMs, measurements: [] };
      open.measurements.push(health);
      gathering.set(streamId, open);
    },
    async flush() {
      const current = Math.floor(clock.ms() / POINT_MS) * POINT_MS;
      for (const [streamId, open] of gathering) if (open.atMs !== current) finish(streamId, open);
      // The totals of a stream restart after its signal has ended.
      for (const streamId of totals.keys())
        if (!gathering.has(streamId) && !waiting.some((point) => point.stream_id === streamId))
          totals.delete(streamId);
      const points = waiting;
      await repository.writePoints(db, newestOfEach(points));
      waiting = waiting.filter((point) => !points.includes(point));
    },
    async read(workspaceId, streamId) {
      const stream = await streams.get(workspaceId, streamId);
      return { stream, points: await repository.listPoints(db, streamId, dateFromMs(clock.ms() - HOUR_MS)) };
    },
    forget: () =>
      repository.dropPoints(db, dateFromMs(clock.ms() - HOUR_MS), dateFromMs(clock.ms() + MINUTE_MS)),
  };
}

/** Returns the increase of a total; a new connection counts from 0. */
function more(total: number, before: number): number {
  return total < before ? total : total - before;
}

/** Returns the point of these measurements, with the totals of the connection. */
function toPoint(streamId: string, atMs: number, measurements: readonly StreamHealth[]): HealthPointRow {
  const mean = (pick: (health: StreamHealth) => number) =>
    measurements.reduce((sum, health) => sum + pick(health), 0) / Math.max(1, measurements.length);
  const highest = (pick: (health: StreamHealth) => number | null | undefined) => {
    const known = measurements.map(pick).filter((value) => value != null);
    return known.length === 0 ? null : known.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a));
  };
  const last = measurements.at(-1);
  const keyframeSec = highest((health) => health.keyframeIntervalSec);
  return {
    stream_id: streamId,
    at: dateFromMs(atMs),
    bitrate_kbps: Math.round(mean(({ bitrateKbps }) => bitrateKbps)),
    fps: Math.round(mean(({ fps }) => fps) * 10) / 10,
    keyframe_interval_ms: keyframeSec === null ? null : Math.round(keyframeSec * 1000),
    dropped_frames: last?.droppedFrames ?? 0,
    late_frames: last?.lateFrames ?? 0,
    av_drift_ms: highest((health) => health.avDriftMs),
  };
}

/** Returns the newest point of each time: a clock that was set back returns a time twice. */
function newestOfEach(points: readonly HealthPointRow[]): HealthPointRow[] {
  return [...new Map(points.map((point) => [`${point.stream_id} ${point.at.getTime()}`, point])).values()];
}
