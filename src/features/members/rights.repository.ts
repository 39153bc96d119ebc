import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../../platform/db/index.ts';
import type { Guarded } from '../playback/index.ts';

/** Does this customer have a subscription that opens what is for these tiers (none: for any)? */
function hasTier(customer: string, tierIds: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (
    select from subscription s where s.customer_id = ${sql.ref(customer)}
    and s.ended_at is null and not s.is_disputed
    and (cardinality(${tierIds}) = 0 or s.tier_id = any(${tierIds})))`;
}

/** Has this customer bought the video, and neither got the money back nor disputed it? */
function hasBought(customer: string, videoId: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (
    select from purchase p where p.customer_id = ${sql.ref(customer)} and p.kind = 'VIDEO'
    and p.video_id = ${videoId} and p.status in ('PAID', 'PARTIALLY_REFUNDED'))`;
}

/** May the member with this session watch it? One statement, as it is asked for with each playlist and segment. */
export async function mayWatch(db: Db, session: Buffer, guarded: Guarded, now: Date): Promise<boolean> {
  const { id, workspaceId, visibility, tierIds } = guarded;
  const row = await db
    .selectFrom('member_session')
    .select('customer_id')
    .where('token_hash', '=', session)
    .where('workspace_id', '=', workspaceId)
    .where('expires_at', '>', now)
    .where(
      visibility === 'TIER'
        ? hasTier('member_session.customer_id', sql`${[...tierIds]}::text[]`)
        : hasBought('member_session.customer_id', sql`${id}`),
    )
    .executeTakeFirst();
  return row !== undefined;
}

/** What a member may watch, newest first: videos of their tiers and those they bought, and streams of their tiers. */
export async function listWatchable(
  db: Db,
  { workspaceId, customerId }: { workspaceId: string; customerId: string },
  limit: number,
): Promise<{ id: string; title: string }[]> {
  const { rows } = await sql<{ id: string; title: string }>`
    select id, title from (
      select v.id, v.title, v.created_at from video v join customer c on c.id = ${customerId}
      where v.workspace_id = ${workspaceId} and v.deleted_at is null and v.status in ('PROCESSING', 'READY')
      and ((v.visibility = 'TIER' and ${hasTier('c.id', sql.ref('v.tier_ids'))})
        or (v.visibility = 'PURCHASE' and ${hasBought('c.id', sql.ref('v.id'))}))
      union all
      select t.id, t.title, t.created_at from stream t join customer c on c.id = ${customerId}
      where t.workspace_id = ${workspaceId} and t.deleted_at is null and t.enabled
      and t.visibility = 'TIER' and ${hasTier('c.id', sql.ref('t.tier_ids'))}
    ) as watchable order by created_at desc, id limit ${limit}`.execute(db);
  return rows;
}
