import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { IdPrefix } from '../../kernel/ids.ts';
import type { PageRequest } from '../../kernel/page.ts';
import { CUSTOM_PLAN, ID_IN_C_COLLATION, idRangeCondition, pageCondition } from './page.ts';

/** A table to list from, with its filters. */
export interface FilteredTable {
  table: string;
  /** Prefix of the IDs, when IDs and `created_at` come from the same clock. */
  prefix?: IdPrefix;
  /** Required column values; undefined means any value. */
  of: Readonly<Record<string, string | undefined>>;
  /** When they were made: from then on, and before `to`. */
  made?: { from?: Date | undefined; to?: Date | undefined };
  /** Additional condition on the rows. */
  where?: RawBuilder<unknown> | undefined;
}

/** For a column of few values: those asked for, if any are, and all that there are. */
export type ValueFilter = readonly [asked: readonly string[] | undefined, all: readonly string[]];

/**
 * The condition of one page of rows that have one of some values in each of these columns. There must be an index that
 * has the columns of `of`, then these, then the id as `ID_IN_C_COLLATION`: rows with one value of each are in order there,
 * so a page of each combination has the page of all, and nothing else is read
 * (docs/decisions/lists-and-ids.md#filters). Order the query by the id and limit it to `page.take`.
 *
 * @param each by column, in any order. Where nothing is asked for, the index is one of `of` and the id.
 */
export function pagePerCombination(
  page: PageRequest,
  listed: FilteredTable,
  each: Readonly<Record<string, ValueFilter>>,
): RawBuilder<SqlBool> {
  if (Object.values(each).every(([asked]) => asked === undefined)) {
    return sql`${CUSTOM_PLAN} ${baseCondition(page, listed)}`;
  }
  return pageByIndexOrder(page, listed, each);
}

/**
 * Variant of `pagePerCombination` for an index that has these columns between those of `of` and the ID even
 * when no filter is set, or has none of them. If that index does not include the workspace, `of` must omit it
 * too and the query must add the condition itself: otherwise the rows would be searched in the workspace
 * index, where they may be few among many.
 */
export function pageByIndexOrder(
  page: PageRequest,
  listed: FilteredTable,
  each: Readonly<Record<string, ValueFilter>>,
): RawBuilder<SqlBool> {
  const { table } = listed;
  const asked = Object.entries(each).map(([column, [asked, all]], place) => ({
    from: sql`unnest(${[...new Set(asked ?? all)]}::text[]) ${sql.ref(`of_${place}`)}`,
    is: sql`${sql.ref(`${table}.${column}`)} = ${sql.ref(`of_${place}`)}`,
  }));
  const conditions = sql.join(
    [baseCondition(page, listed, ID_IN_C_COLLATION), ...asked.map(({ is }) => is)],
    sql` and `,
  );
  const found = orderedPage(sql`${sql.table(table)} where ${conditions}`, page, ID_IN_C_COLLATION);
  const ids =
    asked.length === 0
      ? found
      : orderedPage(sql`${sql.join(asked.map(({ from }) => from))}, lateral (${found}) one`, page);
  return idIn(listed, ids);
}

/**
 * The condition of being one of these: as an array, which is looked up row by row. Joined, all rows might be walked in
 * their order to meet these.
 */
export function idIn({ table }: FilteredTable, ids: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql`${CUSTOM_PLAN} ${sql.ref(`${table}.id`)} = any(array(${ids}))`;
}

/** The ids of a page of what these are; `id` names their order. */
export function orderedPage(
  from: RawBuilder<unknown>,
  page: Pick<PageRequest, 'order' | 'fetchLimit'>,
  id: RawBuilder<unknown> = sql`id`,
): RawBuilder<unknown> {
  return sql`select id from ${from} order by ${id} ${sql.raw(page.order)} limit ${page.fetchLimit}`;
}

/** Returns the condition of the rows that a page may contain, without the filters by value. */
export function baseCondition(
  page: PageRequest,
  { table, prefix, of, made, where }: FilteredTable,
  id: RawBuilder<unknown> = sql.ref(`${table}.id`),
): RawBuilder<unknown> {
  const parts = Object.entries(of)
    .filter(([, value]) => value !== undefined)
    .map(([column, value]): RawBuilder<unknown> => sql`${sql.ref(`${table}.${column}`)} = ${value}`);
  const createdAt = `${table}.created_at`;
  parts.push(pageCondition(page, id, createdAt, prefix));
  if (made?.from !== undefined) parts.push(sql`${sql.ref(createdAt)} >= ${made.from}`);
  if (made?.to !== undefined) parts.push(sql`${sql.ref(createdAt)} < ${made.to}`);
  if (made !== undefined && prefix !== undefined) parts.push(idRangeCondition(prefix, id, made));
  if (where !== undefined) parts.push(where);
  return sql.join(parts, sql` and `);
}
