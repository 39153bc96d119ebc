import { type RawBuilder, sql } from 'kysely';
import type { PageRequest } from '../../kernel/page.ts';
import { orderedPage } from './page-filters.ts';

/** Newest rows scanned before all matches are gathered. */
const PROBE_ROWS = 300;
/** Texts in which the trigram index finds something, whatever the locale of the database. */
const TRIGRAM = /[a-z0-9]{3}/i;

/** Rows that a search looks at, and those that it finds. */
export interface Search {
  table: string;
  /** Condition of rows within the page, which an index has in the order of the IDs. */
  within: RawBuilder<unknown>;
  /** Condition of rows that match. */
  matching: RawBuilder<unknown>;
}

/**
 * Returns a query for the IDs of one page of matching rows, which no index has in order
 * (docs/decisions/lists-and-ids.md#searches). A common match fills the page from the newest rows; otherwise all
 * matches are gathered by the index that finds fewest rows, and sorted.
 */
export function searchPage(page: PageRequest, { table, within, matching }: Search): RawBuilder<unknown> {
  // Compared after the matches are gathered: an index would be read for it, which nearly all rows pass.
  const isFurther = page.order === 'desc' ? sql`id < (select min(id)` : sql`id > (select max(id)`;
  const source = sql.table(table);
  return sql`
    with probe as materialized (
        select id, (${matching}) as is_match from ${source} where ${within}
        order by id ${sql.raw(page.order)} limit ${PROBE_ROWS}),
      near as materialized (${orderedPage(sql`probe where is_match`, page)})
    select id from near
    union all (
      select id from (
        select id from ${source}
        where (select count(*) from probe) = ${PROBE_ROWS} and (select count(*) from near) < ${page.fetchLimit}
          and ${within} and ${matching}
        offset 0) matches
      where ${isFurther} from probe)
      order by id ${sql.raw(page.order)} limit ${page.fetchLimit})
    order by id ${sql.raw(page.order)} limit ${page.fetchLimit}`;
}

/**
 * Returns the condition that a text contains a part, in any case. A part without three ASCII letters or digits in a row
 * has no trigram to look up: its single letters narrow the rows, which are compared without the trigram index.
 *
 * @param text expression of the GIN index on `<text> gin_trgm_ops, string_to_array(lower(<text>), null)`.
 */
export function containsText(text: string, part: string): RawBuilder<unknown> {
  const [indexed, pattern] = [sql.raw(text), likePattern(part)];
  if (TRIGRAM.test(part)) return sql`${indexed} ilike ${pattern}`;
  return sql`(string_to_array(lower(${indexed}), null) @> string_to_array(lower(${part}), null)
    and (${indexed} || '') ilike ${pattern})`;
}

/** Returns the pattern of texts that contain a part. */
export function likePattern(part: string): string {
  return `%${part.replace(/[\\%_]/g, '\\$&')}%`;
}
