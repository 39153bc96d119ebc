import { type RawBuilder, sql } from 'kysely';
import type { PageRequest } from '../../kernel/page.ts';
import { ordered } from './listed.ts';
import { pageCondition } from './page.ts';

/** So many of the newest are looked through before an index is asked. */
const NEAR = 300;
/** The samples of `sampled_spans`, and 0 for all rows: each has one of 32 rows of the one before. */
const SPARSEST = 3;
/** Characters of the narrowest span that the index has; of a sample it has so many fewer as its number says. */
const NARROWEST = 7;
/** Of the spans at the ends of all rows, which need not be narrow. */
const OPEN = 3;

/** What is looked for in a table of which a GIN index has rows by spans of their ids. */
export interface Spanned {
  table: string;
  /** Whose rows: what the index is asked for may also stand in a text that others chose, such as a tag. */
  workspaceId: string;
  /** Which rows, and which page of them: what an index has in the order of the ids. */
  within: RawBuilder<unknown>;
  /** The first column of the GIN index: `sampled_spans(…)`, and the values of columns that are compared with one. */
  spans: string;
  /** What the spans that count are named by; where it is several, rows have those of each. */
  scope: string | readonly string[];
  /** For each of these columns: values of which it has one, or undefined. */
  one?: readonly (readonly string[] | undefined)[];
  /** What the index is to find in its other columns. */
  indexed: RawBuilder<unknown>;
  /** Which rows the index has, where it has not all. */
  having?: RawBuilder<unknown>;
  /** All that holds of a row, but the times of the page. */
  matching: RawBuilder<unknown>;
}

/**
 * A query for the ids of one page of the rows that match, of which no index has an order, by few rows that are none of
 * the page (docs/decisions/lists-and-ids.md#searches): the newest are looked through; then what matches in samples of the rows,
 * the sparsest first, says how far to go, and all that match up to there are taken, until the page is full. The samples
 * decide how much is read, and not what is found.
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
          ${page.take} - (select count(*) from near)::integer as wanted, ${WIDTH_APART} as width
        from newest having count(*) = ${NEAR} and (select count(*) from near) < ${page.take}),
      walk as (
        select walk.sample - 1 as sample, walk.behind, coalesce(found.ids[1], walk.until) as until, wanted, null::text[] as ids
        from rest, lateral (select ${SPARSEST}::integer as sample, first as behind, last as until) walk, ${look(page, spanned, sql`true`)}
        union all
        select next.* from walk, rest, ${look(page, spanned, indexed(spanned))}, ${step(page)}
        where walk.wanted > 0 and walk.behind is not null)
    select id from near
    union all select unnest(ids) as id from walk
    order by id ${direction} limit ${page.take}`;
}

/**
 * Of the widest span of the last one of the newest that does not have the first of them: what else it has is among these, and
 * few of these match, or the page would be full.
 */
const WIDTH_APART = sql`${NARROWEST}::integer - ${sql.join(
  [4, 5, 6].map(
    (width) => sql`(substr(min(id), 5, ${width}::integer) <> substr(max(id), 5, ${width}::integer))::integer`,
  ),
  sql` - `,
)}`;

const timesOf = (page: PageRequest) => pageCondition({ ...page, after: null });

/** What the index is asked for beside the span. The sparsest sample is so small that its rows are read sooner than that. */
function indexed({ spans, one = [], indexed }: Spanned): RawBuilder<unknown> {
  // Each by itself: the index ends with the first that has no more rows, and not so where one has two values.
  const others = one
    .filter((values) => values !== undefined)
    .map((values) => sql`${sql.raw(spans)} && ${[...values]}::text[]`);
  return sql.join([...others, indexed], sql` and `);
}

/** The first ones of a sample that say how far a page goes, or all that there are of all rows. */
function look(page: PageRequest, spanned: Spanned, asked: RawBuilder<unknown>): RawBuilder<unknown> {
  const { table, workspaceId, scope, matching } = spanned;
  const spans = sql.raw(spanned.spans);
  const [isBehind, isUntil] = page.order === 'desc' ? [sql`<`, sql`>=`] : [sql`>`, sql`<=`];
  const edgesOf = [scope].flat().map((one, n) => ({ scope: one, name: sql.ref(`between_edges_${n}`) }));
  const named = edgesOf.map(
    ({ scope, name }) => sql`lateral (
    select spans_between(concat(nullif(walk.sample, 0), ${scope}::text), ${edges(page)}) as spans offset 0) ${name}`,
  );
  const isBetween = edgesOf.map(({ name }) => sql`${spans} && ${name}.spans`);
  const isIndexed = sql`${sql.join([...isBetween, asked, spanned.having ?? sql`true`], sql` and `)}`;
  // The spans are named before: a row that the index gives is compared with all of them once more. Nothing but them is for an
  // index: that of ids would be walked from its end, and those of other columns would be read beside it.
  return sql`${sql.join(named)}, lateral (
    select array(
      select id from (select * from ${sql.table(table)} where ${isIndexed} offset 0) one
      where workspace_id = ${workspaceId} and ${matching} and ${timesOf(page)}
        and id ${isBehind} walk.behind and id ${isUntil} walk.until
      order by id ${sql.raw(page.order)} limit case when walk.sample > 0 then ${enough(page)} end) as ids offset 0) found`;
}

/** The lower and the upper span that a look is for. Where the page has no end, the rows have: few lie behind. */
function edges({ order, after, createdAfter, createdBefore }: PageRequest): RawBuilder<unknown> {
  const [begun, ended] = order === 'desc' ? [createdBefore, createdAfter] : [createdAfter, createdBefore];
  const narrow = sql`${NARROWEST}::integer - walk.sample`;
  const span = (id: RawBuilder<unknown>, end: RawBuilder<unknown>, atEnd: RawBuilder<unknown>) =>
    sql`substr(${id}, 5, case when ${id} = ${end} then least(${atEnd}, ${narrow}) else ${narrow} end)`;
  const open = sql`${OPEN}::integer`;
  const isOpen = after === null && begun === null;
  const near = span(sql`walk.behind`, sql`rest.first`, isOpen ? open : sql`rest.width`);
  const far = span(sql`walk.until`, sql`rest.last`, ended === null ? open : narrow);
  return order === 'desc' ? sql`${far}, ${near}` : sql`${near}, ${far}`;
}

/**
 * Up to which row of a sample the next look goes. The last sample is of one of 32 rows: up to this one there is a page
 * nearly always, and if not, the walk goes on from there.
 */
function enough({ take }: PageRequest): RawBuilder<unknown> {
  return sql`case when walk.sample > 1 then 1 else ${1 + Math.ceil(take / 16)}::integer end`;
}

/** To the next sample as far as was found, or on behind what was taken. */
function step(page: PageRequest): RawBuilder<unknown> {
  return sql`lateral (select
      case when walk.sample > 0 then walk.sample - 1 else ${SPARSEST}::integer end as sample,
      case when walk.sample > 0 then walk.behind else nullif(walk.until, rest.last) end as behind,
      case when walk.sample > 0 then coalesce(found.ids[${enough(page)}], walk.until) else rest.last end as until,
      walk.wanted - case when walk.sample > 0 then 0 else cardinality(found.ids) end as wanted,
      case when walk.sample = 0 then found.ids end as ids) next`;
}

/**
 * For a text of which the GIN index has what is three letters in a row, and its single letters beside: what is to be
 * compared with the text besides.
 *
 * @param text the columns, as the index has them.
 */
export function hasPart(text: string, part: string): RawBuilder<unknown> {
  return sql`${sql.raw(`(show_trgm(${text}) || string_to_array(lower(${text}), null))`)} @> parts_sought(${part})`;
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
