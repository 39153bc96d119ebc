import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { pageCondition } from '../../../platform/db/page.ts';
import type { ExternalCalendarTable } from '../../../platform/db/tables.generated.ts';
import { isAccountActive } from '../../../platform/db/workspace.ts';
import type { Span } from './busy.repository.ts';

export type ExternalRow = Selectable<ExternalCalendarTable>;
export type ExternalChange = Updateable<ExternalCalendarTable>;

export function insertExternal(tx: Tx, row: Insertable<ExternalCalendarTable>): Promise<ExternalRow> {
  return tx.insertInto('external_calendar').values(row).returningAll().executeTakeFirstOrThrow();
}

export async function countExternals(tx: Tx, workspaceId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('external_calendar')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  return count;
}

export function findExternal(db: Db, workspaceId: string, id: string): Promise<ExternalRow | undefined> {
  return db
    .selectFrom('external_calendar')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
}

export function listExternals(db: Db, workspaceId: string, page: PageRequest): Promise<ExternalRow[]> {
  return db
    .selectFrom('external_calendar')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where(pageCondition(page))
    .orderBy('id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

/** @returns whether it existed. */
export async function deleteExternal(db: Db, workspaceId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('external_calendar')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/**
 * Claims the calendars that have been due longest. `until` is when they are due again if this worker dies.
 *
 * @param except workspaces to skip.
 */
export function claimDue(
  db: Db,
  { now, until, except }: { now: Date; until: Date; except: readonly string[] },
): Promise<ExternalRow | undefined> {
  return db
    .updateTable('external_calendar')
    .set({ next_fetch_at: until })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('external_calendar')
        .select('id')
        .where('next_fetch_at', '<=', now)
        .where(sql<boolean>`workspace_id <> all(${except}::text[])`)
        .where(isAccountActive('external_calendar.workspace_id'))
        .orderBy('next_fetch_at')
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    .returningAll()
    .executeTakeFirst();
}

/** @returns false when the calendar does not exist. */
export async function updateExternal(db: Db, id: string, change: ExternalChange): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('external_calendar')
    .set(change)
    .where('id', '=', id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Replaces the busy intervals of a calendar. */
export async function replaceBusyIntervals(tx: Tx, id: string, spans: readonly Span[]): Promise<void> {
  await tx.deleteFrom('external_busy').where('calendar_id', '=', id).execute();
  if (spans.length === 0) return;
  const starts = spans.map(({ startsAt }) => startsAt.toISOString());
  const ends = spans.map(({ freeAt }) => freeAt.toISOString());
  await sql`insert into external_busy (calendar_id, starts_at, busy_until)
    select ${id}, span.starts_at, span.busy_until
    from unnest(${starts}::timestamptz[], ${ends}::timestamptz[]) as span (starts_at, busy_until)`.execute(
    tx,
  );
}
