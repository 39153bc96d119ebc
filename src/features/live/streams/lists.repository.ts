import { type RawBuilder, sql } from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import { VISIBILITIES } from '../../../kernel/visibility.ts';
import type { Db } from '../../../platform/db/index.ts';
import { CUSTOM_PLAN, ID_IN_C_COLLATION, isUnfiltered, pageCondition } from '../../../platform/db/page.ts';
import type { IdCondition } from '../../../platform/db/read-by-ids.ts';
import { streamFields } from './fields.ts';
import type { StreamRow } from './repository.ts';

export interface StreamFilter {
  isLive?: boolean | undefined;
  hasSignal?: boolean | undefined;
  enabled?: boolean | undefined;
  visibility?: readonly StreamRow['visibility'][] | undefined;
}

/**
 * Columns shown to partners. Lists read no others, because the driver's work grows with rows times columns.
 */
const SHOWN = [
  ...streamFields.columns,
  'id',
  'workspace_id',
  'has_signal',
  'is_live',
  'restream_ids',
  'current_session_id',
  'started_at',
  'ended_at',
  'last_signal_at',
  'viewer_count',
  'peak_viewers',
  'health',
  'taken_down_at',
  'takedown_reason',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof StreamRow)[];

export type StreamDetails = Pick<StreamRow, (typeof SHOWN)[number]>;
/** Columns needed to show the stream key. */
const KEYS = ['key_encrypted'] as const satisfies readonly (keyof StreamRow)[];

export type StreamRowWithKey = Pick<StreamRow, (typeof KEYS)[number]>;
export type ListedStream = StreamDetails & StreamRowWithKey;

export function listStreams(
  db: Db,
  workspaceId: string,
  filter: StreamFilter,
  page: PageRequest,
): Promise<ListedStream[]> {
  return db
    .selectFrom('stream')
    .select(SHOWN)
    .select(KEYS)
    .$if(!isUnfiltered(page, Object.values(filter)), (one) => one.modifyFront(CUSTOM_PLAN))
    .where(sql<boolean>`id = any(array(${pageOfStreams(workspaceId, filter, page)}))`)
    .orderBy('id', page.order)
    .execute();
}

/** Selects rows of any workspace; the caller compares the workspace. */
export function selectListedStreams(db: Db, among: IdCondition) {
  return db
    .selectFrom('stream')
    .select(SHOWN)
    .select(KEYS)
    .where(among('id'))
    .where('deleted_at', 'is', null);
}

/**
 * Returns a query for the IDs of one page that reads few other rows
 * (docs/decisions/lists-and-ids.md#filters).
 */
function pageOfStreams(workspaceId: string, filter: StreamFilter, page: PageRequest): RawBuilder<unknown> {
  const { isLive, hasSignal, enabled, visibility } = filter;
  const isOnAir = isLive === true || hasSignal === true;
  const isByState = !isOnAir && (visibility !== undefined || enabled !== undefined);
  const id = isByState ? ID_IN_C_COLLATION : sql`id`;
  const parts = [
    sql`workspace_id = ${workspaceId} and deleted_at is null`,
    pageCondition(page, id, 'created_at', 'str'),
  ];
  if (isLive !== undefined) parts.push(sql`is_live = ${isLive}`);
  if (hasSignal !== undefined) parts.push(sql`has_signal = ${hasSignal}`);
  const inOrder = sql`order by ${id} ${sql.raw(page.order)} limit ${page.fetchLimit}`;
  if (!isByState) {
    // Few streams are on air concurrently.
    if (visibility !== undefined) parts.push(sql`visibility = any(${visibility}::text[])`);
    if (enabled !== undefined) parts.push(sql`enabled = ${enabled}`);
    return sql`select id from stream where ${sql.join(parts, sql` and `)} ${inOrder}`;
  }
  // Rows of one visibility are ordered in their index, so one page of each contains the page of all.
  return sql`select id from unnest(${visibility ?? VISIBILITIES}::text[]) of_visibility,
    unnest(${enabled === undefined ? ['true', 'false'] : [`${enabled}`]}::text[]::boolean[]) of_enabled,
    lateral (select id from stream where ${sql.join(parts, sql` and `)}
      and visibility = of_visibility and enabled = of_enabled ${inOrder}) one
    ${inOrder}`;
}
