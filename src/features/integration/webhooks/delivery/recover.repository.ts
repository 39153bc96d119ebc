import { sql } from 'kysely';
import type { Tx } from '../../../../platform/db/index.ts';
import { CUSTOM_PLAN } from '../../../../platform/db/page.ts';

export interface Recovery {
  workspaceId: string;
  webhookId: string;
  since: Date;
  until: Date;
  /** Patterns the webhook subscribes to, and the requested subset; empty means everything. */
  patterns: readonly string[];
  wanted: readonly string[];
  /** Types that are never sent again because they were meant for a single webhook. */
  never: readonly string[];
  /** Types that are not sent to the webhook that is their subject. */
  notToItself: readonly string[];
}

/**
 * Plans every kept event of that time that the webhook subscribes to and has not received: those that wait for
 * a retry are brought forward with all their attempts, the others get a job. Those under way, and those that
 * are due anyway, stay as they are. Under the lock of the webhook, so that two recoveries do not both plan.
 *
 * @returns how many deliveries were planned.
 */
export async function recover(tx: Tx, recovery: Recovery): Promise<number> {
  const { workspaceId, webhookId, since, until, patterns, wanted, never, notToItself } = recovery;
  const subscribes = (
    list: readonly string[],
  ) => sql<boolean>`(${list}::text[] = '{}' or e.type = any (${list}::text[])
    or exists (select from unnest(${list}::text[]) p where p like '%.*' and starts_with(e.type, left(p, -1))))`;
  const { rows } = await sql<{ count: number }>`
    ${CUSTOM_PLAN} with missed as materialized (
      select e.id, e.created_at, e.seq from event e
      where e.workspace_id = ${workspaceId} and e.created_at >= ${since} and e.created_at <= ${until}
        and ${subscribes(patterns)} and ${subscribes(wanted)}
        and e.type <> all (${never}::text[])
        and not (e.type = any (${notToItself}::text[]) and e.body::json #>> '{data,webhookId}' = ${webhookId})
        and not exists (select from delivery_log l where l.webhook_id = ${webhookId}
          and l.event_id = e.id and l.status = 'SUCCESS')),
    planned as materialized (
      select id, event_id, lease, next_at from delivery_job
      where webhook_id = ${webhookId} and event_id = any (array(select id from missed))),
    forward as (
      update delivery_job j set trigger = 'RECOVER', attempt = 0, next_at = clock_timestamp()
      where j.id = any (array(
        select d.id from delivery_job d join planned p on p.id = d.id
        where d.lease & 1 = 0 and d.next_at > clock_timestamp() order by d.id for update of d skip locked))
      returning j.id),
    fresh as (
      insert into delivery_job (workspace_id, webhook_id, event_id, event_created_at, trigger)
      select ${workspaceId}, ${webhookId}, id, created_at, 'RECOVER' from missed
      where id <> all (array(select event_id from planned)) order by seq
      returning id)
    select (select count(*) from forward)::int + (select count(*) from fresh)::int as count`.execute(tx);
  return rows[0]?.count ?? 0;
}
