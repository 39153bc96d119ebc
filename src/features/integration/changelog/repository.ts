import type { Selectable } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type {
  DeprecatedEndpointUsageTable,
  ReleaseNoticeTable,
} from '../../../platform/db/tables.generated.ts';

export type UseRow = Selectable<DeprecatedEndpointUsageTable>;

/** A release that is known already stays as it is. */
export async function insertNotice(
  db: Db,
  row: Pick<Selectable<ReleaseNoticeTable>, 'version' | 'detected_at' | 'notified_at'>,
): Promise<void> {
  await db
    .insertInto('release_notice')
    .values(row)
    .onConflict((conflict) => conflict.column('version').doNothing())
    .execute();
}

/** Locks a release that is not announced to all accounts yet, unless another node is processing it. */
export function lockUnannouncedRelease(
  tx: Tx,
  versions: readonly string[],
): Promise<Selectable<ReleaseNoticeTable> | undefined> {
  return tx
    .selectFrom('release_notice')
    .selectAll()
    .where('notified_at', 'is', null)
    .where('version', 'in', versions)
    .orderBy('detected_at')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
}

/** @param toldAt null while there are more to tell. */
export async function advanceNotice(
  tx: Tx,
  version: string,
  { last, toldAt }: { last: string; toldAt: Date | null },
): Promise<void> {
  await tx
    .updateTable('release_notice')
    .set({ last_workspace_id: last, notified_at: toldAt })
    .where('version', '=', version)
    .execute();
}

/** @throws where the workspace is gone. */
export async function upsertUse(
  db: Db,
  { workspaceId, endpoint, at }: { workspaceId: string; endpoint: string; at: Date },
): Promise<void> {
  await db
    .insertInto('deprecated_endpoint_usage')
    .values({ workspace_id: workspaceId, endpoint, last_used_at: at })
    .onConflict((conflict) =>
      conflict.columns(['workspace_id', 'endpoint']).doUpdateSet({ last_used_at: at }),
    )
    .execute();
}

/** Locks uses without a notification since `since`; other nodes skip them until the transaction ends. */
export function lockUsageToNotify(tx: Tx, since: Date, most: number): Promise<UseRow[]> {
  return tx
    .selectFrom('deprecated_endpoint_usage')
    .selectAll()
    .where('last_used_at', '>=', since)
    .where((eb) => eb.or([eb('notified_at', 'is', null), eb('notified_at', '<', since)]))
    .orderBy('last_used_at')
    .limit(most)
    .forUpdate()
    .skipLocked()
    .execute();
}

export async function markUsageNotified(
  tx: Tx,
  { workspace_id, endpoint }: Pick<UseRow, 'workspace_id' | 'endpoint'>,
  at: Date,
): Promise<void> {
  await tx
    .updateTable('deprecated_endpoint_usage')
    .set({ notified_at: at })
    .where('workspace_id', '=', workspace_id)
    .where('endpoint', '=', endpoint)
    .execute();
}
