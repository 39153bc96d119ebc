import type { Interval } from '../../../kernel/date-range.ts';
import type { Db } from '../../../platform/db/index.ts';

/** Lists the broadcasts that were live in a period, newest first. */
export async function listBroadcasts(
  db: Db,
  { workspaceId, streamId }: { workspaceId: string; streamId: string },
  { from, to }: Interval,
  most: number,
) {
  const rows = await db
    .selectFrom('stream_session')
    .select(['id', 'broadcast_started_at', 'broadcast_ended_at', 'peak_viewers', 'unique_viewers'])
    .where('stream_id', '=', streamId)
    .where('workspace_id', '=', workspaceId)
    .where('broadcast_started_at', '<', to)
    .where((eb) => eb.or([eb('broadcast_ended_at', 'is', null), eb('broadcast_ended_at', '>=', from)]))
    .orderBy('id', 'desc')
    .limit(most)
    .execute();
  return rows.flatMap((row) =>
    row.broadcast_started_at === null
      ? []
      : {
          id: row.id,
          startedAt: row.broadcast_started_at,
          endedAt: row.broadcast_ended_at,
          peakViewers: row.peak_viewers,
          uniqueViewers: row.unique_viewers,
        },
  );
}
