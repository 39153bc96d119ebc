import { sql } from 'kysely';
import type { MinuteBucket } from '../../../kernel/minute-buckets.ts';
import type { Tx } from '../../../platform/db/index.ts';

/** Live broadcast, and the end of its counted time. */
export interface LiveBroadcast {
  id: string;
  streamId: string;
  workspaceId: string;
  countedUntil: Date;
  /** Time at which its signal was lost; null while it has one. */
  signalEndedAt: Date | null;
}

const SHOWN = sql`
  id, stream_id as "streamId", workspace_id as "workspaceId",
  coalesce(metered_until, broadcast_started_at) as "countedUntil", signal_ended_at as "signalEndedAt"`;

/** Claims live broadcasts that no other process holds, ordered by ID, after this ID. */
export async function claimLiveBroadcasts(tx: Tx, after: string, most: number): Promise<LiveBroadcast[]> {
  const { rows } = await sql<LiveBroadcast>`
    select ${SHOWN} from stream_session
    where id > ${after} and broadcast_started_at is not null and broadcast_ended_at is null
    order by id limit ${most} for no key update skip locked`.execute(tx);
  return rows;
}

/** Locks a session; undefined when it was never broadcast. */
export async function claimSession(tx: Tx, id: string): Promise<LiveBroadcast | undefined> {
  const { rows } = await sql<LiveBroadcast>`
    select ${SHOWN} from stream_session
    where id = ${id} and broadcast_started_at is not null for no key update`.execute(tx);
  return rows[0];
}

export async function setMeteredUntil(tx: Tx, ids: readonly string[], until: readonly Date[]): Promise<void> {
  const texts = until.map((date) => date.toISOString());
  await sql`
    update stream_session set metered_until = place.until
    from unnest(${ids}::text[], ${texts}::timestamptz[]) place (id, until)
    where stream_session.id = place.id`.execute(tx);
}

/** Returns the mean bitrate of each interval in order; null without measurements. */
export async function meanBitrates(
  tx: Tx,
  pieces: readonly (Pick<MinuteBucket, 'from' | 'to'> & { streamId: string })[],
): Promise<(number | null)[]> {
  const { rows } = await sql<{ kbps: number | null }>`
    select round(mean.kbps)::integer as kbps
    from unnest(${pieces.map(({ streamId }) => streamId)}::text[],
        ${pieces.map(({ from }) => from.toISOString())}::timestamptz[],
        ${pieces.map(({ to }) => to.toISOString())}::timestamptz[])
      with ordinality as piece (stream_id, begins, ends, position),
      lateral (select avg(bitrate_kbps) as kbps from stream_health_point point
        where point.stream_id = piece.stream_id and point.at > piece.begins and point.at <= piece.ends) mean
    order by position`.execute(tx);
  return rows.map(({ kbps }) => kbps);
}
