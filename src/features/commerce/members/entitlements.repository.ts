import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../../../platform/db/index.ts';
import { CUSTOM_PLAN } from '../../../platform/db/page.ts';
import type { ProtectedMedia } from '../../audience/playback/index.ts';

/** Builds the condition that the customer has a subscription to one of the tiers (empty: to any). */
function hasTier(customer: string, tierIds: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (
    select from subscription s where s.customer_id = ${sql.ref(customer)}
    and s.ended_at is null and not s.is_disputed
    and (cardinality(${tierIds}) = 0 or s.tier_id = any(${tierIds})))`;
}

/**
 * Builds the condition that the customer has bought the video, and has neither been refunded nor disputed it.
 */
function hasBought(customer: string, videoId: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (
    select from purchase p where p.customer_id = ${sql.ref(customer)} and p.kind = 'VIDEO'
    and p.video_id = ${videoId} and p.status in ('PAID', 'PARTIALLY_REFUNDED'))`;
}

/**
 * Builds the condition that a booking of the customer took place whose recording is the video, or whose
 * cohort includes it. The access period must not have ended, and the payment not have been refunded.
 */
function hasBooked(customer: string, videoId: RawBuilder<unknown>, now: Date): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (
    select from booking b where b.customer_id = ${sql.ref(customer)}
    and b.status in ('CONFIRMED', 'COMPLETED', 'NO_SHOW')
    and (${videoId} = any (b.recording_video_ids) and b.replay_access_until > ${now}
      or exists (select from cohort_video v where v.cohort_id = b.cohort_id and v.video_id = ${videoId}
        and (v.release_at is null or v.release_at <= ${now})))
    and not exists (select from purchase p where p.id = b.purchase_id and p.status in ('REFUNDED', 'DISPUTED')))`;
}

/**
 * Reports whether the member with this session may watch it. One statement, since it runs with each playlist
 * and segment.
 */
export async function mayWatch(
  db: Db,
  session: Buffer,
  guarded: ProtectedMedia,
  now: Date,
): Promise<boolean> {
  const { id, workspaceId, visibility, tierIds } = guarded;
  const row = await db
    .selectFrom('member_session')
    .select('customer_id')
    .where('token_hash', '=', session)
    .where('workspace_id', '=', workspaceId)
    .where('expires_at', '>', now)
    .where((eb) => {
      const customer = 'member_session.customer_id';
      const booked = hasBooked(customer, sql`${id}`, now);
      if (visibility === 'TIER') return eb.or([hasTier(customer, sql`${[...tierIds]}::text[]`), booked]);
      return visibility === 'PURCHASE' ? eb.or([hasBought(customer, sql`${id}`), booked]) : booked;
    })
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Lists the content that a member may watch, newest first: videos of their tiers, purchases and bookings, and
 * streams of their tiers.
 */
export async function listWatchable(
  db: Db,
  { workspaceId, customerId, now }: { workspaceId: string; customerId: string; now: Date },
  limit: number,
): Promise<{ id: string; title: string }[]> {
  const { rows } = await sql<{ id: string; title: string }>`
    ${CUSTOM_PLAN} select id, title from (
      select v.id, v.title, v.created_at from video v join customer c on c.id = ${customerId}
      where v.workspace_id = ${workspaceId} and v.deleted_at is null and v.status in ('PROCESSING', 'READY')
      and ((v.visibility = 'TIER' and ${hasTier('c.id', sql.ref('v.tier_ids'))})
        or (v.visibility = 'PURCHASE' and ${hasBought('c.id', sql.ref('v.id'))})
        or ${hasBooked('c.id', sql.ref('v.id'), now)})
      union all
      select t.id, t.title, t.created_at from stream t join customer c on c.id = ${customerId}
      where t.workspace_id = ${workspaceId} and t.deleted_at is null and t.enabled
      and t.visibility = 'TIER' and ${hasTier('c.id', sql.ref('t.tier_ids'))}
    ) as watchable order by created_at desc, id limit ${limit}`.execute(db);
  return rows;
}

/**
 * Returns those of the videos that were paid for individually and may be watched now or again: bought, even
 * when the payment is disputed, since a dispute can be won; or booked, as a recording or as a course video.
 */
export async function paidVideos(db: Db, videoIds: readonly string[], now: Date): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from video wanted where id = any(${videoIds}::text[]) and (
      exists (select from purchase p where p.workspace_id = wanted.workspace_id and p.video_id = wanted.id
        and p.kind = 'VIDEO' and p.status in ('PAID', 'PARTIALLY_REFUNDED', 'DISPUTED'))
      or id in (select unnest(b.recording_video_ids) from booking b
        where b.recording_video_id is not null and b.replay_access_until > ${now}
          and b.status in ('CONFIRMED', 'COMPLETED', 'NO_SHOW')
          and b.workspace_id in (select workspace_id from video where id = any(${videoIds}::text[])))
      or exists (select from cohort_video v join booking b on b.cohort_id = v.cohort_id
        where v.video_id = wanted.id and b.status in ('CONFIRMED', 'COMPLETED', 'NO_SHOW')))`.execute(db);
  return new Set(rows.map(({ id }) => id));
}
