import { sql } from 'kysely';
import type { Db } from '../../../../platform/db/index.ts';

/**
 * Seconds for which the longest waiting delivery has been due while no worker has anything of its webhook in
 * hand; 0 when there is none. A receiver that is slow has attempts under way, so its backlog does not count.
 * Looks at the first job of each webhook only, as the workers do.
 */
export async function oldestWaitSec(db: Db): Promise<number> {
  // `offset 0` keeps the second look a look into the index for each webhook: as a join it reads the whole queue.
  const { rows } = await sql<{ seconds: number }>`
    with recursive head (webhook_id, next_at) as (
      (select webhook_id, next_at from delivery_job order by webhook_id, next_at limit 1)
      union all
      select n.webhook_id, n.next_at from head cross join lateral (
        select j.webhook_id, j.next_at from delivery_job j where j.webhook_id > head.webhook_id
        order by j.webhook_id, j.next_at limit 1) n)
    select coalesce(max(extract(epoch from c.now - h.next_at)), 0)::float8 as seconds
    from head h cross join (select clock_timestamp() as now) c
    where h.next_at <= c.now and not exists (
      select from delivery_job j where j.webhook_id = h.webhook_id and j.lease & 1 = 1
        and j.next_at > c.now and j.next_at < c.now + interval '2 minutes' offset 0)`.execute(db);
  return rows[0]?.seconds ?? 0;
}

/**
 * Counts, among the newest 200 attempts since `since`, the tried webhooks and those that responded at all.
 */
export async function attemptsSince(db: Db, since: Date): Promise<{ tried: number; answered: number }> {
  // The newest rows come off the primary key; the inner time only leaves out partitions, whole days in UTC.
  const { rows } = await sql<{ tried: number; answered: number }>`
    select count(distinct webhook_id) as tried,
      count(distinct webhook_id) filter (where response_status is not null) as answered
    from (select webhook_id, response_status, status, created_at from delivery_log
      where created_at >= date_trunc('day', ${since}::timestamptz, 'UTC') order by id desc limit 200) newest
    where created_at > ${since} and status <> 'CANCELED'`.execute(db);
  return rows[0] ?? { tried: 0, answered: 0 };
}
