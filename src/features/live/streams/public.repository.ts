import type { Db } from '../../../platform/db/index.ts';

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
