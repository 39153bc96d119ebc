import { type RawBuilder, sql } from 'kysely';
import type { PageRequest } from '../../kernel/page.ts';
import { ordered } from './listed.ts';
import { pageCondition } from './page.ts';

/** So many of the newest are looked through before an index is asked. */
const NEAR = 300;
/** A span with fewer rows that match is taken as a whole; one with more is divided. */
const MOST = 200;
/** Characters of the shortest and the longest span that the index has, as `id_spans` makes them. */
const [WIDEST, NARROWEST] = [2, 7];
/** Of the first span that is looked at, 400 days: a look at one has the index list all that match in it. */
const BEGINNING = 3;
/** Of ids, in their order. */
const FIRST_DIGIT = '0';
const LAST_DIGIT = 'z';
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';

/** What is looked for in a table of which a GIN index has rows by spans of their ids. */
export interface Spanned {
  table: string;
  /** Which rows, and which page of them: what an index has in the order of the ids. */
  within: RawBuilder<unknown>;
  /** The first column of the GIN index: `id_spans(…)`, and the values of columns that are compared with one. */
  spans: string;
  /** What the spans that count are named by. */
  scope: string;
  /** For each of these columns: values of which it has one, or undefined. */
  one?: readonly (readonly string[] | undefined)[];
  /** What the index is to find in its other columns. */
  indexed: RawBuilder<unknown>;
  /** All that holds of a row, but the times of the page. */
  matching: RawBuilder<unknown>;
}

/**
 * A query for the ids of one page of the rows that match, of which no index has an order, by few rows that are none of
 * the page (docs/decisions/lists-and-ids.md#searches): the newest are looked through, then spans of ids one after the other
 * until the page is full. A span in which very many match is divided, so that only its end is read.
 */
export function pageBySpans(page: PageRequest, spanned: Spanned): RawBuilder<unknown> {
  const { within } = spanned;
  const matching = sql`${spanned.matching} and ${timesOf(page)}`;
  const table = sql.table(spanned.table);
  const direction = sql.raw(page.order);
  const [back, edge] = page.order === 'desc' ? (['asc', 'min'] as const) : (['desc', 'max'] as const);
  return sql`
    with recursive newest as materialized (
        select id, (${matching}) as fits from ${table} where ${within} order by id ${direction} limit ${NEAR}),
      near as materialized (${ordered(sql`newest where fits`, page)}),
      rest as materialized (
        select ${sql.raw(edge)}(id) as first, (${ordered(sql`${table} where ${within}`, { order: back, take: 1 })}) as last,
          ${page.take} - (select count(*) from near)::integer as wanted
        from newest having count(*) = ${NEAR} and (select count(*) from near) < ${page.take}),
      walk as (
        select next.span, next.wanted, found.* from rest, ${beginning()}, ${look(page, spanned)}
        union all
        select next.span, next.wanted, found.* from walk, rest, ${step(page)}, ${look(page, spanned)}
        where next.wanted > 0 and length(next.span) >= ${WIDEST} and ${isBefore(page)})
    select id from near
    union all select unnest(ids) as id from walk where not is_crowded
    order by id ${direction} limit ${page.take}`;
}

const timesOf = (page: PageRequest) => pageCondition({ ...page, after: null });

const beginning = () => sql`lateral (select substr(first, 5, ${BEGINNING}::integer) as span, wanted) next`;

/** The ids in a span that match: all, or `MOST` of them, and then it is to be divided. */
function look(page: PageRequest, spanned: Spanned): RawBuilder<unknown> {
  const { table, scope, one = [], indexed, matching } = spanned;
  const spans = sql.raw(spanned.spans);
  const asked = one
    .filter((values) => values !== undefined)
    .map((values) => sql`and ${spans} && ${[...values]}::text[]`);
  const isDivisible = sql`length(next.span) < ${NARROWEST}`;
  // Nothing here is for the index of ids, which would be walked from its end for each span.
  return sql`lateral (
    select cardinality(ids) = ${MOST} and ${isDivisible} as is_crowded, ids
    from (select array(
      select id from ${sql.table(table)}
      where ${spans} @> array[${scope}::text || next.span] ${sql.join(asked, sql` `)} and ${indexed} and ${matching} and ${timesOf(page)}
        and id collate "C" ${sql.raw(page.order === 'desc' ? '<' : '>')} rest.first
      limit case when ${isDivisible} then ${MOST}::bigint end) as ids offset 0) one) found`;
}

/** Into a crowded span, at the end where the page is; from any other to the one that follows. */
function step({ order }: PageRequest): RawBuilder<unknown> {
  const [nearest, farthest] = order === 'desc' ? [LAST_DIGIT, FIRST_DIGIT] : [FIRST_DIGIT, LAST_DIGIT];
  const [from, to] = [DIGITS.slice(1), DIGITS.slice(0, -1)];
  const [digits, following] = order === 'desc' ? [from, to] : [to, from];
  const trimmed = sql`rtrim(walk.span, ${farthest})`;
  return sql`lateral (select
      case when not is_crowded then left(${trimmed}, -1) || translate(right(${trimmed}, 1), ${digits}, ${following})
        when starts_with(substr(first, 5), walk.span) then substr(first, 5, length(walk.span) + 1)
        else walk.span || ${nearest} end as span,
      walk.wanted - case when is_crowded then 0 else cardinality(ids) end as wanted) next`;
}

/** There are rows in the span, or behind it. */
function isBefore({ order }: PageRequest): RawBuilder<unknown> {
  const last = sql`substr(rest.last, 5, length(next.span)) collate "C"`;
  return order === 'desc' ? sql`next.span >= ${last}` : sql`next.span <= ${last}`;
}

/** Short texts, and those in alphabets that the locale of the database does not know, have no three letters in a row. */
const THREE = /[a-z0-9]{3}/i;

/**
 * For a text of which the GIN index has what is three letters in a row, and its single letters beside: what is to be
 * compared with the text besides. Of a shorter one the first part of the index would have every row.
 *
 * @param text the columns, as the index has them.
 */
export function hasPart(text: string, part: string): RawBuilder<unknown> {
  const column = sql.raw(text);
  if (THREE.test(part)) return sql`${column} ilike ${likePart(part)}`;
  return sql`string_to_array(lower(${column}), null) @> string_to_array(lower(${part}::text), null)`;
}

/** Texts that have this in them. */
export function likePart(part: string): string {
  return `%${part.replace(/[\\%_]/g, '\\$&')}%`;
}

/** Absent or null: without end. */
interface Bounds {
  from?: Date | string | null | undefined;
  to?: Date | string | null | undefined;
}

/** What a column of an index is to have one of: the days and months, as `day_and_month` names them, of a span of time. */
export function daysAndMonths(
  { from = null, to = null }: Bounds,
  column: string,
  rows: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const at = sql.ref(column);
  const [day, month] = [sql`interval '1 day'`, sql`interval '1 month'`];
  // Where there are no rows, there is no end; no more is named than there are rows for.
  return sql`
    with known as (
      select case when min(${at}) is not null then greatest(${from}::timestamptz, min(${at})) end at time zone 'UTC' as low,
        least(${to}::timestamptz, max(${at}) + interval '1 us') at time zone 'UTC' - interval '1 us' as high from ${rows}),
    bounds as (
      select date_trunc('day', low) as first_day, date_trunc('day', high) as last_day,
        date_trunc('month', low - interval '1 us') + ${month} as first_month, date_trunc('month', high) as end_month
      from known where low <= high),
    days as (
      select of_day from bounds, generate_series(first_day, least(last_day, first_month - ${day}), ${day}) of_day
      union select of_day from bounds, generate_series(greatest(first_day, end_month), last_day, ${day}) of_day)
    select (day_and_month(of_day at time zone 'UTC'))[1] from days
    union all select (day_and_month(of_month at time zone 'UTC'))[2]
      from bounds, generate_series(first_month, end_month - ${month}, ${month}) of_month`;
}
