import { sql } from 'kysely';
import { dateFromMs } from '../../../kernel/clock.ts';
import { MINUTE_MS } from '../../../kernel/durations.ts';
import type { ResourceKey } from '../../../kernel/plans.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { NotifiedState } from './rules.ts';

export interface NoticeRow extends NotifiedState {
  resource: string;
  version: number;
}

export function noticesOf(db: Db, workspaceId: string): Promise<NoticeRow[]> {
  return db
    .selectFrom('quota_notification')
    .select([
      'resource',
      'notified_level as told',
      'notified_used as toldUsed',
      'notified_limit as toldLimit',
    ])
    .select(['period_start as periodStart', 'version'])
    .where('workspace_id', '=', workspaceId)
    .execute();
}

/**
 * Writes the state if its version is unchanged; null: if there is none.
 *
 * @returns the sequence number of the next event about it, or null when another process was faster.
 */
export async function upsertNotification(
  tx: Tx,
  of: { workspaceId: string; resource: ResourceKey; version: number | null },
  { told, toldUsed, toldLimit, periodStart }: NotifiedState,
): Promise<number | null> {
  const { workspaceId, resource, version } = of;
  const values = sql`${told}, ${toldUsed}, ${toldLimit}, ${periodStart}::timestamptz`;
  const { rows } = await (version === null
    ? sql<{ sequence: number }>`
        insert into quota_notification (workspace_id, resource, notified_level, notified_used, notified_limit, period_start)
        values (${workspaceId}, ${resource}, ${values}) on conflict do nothing
        returning event_sequence + 1 as sequence`
    : sql<{ sequence: number }>`
        update quota_notification set (notified_level, notified_used, notified_limit, period_start) = (${values}), version = version + 1
        where workspace_id = ${workspaceId} and resource = ${resource} and version = ${version}
        returning event_sequence + 1 as sequence`
  ).execute(tx);
  return rows[0]?.sequence ?? null;
}

/** Sets the event number of the row that `upsertNotification` wrote in this transaction. */
export async function setSequence(
  tx: Tx,
  { workspaceId, resource }: { workspaceId: string; resource: ResourceKey },
  sequence: number,
): Promise<void> {
  await tx
    .updateTable('quota_notification')
    .set({ event_sequence: sequence })
    .where('workspace_id', '=', workspaceId)
    .where('resource', '=', resource)
    .execute();
}

/** Lists workspaces with usage other than storage in the last half hour. */
export async function lastActive(db: Db, now: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('usage_total')
    .select('workspace_id')
    .distinct()
    .where(sql<boolean>`interval_min = 15`)
    .where('at', '>=', dateFromMs(now.getTime() - 30 * MINUTE_MS))
    .where('metric', '<>', 'STORAGE')
    .execute();
  return rows.map(({ workspace_id: id }) => id);
}
