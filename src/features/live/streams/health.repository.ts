import { type Selectable, sql } from 'kysely';
import type { Db } from '../../../platform/db/index.ts';
import type { StreamHealthPointTable } from '../../../platform/db/tables.generated.ts';

export type HealthPointRow = Selectable<StreamHealthPointTable>;

/** Writes points; a node that takes over within the ten seconds overwrites them. */
export async function writePoints(db: Db, points: readonly HealthPointRow[]): Promise<void> {
  if (points.length === 0) return;
  await sql`
    insert into stream_health_point
      select * from jsonb_populate_recordset(null::stream_health_point, ${JSON.stringify(points)}::text::jsonb)
      order by stream_id, at
    on conflict (stream_id, at) do update set
      bitrate_kbps = excluded.bitrate_kbps, fps = excluded.fps,
      keyframe_interval_ms = excluded.keyframe_interval_ms, dropped_frames = excluded.dropped_frames,
      late_frames = excluded.late_frames, av_drift_ms = excluded.av_drift_ms`.execute(db);
}

/** Oldest first. */
export function listPoints(db: Db, streamId: string, since: Date): Promise<HealthPointRow[]> {
  return db
    .selectFrom('stream_health_point')
    .selectAll()
    .where('stream_id', '=', streamId)
    .where('at', '>', since)
    .orderBy('at')
    .execute();
}

/** Deletes points outside of these times. */
export async function dropPoints(db: Db, from: Date, until: Date): Promise<void> {
  await sql`delete from stream_health_point where at <= ${from} or at > ${until}`.execute(db);
}

/**
 * Selects streams with a signal that was not measured since `deadline` and whose health does not show it yet.
 */
export function selectUnmeasured(db: Db, deadline: Date, word: string) {
  return db
    .selectFrom('stream')
    .select('id')
    .where('has_signal', '=', true)
    .where('last_signal_at', '<', deadline)
    .where(
      sql<boolean>`not coalesce(health->'issues', '[]'::jsonb) @> ${JSON.stringify([word])}::text::jsonb`,
    )
    .limit(100);
}

/** Selects streams with a due health change. */
export function selectDueHealth(db: Db, now: Date) {
  return db.selectFrom('stream').select('id').where('health_notify_at', '<=', now).limit(100);
}
