import { type Insertable, type Selectable, sql } from 'kysely';
import type { PageRequest } from '../../kernel/page.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { pageCondition } from '../../platform/db/page.ts';
import type { DeliveryLogTable, DeliveryTrigger, WebhookTable } from '../../platform/db/tables/events.ts';

/** A webhook and how many of its deliveries wait for an attempt. */
export type WebhookRow = Selectable<WebhookTable> & { pending_count: number };
export type DeliveryRow = Selectable<DeliveryLogTable>;
export type NewWebhook = Omit<Insertable<WebhookTable>, 'workspace_id'>;

/** Takes the workspace's row, so that two creations cannot both take the last free place. */
export async function lockWorkspace(tx: Tx, workspaceId: string): Promise<void> {
  // Not FOR UPDATE: that would stop every insert that refers to the workspace meanwhile.
  await tx
    .selectFrom('workspace')
    .select('id')
    .where('id', '=', workspaceId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
}

export async function countWebhooks(db: Db, workspaceId: string): Promise<number> {
  const row = await db
    .selectFrom('webhook')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  return row.count;
}

export async function insertWebhook(tx: Tx, workspaceId: string, webhook: NewWebhook): Promise<WebhookRow> {
  const row = await tx
    .insertInto('webhook')
    .values({ ...webhook, workspace_id: workspaceId })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...row, pending_count: 0 };
}

function selectWebhooks(db: Db, workspaceId: string) {
  return db
    .selectFrom('webhook')
    .selectAll()
    .select(
      sql<number>`(select count(*) from delivery_job where webhook_id = webhook.id)`.as('pending_count'),
    )
    .where('workspace_id', '=', workspaceId);
}

export function findWebhook(db: Db, workspaceId: string, id: string): Promise<WebhookRow | undefined> {
  return selectWebhooks(db, workspaceId).where('id', '=', id).executeTakeFirst();
}

export function listWebhooks(db: Db, workspaceId: string, page: PageRequest): Promise<WebhookRow[]> {
  return selectWebhooks(db, workspaceId)
    .where(pageCondition(page))
    .orderBy('id', page.order)
    .limit(page.take)
    .execute();
}

/**
 * Removes the webhook with its pending deliveries and its log (contract 4.7). Jobs are locked by id and
 * before the webhook, as `finish` does; the log goes last, when no attempt can be written any more.
 *
 * @returns whether there was such a webhook.
 */
export async function deleteWebhook(tx: Tx, workspaceId: string, id: string): Promise<boolean> {
  await sql`
    delete from delivery_job where id in (
      select id from delivery_job where workspace_id = ${workspaceId} and webhook_id = ${id}
      order by id for update)`.execute(tx);
  const { numDeletedRows } = await tx
    .deleteFrom('webhook')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (numDeletedRows === 0n) return false;
  await tx
    .deleteFrom('delivery_log')
    .where('workspace_id', '=', workspaceId)
    .where('webhook_id', '=', id)
    .execute();
  return true;
}

export interface DeliveryFilter {
  status?: readonly string[] | undefined;
  eventType?: readonly string[] | undefined;
  /** UUIDs. */
  eventId?: readonly string[] | undefined;
  trigger?: readonly DeliveryTrigger[] | undefined;
}

export function listDeliveries(
  db: Db,
  workspaceId: string,
  webhookId: string,
  filter: DeliveryFilter,
  page: PageRequest,
): Promise<DeliveryRow[]> {
  let query = db
    .selectFrom('delivery_log')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('webhook_id', '=', webhookId)
    .where(pageCondition(page));
  const equals = [
    ['status', filter.status],
    ['event_type', filter.eventType],
    ['event_id', filter.eventId],
    ['trigger', filter.trigger],
  ] as const;
  for (const [column, values] of equals) {
    if (values !== undefined)
      query = query.where(sql<boolean>`${sql.ref(column)}::text = any(${values}::text[])`);
  }
  return query.orderBy('id', page.order).limit(page.take).execute();
}
