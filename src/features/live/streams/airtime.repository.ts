import { sql } from 'kysely';
import type { MinuteBucket } from '../../../kernel/minute-buckets.ts';
import type { Tx } from '../../../platform/db/index.ts';

/** A broadcast that is on, and how far it is counted. */
export interface LiveBroadcast {
  id: string;
  streamId: string;
  workspaceId: string;
  countedUntil: Date;
  /** When its signal broke off; null while it is there. */
  signalEndedAt: Date | null;
}

const SHOWN = sql`
  id, stream_id as "streamId", workspace_id as "workspaceId",
  coalesce(metered_until, broadcast_started_at) as "countedUntil", signal_ended_at as "signalEndedAt"`;

/** Those that nobody else holds, by the order of their ids after this one. */
export async function claimLiveBroadcasts(tx: Tx, after: string, most: number): Promise<LiveBroadcast[]> {
  const { rows } = await sql<LiveBroadcast>`
    select ${SHOWN} from stream_session
    where id > ${after} and broadcast_started_at is not null and broadcast_ended_at is null
    order by id limit ${most} for no key update skip locked`.execute(tx);
  return rows;
}

/** Undefined for a session that was never broadcast. */
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

/** The mean bitrate of each piece, in their order; null where nothing was measured. */
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
