import type { Tx } from './index.ts';

/** Takes the workspace's row, so that two creations cannot both take the last free place of a plan. */
export async function lockWorkspace(tx: Tx, workspaceId: string): Promise<void> {
  // Not FOR UPDATE: that would stop every insert that refers to the workspace meanwhile.
  await tx
    .selectFrom('workspace')
    .select('id')
    .where('id', '=', workspaceId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
}
