import { sql } from 'kysely';
import type { Db } from '../../platform/db/index.ts';

export interface SummaryRow {
  videos: number;
  ready: number;
  processing: number;
  failed: number;
  streams: number;
  live: number;
  withSignal: number;
  rooms: number;
  restreams: number;
  playlists: number;
  followers: number;
  subscribers: number;
  upcomingBookings: number;
  unreadNotifications: number;
  openTickets: number;
  storageBytes: number;
}

/** One statement: a count reads an index of the workspace alone; of followers the count is kept. */
export async function summaryOf(
  db: Db,
  { workspaceId, accountId, now }: { workspaceId: string; accountId: string; now: Date },
): Promise<SummaryRow> {
  const { rows } = await sql<SummaryRow>`
    select video.*, stream.*,
      (select count(*) from room where workspace_id = ${workspaceId} and status = 'ACTIVE') as rooms,
      (select count(*) from restream where workspace_id = ${workspaceId} and is_running) as restreams,
      (select count(*) from playlist where workspace_id = ${workspaceId}) as playlists,
      coalesce((select followers from follower_count where workspace_id = ${workspaceId}), 0) as followers,
      (select count(*) from subscriber where workspace_id = ${workspaceId} and status = 'CONFIRMED') as subscribers,
      (select count(*) from booking
        where workspace_id = ${workspaceId} and status = 'CONFIRMED' and starts_at > ${now}) as "upcomingBookings",
      (select count(*) from notification
        where account_id = ${accountId} and read_at is null) as "unreadNotifications",
      (select count(*) from support_ticket
        where account_id = ${accountId} and status in ('OPEN', 'PENDING')) as "openTickets",
      (select storage_bytes from workspace where id = ${workspaceId}) as "storageBytes"
    from (select count(*) as videos, count(*) filter (where status = 'READY') as ready,
        count(*) filter (where status in ('QUEUED', 'PROCESSING')) as processing,
        count(*) filter (where status = 'FAILED') as failed
      from video where workspace_id = ${workspaceId} and deleted_at is null) video,
    (select count(*) as streams,
        (select count(*) from stream where workspace_id = ${workspaceId} and is_live and deleted_at is null) as live,
        (select count(*) from stream
          where workspace_id = ${workspaceId} and has_signal and deleted_at is null) as "withSignal"
      from stream where workspace_id = ${workspaceId} and deleted_at is null) stream`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error(`there is no summary of ${workspaceId}`);
  return row;
}
