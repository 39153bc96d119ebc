import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/index.ts';

/**
 * Adds a restream to the stream's list.
 * @returns the title of the stream; undefined when the workspace has no stream with this ID.
 */
export async function attachRestream(
  tx: Tx,
  workspaceId: string,
  id: string,
  restreamId: string,
): Promise<string | undefined> {
  const row = await tx
    .updateTable('stream')
    .set({ restream_ids: sql`array_append(restream_ids, ${restreamId})` })
    .where('id', '=', id)
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .returning('title')
    .executeTakeFirst();
  return row?.title;
}

export async function detachRestream(tx: Tx, id: string, restreamId: string): Promise<void> {
  await tx
    .updateTable('stream')
    .set({ restream_ids: sql`array_remove(restream_ids, ${restreamId})` })
    .where('id', '=', id)
    .execute();
}
