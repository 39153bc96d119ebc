import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';

/** A stay as the database keeps it. */
export interface StoredStay {
  streamId: string;
  /** In hexadecimal. */
  viewer: string;
  sessionId: string | null;
  day: string;
  hasBeacon: boolean;
  until: Date;
}

/**
 * Writes who stays until when, and adds those who are new to their session. The playlist requests of a viewer who
 * is known to send beacons change nothing. A broadcast that is over takes nobody.
 */
export async function writeStays(db: Db, stays: readonly StoredStay[], now: Date): Promise<void> {
  await sql`
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
        returning stream_id, session_id, xmax = 0 as is_new
    ), sessions as (
      update stream_session set unique_viewers = unique_viewers + added.viewers
        from (select session_id, count(*)::integer as viewers from written where is_new group by 1) added
        where stream_session.id = added.session_id
    )
    insert into watched_stream (stream_id)
      select distinct stream_id from written order by 1 on conflict do nothing`.execute(db);
}

/** Streams to be counted, locked; those that another transaction holds are left to the next time. */
export async function lockWatched(tx: Tx): Promise<string[]> {
  const rows = await tx
    .selectFrom('stream')
    .select('id')
    .where('id', 'in', (eb) => eb.selectFrom('watched_stream').select('stream_id'))
    .orderBy('id')
    .forNoKeyUpdate()
    .skipLocked()
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Counts who is there, and keeps the highest number of the stream and of its session. A stream that is not live has
 * no viewers. When session or salt change, everybody is there under two hashes for a moment: the larger of the two
 * crowds counts.
 *
 * @param latest whoever stays for longer was seen by a clock that was wrong.
 */
export async function countViewers(
  tx: Tx,
  streamIds: readonly string[],
  { now, latest }: { now: Date; latest: Date },
): Promise<void> {
  await sql`
    with crowds as (
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

/** Who watched a broadcast that is over is nobody's business any more. */
export async function dropSpent(tx: Tx, streamIds: readonly string[], now: Date): Promise<void> {
  await sql`
    delete from stream_viewer using stream
      where stream.id = stream_viewer.stream_id and stream.id = any(${streamIds})
        and (not stream.is_live or (stream_viewer.present_until <= ${now}
          and stream_viewer.session_id is distinct from stream.current_session_id))`.execute(tx);
  await sql`
    delete from watched_stream using stream
      where stream.id = watched_stream.stream_id and stream.id = any(${streamIds})
        and not stream.is_live`.execute(tx);
}

/** The salt of the day: this one, unless another process has made one. */
export async function keepSalt(db: Db, day: string, encrypted: Uint8Array): Promise<Uint8Array> {
  const { rows } = await sql<{ salt_encrypted: Uint8Array }>`
    with made as (
      insert into viewer_salt (day, salt_encrypted) values (${day}, ${encrypted})
        on conflict (day) do nothing returning salt_encrypted
    )
    select salt_encrypted from made
    union all select salt_encrypted from viewer_salt where day = ${day}
    limit 1`.execute(db);
  const [row] = rows;
  // Another process has committed it between the two looks of the statement.
  return row?.salt_encrypted ?? keepSalt(db, day, encrypted);
}

/** Salts outside of these days, and whoever was seen outside of these times. */
export async function dropOld(
  db: Db,
  { days, from, until }: { days: readonly string[]; from: Date; until: Date },
): Promise<void> {
  await sql`delete from viewer_salt where day <> all(${days}::text[])`.execute(db);
  await sql`delete from stream_viewer where present_until < ${from} or present_until > ${until}`.execute(db);
}

/** Viewers and health of streams that are there, for their tails. */
export function findStates(db: Db, streamIds: readonly string[]) {
  return db
    .selectFrom('stream')
    .leftJoin('stream_session', 'stream_session.id', 'stream.current_session_id')
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
