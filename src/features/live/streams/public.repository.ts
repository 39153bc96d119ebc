import type { Db } from '../../../platform/db/index.ts';
import { isAccountActive } from '../../../platform/db/workspace.ts';

/** Reports whether the workspace has a public broadcast. */
export async function hasPublicBroadcast(db: Db, workspaceId: string): Promise<boolean> {
  const row = await db
    .selectFrom('stream')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('is_live', '=', true)
    .where('visibility', '=', 'PUBLIC')
    .where('deleted_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Lists those of the streams whose broadcast viewers may watch. */
export async function listWatchable(db: Db, ids: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('stream')
    .select('id')
    .where('id', 'in', ids)
    .where('is_live', '=', true)
    .where('deleted_at', 'is', null)
    .where('taken_down_at', 'is', null)
    .where(isAccountActive('stream.workspace_id'))
    .execute();
  return rows.map(({ id }) => id);
}
