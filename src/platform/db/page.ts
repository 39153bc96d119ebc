import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { dateFromText } from '../../kernel/clock.ts';
import { type IdPrefix, minIdAt } from '../../kernel/ids.ts';
import type { PageRequest } from '../../kernel/page.ts';
import { NOT_PREPARED } from './dialect.ts';

/**
 * An id is made before its row, by the same clock: it may have waited for a lock since, and a clock may be set.
 */
const SLACK_MS = 60_000;

/** The name of the column, or an expression that an index has. */
type IdColumn = string | RawBuilder<unknown>;
/** ID expression for the order of the state indexes, which differs from that of the primary key. */
export const ID_IN_C_COLLATION: RawBuilder<unknown> = sql`id collate "C"`;

/**
 * The condition of one page: rows behind `after`, within the creation times asked for. Ids sort by creation,
 * so the primary key is the position: order the query by it and limit it to `page.take`.
 *
 * @param prefix of the ids, where they have the time of their rows: then times are bounds of the index, too, and what
 * lies outside is not read (docs/decisions/lists-and-ids.md#times).
 */
export function pageCondition(
  page: PageRequest,
  id: IdColumn = 'id',
  createdAt = 'created_at',
  prefix?: IdPrefix,
): RawBuilder<SqlBool> {
  const { after, createdAfter, createdBefore } = page;
  const parts: RawBuilder<unknown>[] = [];
  if (after !== null) {
    parts.push(page.order === 'desc' ? sql`${column(id)} < ${after}` : sql`${column(id)} > ${after}`);
  }
  if (createdAfter !== null) parts.push(sql`${sql.ref(createdAt)} > ${createdAfter}::timestamptz`);
  if (createdBefore !== null) parts.push(sql`${sql.ref(createdAt)} < ${createdBefore}::timestamptz`);
  if (prefix !== undefined)
    parts.push(idRangeCondition(prefix, id, { from: createdAfter, to: createdBefore }));
  return parts.length === 0 ? sql`true` : sql`${sql.join(parts, sql` and `)}`;
}

/**
 * Returns a condition on the IDs that rows of this time range can have, with slack. The condition on the
 * times themselves is still needed.
 */
export function idRangeCondition(
  prefix: IdPrefix,
  id: IdColumn,
  { from, to }: { from?: Date | string | null | undefined; to?: Date | string | null | undefined },
): RawBuilder<SqlBool> {
  const [low, high] = [msOf(from), msOf(to)];
  const parts = [
    ...(low === null ? [] : [sql`${column(id)} >= ${minIdAt(prefix, low - SLACK_MS)}`]),
    ...(high === null ? [] : [sql`${column(id)} < ${minIdAt(prefix, high + SLACK_MS)}`]),
  ];
  return parts.length === 0 ? sql`true` : sql`${sql.join(parts, sql` and `)}`;
}

const column = (id: IdColumn) => (typeof id === 'string' ? sql.ref(id) : id);

function msOf(time: Date | string | null | undefined): number | null {
  if (time === null || time === undefined) return null;
  return (typeof time === 'string' ? dateFromText(time) : time).getTime();
}

/**
 * Reports whether the query has no filter but the page. Then a prepared statement has the right plan for every workspace if
 * it selects only IDs, which the index of workspaces contains; whole rows might be read from the end of the table
 * (docs/decisions/lists-and-ids.md#one-plan-for-every-workspace).
 */
export function isUnfiltered(
  { createdAfter, createdBefore }: PageRequest,
  filters: readonly unknown[],
): boolean {
  return [createdAfter, createdBefore, ...filters].every((one) => one === undefined || one === null);
}

/**
 * `modifyFront` of a list whose best plan hangs on its values. A plan for any values takes a workspace for an
 * average one and its rows for spread evenly: it then reads the others' rows to find those of a small one.
 */
export const CUSTOM_PLAN = sql.raw(NOT_PREPARED);
