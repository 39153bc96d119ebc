import { type RawBuilder, sql } from 'kysely';
import type { PageRequest } from '../kernel/page.ts';
import { type Db, sqlState } from '../platform/db/index.ts';
import { CUSTOM_PLAN } from '../platform/db/page.ts';

/** A stored event; the retention is 30 days. */
export interface RetainedEvent {
  id: string;
  type: string;
  created_at: Date;
  /** The exact text that webhooks receive. */
  body: string;
}

const COLUMNS = ['id', 'type', 'created_at', 'body'] as const;

/** @param id any text: one that is no UUID finds nothing. */
export function findEvent(db: Db, workspaceId: string, id: string): Promise<RetainedEvent | undefined> {
  if (!UUID.test(id)) return Promise.resolve(undefined);
  return db
    .selectFrom('event')
    .select(COLUMNS)
    .where('id', '=', id)
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A place in the list of events: event ids are random, so the time comes first. */
export interface EventPosition extends RetainedEvent {
  place: string;
}

/** Newest rows scanned before the index of event types is queried. */
const MAX_SCANNED_ROWS = 300;

/**
 * One page by time; `page.after` is the place of the last row of the page before.
 *
 * @param types of the events; every one when it is null.
 */
export async function listEvents(
  db: Db,
  workspaceId: string,
  types: readonly string[] | null,
  page: PageRequest,
): Promise<EventPosition[]> {
  const direction = sql.raw(page.order);
  const ordered = (take: number) => sql`order by created_at ${direction}, id ${direction} limit ${take}`;
  const from = sql`select id, type, created_at, body from event`;
  const range = inRange(workspaceId, page);
  // Each type has a page in its index, and together they contain the page of all
  // (docs/decisions/lists-and-ids.md#logs).
  const ofTypes = () => sql`${CUSTOM_PLAN}
    with newest as (${from} where ${range} ${ordered(MAX_SCANNED_ROWS)}),
      near as materialized (select * from newest where type = any(${types}::text[]) ${ordered(page.fetchLimit)}),
      found as (select one.* from unnest(${types}::text[]) of_type, lateral (
        ${from} where (select count(*) from near) < ${page.fetchLimit} and ${range} and type = of_type ${ordered(page.fetchLimit)}
      ) one ${ordered(page.fetchLimit)})
    select * from near where (select count(*) from near) = ${page.fetchLimit} union all select * from found ${ordered(page.fetchLimit)}`;
  const query = types === null ? sql`${from} where ${range} ${ordered(page.fetchLimit)}` : ofTypes();
  const { rows } = await sql<RetainedEvent>`${query}`.execute(db);
  return rows.map((row) => ({ ...row, place: `${row.created_at.toISOString()} ${row.id}` }));
}

function inRange(workspaceId: string, page: PageRequest): RawBuilder<unknown> {
  const parts = [sql`workspace_id = ${workspaceId}`];
  if (page.after !== null) {
    const [time, id] = page.after.split(' ');
    const behind = sql.raw(page.order === 'desc' ? '<' : '>');
    parts.push(sql`(created_at, id) ${behind} (${time}::timestamptz, ${id}::uuid)`);
  }
  if (page.createdAfter !== null) parts.push(sql`created_at > ${page.createdAfter}::timestamptz`);
  if (page.createdBefore !== null) parts.push(sql`created_at < ${page.createdBefore}::timestamptz`);
  return sql.join(parts, sql` and `);
}

/**
 * Position of a tail: it has seen all events committed in the snapshot `before`, and of those additionally
 * visible in `now` the events up to `seq`. An event that commits late is in a later snapshot, so none is
 * skipped or seen twice; a change that waited for another one is never in an earlier snapshot than that one,
 * and has a higher `seq`, so the events of one resource arrive in order.
 */
export interface TailPosition {
  /** `xmin:xmax:xip,…`, as PostgreSQL writes a snapshot. */
  before: string;
  now: string;
  /** Decimal digits: beyond what a number holds. */
  seq: string;
}

export interface TailEvent extends RetainedEvent {
  seq: string;
  workspaceId: string;
}

/** Returns the current snapshot of committed transactions. */
export async function currentSnapshot(db: Db): Promise<string> {
  const { rows } = await sql<{ snapshot: string }>`
    select pg_current_snapshot()::text as snapshot`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('the database has no snapshot');
  return row.snapshot;
}

/** Position of the tails of one workspace. */
export interface WorkspaceTailPosition extends TailPosition {
  workspaceId: string;
}

/**
 * The next events between the two snapshots of each place, in one query however many workspaces there are.
 *
 * @param limit for each workspace. @throws when they are no snapshots.
 */
export async function readEventsBetween(
  db: Db,
  places: readonly WorkspaceTailPosition[],
  limit: number,
): Promise<TailEvent[]> {
  const open = places.filter(({ before, now }) => before !== now);
  if (open.length === 0) return [];
  const { rows } = await sql<TailEvent>`
    select e.id, e.type, e.created_at, e.body, e.seq::text as seq, e.workspace_id as "workspaceId"
    from unnest(
      ${open.map(({ workspaceId }) => workspaceId)}::text[],
      ${open.map(({ before }) => before)}::text[]::pg_snapshot[],
      ${open.map(({ now }) => now)}::text[]::pg_snapshot[],
      ${open.map(({ seq }) => seq)}::text[]::bigint[]
    ) as s (workspace_id, before, now, seq)
    cross join lateral (
      select * from event
      where workspace_id = s.workspace_id and seq > s.seq
        and xid >= pg_snapshot_xmin(s.before) and xid < pg_snapshot_xmax(s.now)
        and not pg_visible_in_snapshot(xid, s.before) and pg_visible_in_snapshot(xid, s.now)
      order by seq limit ${limit}
    ) e
    order by e.seq`.execute(db);
  return rows;
}

/** Could PostgreSQL have written both snapshots? */
export async function isTailPosition(db: Db, { before, now }: TailPosition): Promise<boolean> {
  const check = sql`select ${before}::text::pg_snapshot, ${now}::text::pg_snapshot`.execute(db);
  return check.then(
    () => true,
    (error: unknown) => {
      if (sqlState(error) === INVALID_TEXT) return false;
      throw error;
    },
  );
}

const INVALID_TEXT = '22P02';
