import { sql } from 'kysely';
import type { Db } from '../../../platform/db/index.ts';
import type { CounterDeltaName } from '../../../platform/db/tables.generated.ts';

export interface SummaryRow {
  videos: number;
  ready: number;
  processing: number;
  failed: number;
  streams: number;
  live: number;
  withSignal: number;
  rooms: number;
  restreams: number;
  playlists: number;
  followers: number;
  subscribers: number;
  upcomingBookings: number;
  unreadNotifications: number;
  openTickets: number;
  storageBytes: number;
}

interface Asked {
  workspaceId: string;
  accountId: string;
  /** Team member with their own read marks; null for the owner, and for keys. */
  memberId: string | null;
  now: Date;
}

/**
 * Returns the numbers in one statement, so that they are of one moment. Large sets are stored counters,
 * active rows are limited by the plan, and upcoming or unread rows have their own index.
 */
export async function summaryOf(
  db: Db,
  { workspaceId, accountId, memberId, now }: Asked,
): Promise<SummaryRow> {
  const isUnread =
    memberId === null
      ? sql`read_at is null`
      : sql`not exists (select from notification_read reading
          where reading.notification_id = notification.id and reading.user_id = ${memberId})`;
  const { rows } = await sql<SummaryRow>`
    select kept.*,
      (select count(*) from stream where workspace_id = ${workspaceId} and is_live and deleted_at is null) as live,
      (select count(*) from stream
        where workspace_id = ${workspaceId} and has_signal and deleted_at is null) as "withSignal",
      (select count(*) from room where workspace_id = ${workspaceId} and status = 'ACTIVE') as rooms,
      (select count(*) from restream where workspace_id = ${workspaceId} and is_running) as restreams,
      coalesce((select followers from follower_count where workspace_id = ${workspaceId}), 0) as followers,
      (select count(*) from booking
        where workspace_id = ${workspaceId} and status = 'CONFIRMED' and starts_at > ${now})
        + (select coalesce(sum(enrolled_count), 0) from cohort
          where workspace_id = ${workspaceId} and status in ('SCHEDULED', 'OPEN', 'FULL')
            and starts_at > ${now}) as "upcomingBookings",
      (select count(*) from notification
        where account_id = ${accountId} and ${isUnread}) as "unreadNotifications",
      (select count(*) from support_ticket
        where account_id = ${accountId} and status in ('OPEN', 'PENDING')) as "openTickets",
      (select storage_bytes from workspace where id = ${workspaceId}) as "storageBytes"
    from (select ${keptAs('VIDEOS', 'videos')}, ${keptAs('VIDEOS_READY', 'ready')},
        ${keptAs('VIDEOS_PROCESSING', 'processing')}, ${keptAs('VIDEOS_FAILED', 'failed')},
        ${keptAs('STREAMS', 'streams')}, ${keptAs('PLAYLISTS', 'playlists')},
        ${keptAs('SUBSCRIBERS', 'subscribers')}
      from counter_delta where workspace_id = ${workspaceId}) kept`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error(`there is no summary of ${workspaceId}`);
  return row;
}

const keptAs = (name: CounterDeltaName, alias: string) =>
  sql`coalesce(sum(amount) filter (where name = ${sql.lit(name)}), 0)::bigint as ${sql.ref(alias)}`;

/** Returns the total duration of all existing videos. */
export async function videoMs(db: Db, workspaceId: string): Promise<number> {
  const { rows } = await sql<{ ms: number }>`
    select coalesce(sum(amount), 0)::bigint as ms from counter_delta
    where workspace_id = ${workspaceId} and name = 'VIDEO_MS'`.execute(db);
  return rows[0]?.ms ?? 0;
}

/** Number of rows above which a counter is merged into one row. */
const MANY = 8;
const MOST_AT_ONCE = 1000;

/**
 * Merges counter rows into one without changing their sum. Ordered, because the rows reference workspaces
 * that other transactions lock.
 */
export async function mergeCounterRows(db: Db): Promise<void> {
  await sql`
    with many as (select workspace_id, name from counter_delta group by 1, 2
      having count(*) > ${sql.lit(MANY)} limit ${sql.lit(MOST_AT_ONCE)}),
    folded as (delete from counter_delta kept using many
      where kept.workspace_id = many.workspace_id and kept.name = many.name
      returning kept.workspace_id, kept.name, kept.amount)
    insert into counter_delta (workspace_id, name, amount)
    select workspace_id, name, sum(amount) from folded group by 1, 2 having sum(amount) <> 0 order by 1, 2`.execute(
    db,
  );
}

export interface Correction {
  workspaceId: string;
  name: CounterDeltaName;
  /** Amount by which the counter was too low. */
  amount: number;
}

/**
 * Recounts everything and adds the differences. Stored and true counts come from one snapshot, and concurrent
 * changes add their own part, so nothing blocks.
 */
export function recount(db: Db): Promise<Correction[]> {
  return db.transaction().execute(async (tx) => {
    // A concurrent recount would add the same differences again.
    await sql`lock table counter_delta in share update exclusive mode`.execute(tx);
    const { rows } = await sql<Correction>`
      with counted as (
        select workspace_id, of.name, of.amount from video one, counts_of(one) of
        union all select workspace_id, of.name, of.amount from stream one, counts_of(one) of
        union all select workspace_id, of.name, of.amount from playlist one, counts_of(one) of
        union all select workspace_id, of.name, of.amount from subscriber one, counts_of(one) of
        union all select workspace_id, name, -amount from counter_delta)
      insert into counter_delta (workspace_id, name, amount)
      select workspace_id, name, sum(amount) from counted group by 1, 2 having sum(amount) <> 0 order by 1, 2
      returning workspace_id as "workspaceId", name, amount`.execute(tx);
    return rows;
  });
}
