import { type Insertable, type RawBuilder, type Selectable, sql, type Updateable } from 'kysely';
import { isUuidV4 } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { CUSTOM_PLAN, ID_IN_C_COLLATION, isUnfiltered, pageCondition } from '../../../platform/db/page.ts';
import {
  type DeliveryLogTable,
  type DeliveryLogTrigger as DeliveryTrigger,
  VALUES,
  type WebhookTable,
} from '../../../platform/db/tables.generated.ts';
import type { WaitingJob } from './delivery/repository.ts';

/** A webhook and how many of its deliveries wait for an attempt. */
export type WebhookRow = Selectable<WebhookTable> & { pending_count: number };
export type DeliveryRow = Selectable<DeliveryLogTable>;
export type NewWebhook = Omit<Insertable<WebhookTable>, 'workspace_id'>;

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

/** Reports whether the webhook belongs to the workspace. */
export async function hasWebhook(db: Db, workspaceId: string, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('webhook')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row !== undefined;
}

export function listWebhooks(db: Db, workspaceId: string, page: PageRequest): Promise<WebhookRow[]> {
  return selectWebhooks(db, workspaceId)
    .where(pageCondition(page))
    .orderBy('id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

/** The row under a lock; its counters keep moving only after the transaction. */
export function lockWebhook(tx: Tx, workspaceId: string, id: string) {
  return tx
    .selectFrom('webhook')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** @returns whether there was such a webhook. */
export async function updateWebhook(
  tx: Tx,
  workspaceId: string,
  id: string,
  change: Updateable<WebhookTable>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('webhook')
    .set(change)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Writes down deliveries that will not be made. */
export async function logCanceled(
  tx: Tx,
  webhookId: string,
  jobs: readonly (WaitingJob & { id: string })[],
  reason: string,
  now: Date,
): Promise<void> {
  const input = JSON.stringify(jobs);
  await sql`
    insert into delivery_log (id, workspace_id, webhook_id, event_id, event_type, trigger, attempt, status,
      error_message, created_at)
    select x.id, x."workspaceId", ${webhookId}, x."eventId", x."eventType", x.trigger, x.attempt + 1, 'CANCELED',
      ${reason}, ${now}::timestamptz
    from json_to_recordset(${input}::json) as x (id text, "workspaceId" text, "eventId" uuid,
      "eventType" text, trigger text, attempt int)`.execute(tx);
}

/**
 * Removes the webhook with its pending deliveries and its log (docs/concepts/webhooks.md). Jobs are
 * locked by id and before the webhook, as `finish` does; the log goes last, when no attempt can be written any
 * more.
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

export function findDelivery(
  db: Db,
  workspaceId: string,
  webhookId: string,
  id: string,
): Promise<DeliveryRow | undefined> {
  return db
    .selectFrom('delivery_log')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('webhook_id', '=', webhookId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Inactive webhooks with deliveries that wait: planned or put off in the moment of the switch. */
export function inactiveWithJobs(db: Db) {
  return db
    .selectFrom('webhook')
    .select(['id', 'workspace_id'])
    .where('is_active', '=', false)
    .where(sql<boolean>`exists (select from delivery_job where webhook_id = webhook.id and lease & 1 = 0)`)
    .limit(100)
    .execute();
}

/** A run of failures: how many in a row, and since when. */
interface Run {
  failures: number;
  since: Date;
}

/** Lists active webhooks with such a run of failures and no notification yet. */
export function listUnnotifiedFailing(db: Db, { failures, since }: Run) {
  return db
    .selectFrom('webhook')
    .select(['id', 'workspace_id'])
    .where('failing_since', '<=', since)
    .where('consecutive_failures', '>=', failures)
    .where('failing_notified_at', 'is', null)
    .where('is_active', '=', true)
    .limit(100)
    .execute();
}

/** Active webhooks that have had such a run and were still tried at its end. */
export function listLongFailing(db: Db, { failures, since, days }: Run & { days: number }) {
  return db
    .selectFrom('webhook')
    .select(['id', 'workspace_id'])
    .where('failing_since', '<=', since)
    .where('consecutive_failures', '>=', failures)
    .where(sql<boolean>`last_failure_at - failing_since >= make_interval(days => ${days}::int)`)
    .where('is_active', '=', true)
    .limit(100)
    .execute();
}

export interface DeliveryFilter {
  status?: readonly string[] | undefined;
  eventType?: readonly string[] | undefined;
  /** UUIDs. */
  eventId?: readonly string[] | undefined;
  trigger?: readonly DeliveryTrigger[] | undefined;
}

/** Newest rows scanned before the indexes of the filters are queried. */
const MAX_SCANNED_ROWS = 300;

export async function listDeliveries(
  db: Db,
  workspaceId: string,
  webhookId: string,
  filter: DeliveryFilter,
  page: PageRequest,
): Promise<DeliveryRow[]> {
  const range = sql`workspace_id = ${workspaceId} and webhook_id = ${webhookId}
    and ${pageCondition(page, ID_IN_C_COLLATION, 'created_at', 'dlv')}`;
  const ordered = (take: number) => sql`order by ${ID_IN_C_COLLATION} ${sql.raw(page.order)} limit ${take}`;
  const from = sql`select * from delivery_log where ${range}`;
  const matching = matchingDeliveries(filter);
  const { status, eventType, eventId, trigger } = filter;
  const isRare = (status ?? eventType ?? eventId) !== undefined || isByHand(trigger);
  const query = isRare
    ? sql`${CUSTOM_PLAN} with newest as (${from} ${ordered(MAX_SCANNED_ROWS)}),
        near as materialized (select * from newest where ${matching} ${ordered(page.fetchLimit)}),
        found as (${foundDeliveries(filter, {
          from: sql`${from} and (select count(*) from near) < ${page.fetchLimit} and ${matching}`,
          ordered: ordered(page.fetchLimit),
        })})
      select * from (select * from near where (select count(*) from near) = ${page.fetchLimit}
        union all select * from found) one ${ordered(page.fetchLimit)}`
    : sql`${isUnfiltered(page, [trigger]) ? sql`` : CUSTOM_PLAN} ${from} and ${matching} ${ordered(page.fetchLimit)}`;
  const { rows } = await sql<DeliveryRow>`${query}`.execute(db);
  return rows;
}

/**
 * Selects one page per type and status, or of manual deliveries, from an index; together they contain the
 * page of all (docs/decisions/lists-and-ids.md#logs).
 */
function foundDeliveries(
  { status, eventType, eventId, trigger }: DeliveryFilter,
  { from, ordered }: { from: RawBuilder<unknown>; ordered: RawBuilder<unknown> },
): RawBuilder<unknown> {
  if (eventId !== undefined) return sql`select * from (${from} offset 0) one ${ordered}`;
  const each = [{ column: 'status', values: status ?? VALUES.delivery_log.status }];
  if (isByHand(trigger)) each.push({ column: 'trigger', values: trigger });
  else if (eventType !== undefined) each.push({ column: 'event_type', values: eventType });
  const values = each.map(
    ({ column, values }) => sql`unnest(${[...new Set(values)]}::text[]) ${sql.ref(`of_${column}`)}`,
  );
  const equal = each.map(({ column }) => sql`${sql.ref(column)} = ${sql.ref(`of_${column}`)}`);
  return sql`select one.* from ${sql.join(values)},
    lateral (${from} and ${sql.join(equal, sql` and `)} ${ordered}) one ${ordered}`;
}

/** Reports whether only manual deliveries are requested: they are few and have an index of their own. */
function isByHand(trigger: DeliveryFilter['trigger']): trigger is readonly DeliveryTrigger[] {
  return trigger !== undefined && !trigger.includes('EVENT');
}

function matchingDeliveries({ status, eventType, eventId, trigger }: DeliveryFilter): RawBuilder<unknown> {
  const parts = [sql`true`];
  if (status !== undefined) parts.push(sql`status = any(${status}::text[])`);
  if (eventType !== undefined) parts.push(sql`event_type = any(${eventType}::text[])`);
  if (eventId !== undefined) parts.push(sql`event_id = any(${eventId.filter(isUuidV4)}::uuid[])`);
  if (trigger !== undefined) parts.push(sql`trigger = any(${trigger}::text[])`);
  if (isByHand(trigger)) parts.push(sql`trigger <> 'EVENT'`);
  return sql.join(parts, sql` and `);
}

/** Lists the jobs waiting for their next attempt. IDs ascend in the order of planning. */
export function listPending(db: Db, workspaceId: string, webhookId: string, page: PageRequest) {
  return (
    db
      .selectFrom('delivery_job')
      // Job by job, so that no more events are looked up than jobs are shown.
      .innerJoinLateral(
        (eb) =>
          eb
            .selectFrom('event')
            .select(['event.id as event_id', 'event.type as event_type'])
            .whereRef('event.id', '=', 'delivery_job.event_id')
            .whereRef('event.created_at', '=', 'delivery_job.event_created_at')
            .offset(sql<number>`0`)
            .as('of'),
        (join) => join.onTrue(),
      )
      .select([
        sql<string>`delivery_job.id::text`.as('id'),
        'of.event_id',
        'of.event_type',
        'delivery_job.attempt',
        'delivery_job.next_at',
      ])
      .where('delivery_job.workspace_id', '=', workspaceId)
      .where('delivery_job.webhook_id', '=', webhookId)
      .where(pageCondition(page, 'delivery_job.id', 'delivery_job.event_created_at'))
      .orderBy('delivery_job.id', page.order)
      .limit(page.fetchLimit)
      .execute()
  );
}

export type PendingRow = Awaited<ReturnType<typeof listPending>>[number];
