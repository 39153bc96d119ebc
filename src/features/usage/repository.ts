import type { Tx } from '../../platform/db/index.ts';

/** Locks the workspace; what its videos use together, and the plan of its account. */
export function lockStorage(tx: Tx, workspaceId: string) {
  return tx
    .selectFrom('workspace')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .select(['account.plan', 'workspace.storage_bytes as usedBytes'])
    .where('workspace.id', '=', workspaceId)
    .forNoKeyUpdate('workspace')
    .executeTakeFirstOrThrow();
}

/** What one video counts; undefined where the workspace has no such video. */
export async function videoStorage(tx: Tx, workspaceId: string, videoId: string) {
  const row = await tx
    .selectFrom('video')
    .select('storage_bytes')
    .where('id', '=', videoId)
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
  return row?.storage_bytes;
}

export async function setStorage(
  tx: Tx,
  {
    workspaceId,
    videoId,
    bytes,
    usedBytes,
  }: Record<'workspaceId' | 'videoId', string> & Record<'bytes' | 'usedBytes', number>,
): Promise<void> {
  await tx.updateTable('video').set({ storage_bytes: bytes }).where('id', '=', videoId).execute();
  await tx.updateTable('workspace').set({ storage_bytes: usedBytes }).where('id', '=', workspaceId).execute();
}
