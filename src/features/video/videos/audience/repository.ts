import { sql } from 'kysely';
import type { Db, Tx } from '../../../../platform/db/index.ts';
import { CUSTOM_PLAN } from '../../../../platform/db/page.ts';
import { isAccountActive } from '../../../../platform/db/workspace.ts';

/**
 * Finds the columns needed to count a view and to relate videos, in any workspace, since viewers have none.
 */
export function findView(db: Db, id: string) {
  return db
    .selectFrom('video')
    .innerJoin('workspace', 'workspace.id', 'video.workspace_id')
    .select((eb) => [
      'video.id',
      'video.workspace_id',
      'video.visibility',
      'video.tier_ids',
      'video.tags',
      'video.duration_sec',
      'video.view_count',
      'workspace.mode',
      'workspace.account_id',
      eb
        .exists(
          eb
            .selectFrom('video_rendition as r')
            .select('r.name')
            .whereRef('r.video_id', '=', 'video.id')
            .whereRef('r.revision', '=', 'video.revision')
            .where('r.kind', '=', 'VIDEO')
            .where('r.status', '=', 'READY'),
        )
        .as('is_playable'),
    ])
    .where('video.id', '=', id)
    .where('video.deleted_at', 'is', null)
    .where('video.taken_down_at', 'is', null)
    .where(isAccountActive('video.workspace_id'))
    .executeTakeFirst();
}

/**
 * Counts the viewer unless counted after `since`, in one statement, so that concurrent calls count once.
 *
 * @returns the new count; undefined when nothing was counted.
 */
export async function countView(
  tx: Tx,
  view: { videoId: string; viewer: Buffer; now: Date; since: Date },
): Promise<number | undefined> {
  const { videoId, viewer, now, since } = view;
  const row = await tx
    .with('counted', (cte) =>
      cte
        .insertInto('video_view')
        .values({ video_id: videoId, viewer, counted_at: now })
        .onConflict((conflict) =>
          conflict
            .columns(['video_id', 'viewer'])
            .doUpdateSet({ counted_at: now })
            .where('video_view.counted_at', '<=', since),
        )
        .returning('video_id'),
    )
    .updateTable('video')
    .from('counted')
    .set((eb) => ({ view_count: eb('video.view_count', '+', 1) }))
    .whereRef('video.id', '=', 'counted.video_id')
    .returning('video.view_count')
    .executeTakeFirst();
  return row?.view_count;
}

export async function deleteViewers(db: Db, before: Date): Promise<void> {
  await db.deleteFrom('video_view').where('counted_at', '<=', before).execute();
}

/**
 * Selects publicly visible videos, newest first: PUBLIC, READY, not taken down, in live mode, of accounts in
 * good standing.
 */
function selectPublic(db: Db, except: string, limit: number) {
  return db
    .selectFrom('video')
    .innerJoin('workspace', 'workspace.id', 'video.workspace_id')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .leftJoin('channel', 'channel.workspace_id', 'video.workspace_id')
    .select((eb) => eb.fn.coalesce('channel.display_name', 'account.name').as('name'))
    .modifyFront(CUSTOM_PLAN)
    .select([
      'video.id',
      'video.title',
      'video.visibility',
      'video.duration_sec',
      'video.view_count',
      'video.image_folder',
      'video.has_preview',
      'video.has_storyboard',
      'video.thumbnail_file',
      'account.username',
    ])
    .where('video.status', '=', 'READY')
    .where('video.visibility', '=', 'PUBLIC')
    .where('video.deleted_at', 'is', null)
    .where('video.taken_down_at', 'is', null)
    .where('video.id', '!=', except)
    .where('workspace.mode', '=', 'live')
    .where('account.suspended_at', 'is', null)
    .orderBy('video.id', 'desc')
    .limit(limit);
}

export type RelatedRow = Awaited<ReturnType<typeof recentVideos>>[number];

export function channelVideos(db: Db, anchor: { id: string; workspace_id: string }, limit: number) {
  return selectPublic(db, anchor.id, limit).where('video.workspace_id', '=', anchor.workspace_id).execute();
}

export function taggedVideos(db: Db, anchor: { id: string; tags: readonly string[] }, limit: number) {
  return selectPublic(db, anchor.id, limit)
    .where('video.tags', '&&', sql<string[]>`${anchor.tags}::text[]`)
    .execute();
}

export function recentVideos(db: Db, anchor: { id: string }, limit: number) {
  return selectPublic(db, anchor.id, limit).execute();
}
