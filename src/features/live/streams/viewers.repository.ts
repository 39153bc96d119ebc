import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { CUSTOM_PLAN } from '../../../platform/db/page.ts';

/** View interval as stored in the database. */
export interface StoredViewInterval {
  streamId: string;
  /** Hexadecimal hash. */
  viewer: string;
  sessionId: string | null;
  day: string;
  hasBeacon: boolean;
  until: Date;
}

/** A viewer who is new to a session of a stream. */
export interface NewViewer {
  streamId: string;
  /** Hexadecimal hash. */
  viewer: string;
}

/**
 * Writes view intervals and adds viewers who are new to their session. Playlist requests of a viewer who
 * sends beacons change nothing. An ended broadcast accepts none. A viewer who waits on a broadcast without a
 * signal is counted by its session, once there is one.
 *
 * @returns the added viewers.
 */
export async function writeViewIntervals(
  tx: Tx,
  stays: readonly StoredViewInterval[],
  now: Date,
): Promise<NewViewer[]> {
  const { rows } = await sql<NewViewer>`
    with given as (
      select given.*, decode(given.viewer, 'hex') as hash
        from jsonb_to_recordset(${JSON.stringify(stays)}::text::jsonb) as given
          ("streamId" text, viewer text, "sessionId" text, day text, "hasBeacon" boolean, until timestamptz)
        join stream on stream.id = given."streamId" and stream.is_live
    ), gone as (
      update stream_viewer set present_until = given.until, has_beacon = true from given
        where given.until <= ${now} and given."hasBeacon"
          and stream_viewer.stream_id = given."streamId" and stream_viewer.viewer = given.hash
    ), written as (
      insert into stream_viewer (stream_id, viewer, session_id, salt_day, has_beacon, present_until)
        select "streamId", hash, "sessionId", day, "hasBeacon", until from given
          where until > ${now} order by 1, 2
        on conflict (stream_id, viewer) do update
          set present_until = excluded.present_until, has_beacon = excluded.has_beacon
          where excluded.has_beacon or not stream_viewer.has_beacon
        returning stream_id, viewer, session_id, xmax = 0 as is_new
    ), sessions as (
      update stream_session set unique_viewers = unique_viewers + added.viewers
        from (select session_id, count(*)::integer as viewers from written where is_new group by 1) added
        where stream_session.id = added.session_id and stream_session.broadcast_ended_at is null
        returning stream_session.id
    ), watched as (
      insert into watched_stream (stream_id)
        select distinct stream_id from written order by 1 on conflict do nothing
    )
    select written.stream_id as "streamId", encode(written.viewer, 'hex') as viewer
      from written join sessions on sessions.id = written.session_id where written.is_new`.execute(tx);
  return rows;
}

/** Stream to be counted. */
interface LockedStream {
  id: string;
  workspace_id: string;
}

/** Locks the streams to be counted; those locked by another transaction are left to the next run. */
export function lockWatched(tx: Tx): Promise<LockedStream[]> {
  return tx
    .selectFrom('stream')
    .select(['id', 'workspace_id'])
    .where('id', 'in', (eb) => eb.selectFrom('watched_stream').select('stream_id'))
    .orderBy('id')
    .forNoKeyUpdate()
    .skipLocked()
    .execute();
}

/** Viewers who joined and left a stream since the last count. */
export interface ViewerDelta {
  streamId: string;
  joins: number;
  leaves: number;
}

/**
 * Stores the presence of each viewer and returns the changes. All viewers have left an ended broadcast.
 *
 * @param latest a longer stay was measured by a wrong clock.
 */
export async function countJoinsAndLeaves(
  tx: Tx,
  streamIds: readonly string[],
  { now, latest }: { now: Date; latest: Date },
): Promise<ViewerDelta[]> {
  const { rows } = await sql<ViewerDelta>`
    ${CUSTOM_PLAN} with moving as (
      select v.stream_id, v.viewer, not v.is_counted as is_counted
        from stream_viewer v join stream on stream.id = v.stream_id
        where v.stream_id = any(${streamIds})
          and v.is_counted <> (stream.is_live and v.present_until > ${now} and v.present_until <= ${latest})
        order by v.stream_id, v.viewer for no key update of v
    ), moved as (
      update stream_viewer set is_counted = moving.is_counted from moving
        where stream_viewer.stream_id = moving.stream_id and stream_viewer.viewer = moving.viewer
        returning stream_viewer.stream_id, stream_viewer.is_counted
    )
    select stream_id as "streamId", count(*) filter (where is_counted)::integer as joins,
        count(*) filter (where not is_counted)::integer as leaves
      from moved group by 1`.execute(tx);
  return rows;
}

/** Number of viewers at a moment. */
export interface Sample {
  streamId: string;
  viewers: number;
}

/**
 * Returns samples of due streams: the last one was before `steady`, or before `changed` when the number has
 * changed.
 */
export async function sampleViewerCounts(
  tx: Tx,
  streamIds: readonly string[],
  due: { now: Date; steady: Date; changed: Date },
): Promise<Sample[]> {
  const { rows } = await sql<Sample>`
    update watched_stream w set sampled_at = ${due.now}, sampled_viewers = stream.viewer_count
      from stream
      where stream.id = w.stream_id and stream.id = any(${streamIds}) and stream.is_live
        and (w.sampled_at is null or w.sampled_at > ${due.now} or w.sampled_at <= ${due.steady}
          or (w.sampled_at <= ${due.changed} and w.sampled_viewers <> stream.viewer_count))
      returning w.stream_id as "streamId", stream.viewer_count as viewers`.execute(tx);
  return rows;
}

/**
 * Counts the present viewers, and stores the peaks of the stream and its session. A stream that is not live
 * has no viewers. When session or salt change, every viewer has two hashes for a moment, and the larger of
 * the two groups counts.
 *
 * @param latest a longer stay was measured by a wrong clock.
 */
export async function countViewers(
  tx: Tx,
  streamIds: readonly string[],
  { now, latest }: { now: Date; latest: Date },
): Promise<void> {
  await sql`
    ${CUSTOM_PLAN} with crowds as (
      select stream_id, count(*)::integer as viewers from stream_viewer
        where stream_id = any(${streamIds}) and present_until > ${now} and present_until <= ${latest}
        group by stream_id, session_id, salt_day
    ), counted as (
      select stream.id, stream.current_session_id,
          case when stream.is_live then coalesce(max(crowds.viewers), 0) else 0 end as current
        from stream left join crowds on crowds.stream_id = stream.id
        where stream.id = any(${streamIds})
        group by stream.id
    ), sessions as (
      update stream_session set peak_viewers = counted.current from counted
        where stream_session.id = counted.current_session_id
          and stream_session.broadcast_started_at is not null
          and stream_session.broadcast_ended_at is null
          and stream_session.peak_viewers < counted.current
    )
    update stream
      set viewer_count = counted.current, peak_viewers = greatest(stream.peak_viewers, counted.current)
      from counted where stream.id = counted.id and stream.viewer_count <> counted.current`.execute(tx);
}

/** Deletes the viewers of ended broadcasts, for privacy. */
export async function deleteEndedViewers(tx: Tx, streamIds: readonly string[], now: Date): Promise<void> {
  await sql`
    ${CUSTOM_PLAN} delete from stream_viewer using stream
      where stream.id = stream_viewer.stream_id and stream.id = any(${streamIds})
        and (not stream.is_live or (stream_viewer.present_until <= ${now}
          and stream_viewer.session_id is distinct from stream.current_session_id))`.execute(tx);
  await sql`
    delete from watched_stream using stream
      where stream.id = watched_stream.stream_id and stream.id = any(${streamIds})
        and not stream.is_live`.execute(tx);
}

/** Deletes viewers who were seen outside of these times. */
export async function deleteStaleViewers(
  db: Db,
  { from, until }: { from: Date; until: Date },
): Promise<void> {
  await sql`delete from stream_viewer where present_until < ${from} or present_until > ${until}`.execute(db);
}

/**
 * Selects viewers and health of existing streams for their tails. A broadcast that waits for its signal has
 * no session of its own yet, and the previous session does not apply.
 */
export function findStates(db: Db, streamIds: readonly string[]) {
  return db
    .selectFrom('stream')
    .leftJoin('stream_session', (join) =>
      join
        .onRef('stream_session.id', '=', 'stream.current_session_id')
        .on((eb) => eb.or([eb('stream_session.broadcast_ended_at', 'is', null), eb.not('stream.is_live')])),
    )
    .select([
      'stream.id',
      'stream.has_signal',
      'stream.health',
      'stream.viewer_count',
      'stream_session.peak_viewers',
      'stream_session.unique_viewers',
    ])
    .where((eb) => eb('stream.id', '=', eb.fn.any(eb.val(streamIds))))
    .where('stream.deleted_at', 'is', null)
    .execute();
}
