import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import { VISIBILITIES, type Visibility } from '../../../kernel/visibility.ts';
import { ID_IN_C_COLLATION, idRangeCondition, pageCondition } from '../../../platform/db/page.ts';
import { containsText, searchPage } from '../../../platform/db/search.ts';
import { VALUES, type VideoStatus } from '../../../platform/db/tables.generated.ts';

export interface VideoFilter {
  status?: readonly VideoStatus[] | undefined;
  visibility?: readonly Visibility[] | undefined;
  tag?: string | undefined;
  externalId?: string | undefined;
  streamId?: string | undefined;
  /** Part of the title, case-insensitive. */
  q?: string | undefined;
  /** Excludes videos taken down by the operator. */
  isShown?: true | undefined;
}

/**
 * Returns a query for the IDs of one page that reads few other rows
 * (docs/decisions/lists-and-ids.md#filters).
 */
export function pageOfVideos(
  workspaceId: string,
  filter: VideoFilter,
  page: PageRequest,
): RawBuilder<unknown> {
  const { status, visibility, tag, externalId, streamId, q } = filter;
  if (q !== undefined) {
    return searchPage(page, {
      table: 'video',
      within: inRange(workspaceId, page),
      matching: matching(filter),
    });
  }
  const isIndexed = externalId !== undefined || streamId !== undefined;
  if (!isIndexed && status === undefined && visibility === undefined && tag === undefined) {
    return ordered(sql`video`, sql`${inRange(workspaceId, page)} and ${matching(filter)}`, page);
  }
  // Rows of one status and one visibility are in order in their index, and in those of a stream and of an id of the
  // partner's: a page of each pair has the page of all.
  const { isShown } = filter;
  const ofPair = sql`status = of_status and visibility = of_visibility`;
  const rest = matching({ isShown, externalId, streamId, tag });
  const one =
    tag === undefined || isIndexed
      ? ordered(
          sql`video`,
          sql`${inRange(workspaceId, page, ID_IN_C_COLLATION)} and ${ofPair} and ${rest}`,
          page,
          ID_IN_C_COLLATION,
        )
      : tagged(workspaceId, { tag, isShown }, page, ofPair);
  return sql`select id from unnest(${status ?? VALUES.video.status}::text[]) of_status,
    unnest(${visibility ?? VISIBILITIES}::text[]) of_visibility,
    lateral (${one}) one
    order by id ${direction(page)} limit ${page.fetchLimit}`;
}

/** Selects the IDs of videos with a tag, in the order of the tag index. */
function tagged(
  workspaceId: string,
  { tag, isShown }: VideoFilter,
  page: PageRequest,
  ofPair: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const { createdAfter, createdBefore, ...whole } = page;
  const isWhole = createdAfter === null && createdBefore === null && isShown === undefined;
  const always = { ...whole, createdAfter: null, createdBefore: null };
  const ids = { from: createdAfter, to: createdBefore };
  return sql`select video_id as id from video_tag where workspace_id = ${workspaceId} and tag = ${tag} and ${ofPair}
    and ${pageCondition(always, 'video_id')} and ${idRangeCondition('vid', 'video_id', ids)}
    and ${
      isWhole
        ? sql`true`
        : sql`exists (select from video where id = video_id
      and ${pageCondition({ ...page, after: null })} and ${matching({ isShown })} offset 0)`
    }
    order by video_id ${direction(page)} limit ${page.fetchLimit}`;
}

const direction = (page: PageRequest) => sql.raw(page.order);

function ordered(from: RawBuilder<unknown>, where: RawBuilder<unknown>, page: PageRequest, id = sql`id`) {
  return sql`select id from ${from} where ${where} order by ${id} ${direction(page)} limit ${page.fetchLimit}`;
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
  if (q !== undefined) parts.push(sql`${containsText('title', q)}`);
  if (isShown === true) parts.push(sql`taken_down_at is null`);
  return sql`${sql.join(parts, sql` and `)}`;
}
