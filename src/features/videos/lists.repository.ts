import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { PageRequest } from '../../kernel/page.ts';
import { VISIBILITIES, type Visibility } from '../../kernel/visibility.ts';
import { ID_OF_STATE, pageCondition } from '../../platform/db/page.ts';
import { VALUES, type VideoStatus } from '../../platform/db/tables.generated.ts';

export interface VideoFilter {
  status?: readonly VideoStatus[] | undefined;
  visibility?: readonly Visibility[] | undefined;
  tag?: string | undefined;
  externalId?: string | undefined;
  streamId?: string | undefined;
  /** Part of the title, in any case. */
  q?: string | undefined;
  /** Not those that the operator has taken down. */
  isShown?: true | undefined;
}

/** So many of the newest are looked through for a tag or a title before all that have it are gathered. */
const NEAR = 1000;

/** A query for the ids of one page, which reads few rows that it does not give (docs/decisions/lists-and-ids.md#filters). */
export function pageOfVideos(
  workspaceId: string,
  filter: VideoFilter,
  page: PageRequest,
): RawBuilder<unknown> {
  const { status, visibility, tag, externalId, streamId, q } = filter;
  if (tag !== undefined || q !== undefined) return searched(workspaceId, filter, page);
  const isIndexed = externalId !== undefined || streamId !== undefined;
  if (isIndexed || (status === undefined && visibility === undefined)) {
    return ordered(sql`video`, sql`${inRange(workspaceId, page)} and ${matching(filter)}`, page);
  }
  // Rows of one status and one visibility are in order in their index: a page of each pair has the page of all.
  const { isShown } = filter;
  const one = sql`${inRange(workspaceId, page, ID_OF_STATE)} and status = of_status and visibility = of_visibility
    and ${matching({ isShown })}`;
  return sql`select id from unnest(${status ?? VALUES.video.status}::text[]) of_status,
    unnest(${visibility ?? VISIBILITIES}::text[]) of_visibility,
    lateral (${ordered(sql`video`, one, page, ID_OF_STATE)}) one
    order by id ${direction(page)} limit ${page.take}`;
}

/**
 * What most have is among the newest. What few have is gathered by its index and sorted, which is not begun before
 * the newest were looked through: to go on from them by the order would read every row when there is no other.
 */
function searched(workspaceId: string, filter: VideoFilter, page: PageRequest): RawBuilder<unknown> {
  const range = inRange(workspaceId, page);
  return sql`
    with newest as (select * from video where ${range} order by id ${direction(page)} limit ${NEAR}),
      near as materialized (${ordered(sql`newest video`, matching(filter), page)}),
      found as (select id from video where (select count(*) from near) < ${page.take}
        and ${range} and ${matching(filter)} and ${lettersOf(filter.q)} offset 0)
    select id from near where (select count(*) from near) = ${page.take}
    union all (select id from found order by id ${direction(page)} limit ${page.take})`;
}

const direction = (page: PageRequest) => sql.raw(page.order);

function ordered(from: RawBuilder<unknown>, where: RawBuilder<unknown>, page: PageRequest, id = sql`id`) {
  return sql`select id from ${from} where ${where} order by ${id} ${direction(page)} limit ${page.take}`;
}

function inRange(workspaceId: string, page: PageRequest, id = sql`id`): RawBuilder<unknown> {
  return sql`workspace_id = ${workspaceId} and deleted_at is null
    and ${pageCondition(page, id, 'created_at', 'vid')}`;
}

function matching({ status, visibility, tag, externalId, streamId, q, isShown }: VideoFilter) {
  const parts: RawBuilder<SqlBool>[] = [sql`true`];
  if (status !== undefined) parts.push(sql`status = any(${status}::text[])`);
  if (visibility !== undefined) parts.push(sql`visibility = any(${visibility}::text[])`);
  if (tag !== undefined) parts.push(sql`tags @> array[${tag}]::text[]`);
  if (externalId !== undefined) parts.push(sql`external_id = ${externalId}`);
  if (streamId !== undefined) parts.push(sql`stream_id = ${streamId}`);
  if (q !== undefined) parts.push(sql`title ilike ${`%${q.replace(/[\\%_]/g, '\\$&')}%`}`);
  if (isShown === true) parts.push(sql`taken_down_at is null`);
  return sql`${sql.join(parts, sql` and `)}`;
}

/** For the index of letters: that of three in a row has nothing for a shorter text, and none for some alphabets. */
function lettersOf(q: string | undefined): RawBuilder<unknown> {
  if (q === undefined) return sql`true`;
  return sql`string_to_array(lower(title), null) @> string_to_array(lower(${q}::text), null)`;
}
