import { sql } from 'kysely';
import type { PageRequest } from '../../kernel/page.ts';
import type { Db } from '../../platform/db/index.ts';
import { pageCondition } from '../../platform/db/page.ts';
import type { Head } from '../../platform/db/versions.ts';
import type { StreamRow } from './repository.ts';

export interface StreamFilter {
  isLive?: boolean | undefined;
  hasSignal?: boolean | undefined;
  enabled?: boolean | undefined;
  visibility?: readonly StreamRow['visibility'][] | undefined;
}

/** What partners are shown. Lists read no more: the driver's work grows with rows times columns. */
const SHOWN = [
  'id',
  'title',
  'description',
  'visibility',
  'has_signal',
  'is_live',
  'enabled',
  'latency_mode',
  'record',
  'record_visibility',
  'tier_ids',
  'reconnect_window_sec',
  'dvr_window_sec',
  'auto_start',
  'auto_stop_after_sec',
  'max_duration_sec',
  'chat_enabled',
  'chat_mode',
  'slow_mode_sec',
  'banned_words',
  'scheduled_start_at',
  'restream_ids',
  'current_session_id',
  'started_at',
  'ended_at',
  'last_signal_at',
  'viewer_count',
  'peak_viewers',
  'health',
  'metadata',
  'external_id',
  'taken_down_at',
  'takedown_reason',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof StreamRow)[];

export type ShownStream = Pick<StreamRow, (typeof SHOWN)[number]>;
/** With the transaction that wrote the row: until another one does, it is the same. */
export type ListedStream = ShownStream & Head;

const version = sql<string>`xmin::text`.as('version');

export function listStreams(
  db: Db,
  workspaceId: string,
  filter: StreamFilter,
  page: PageRequest,
): Promise<ListedStream[]> {
  return selectPage(db, workspaceId, filter, page).select(SHOWN).select(version).execute();
}

/** Which rows `listStreams` gives, and in which state. */
export function listStreamHeads(
  db: Db,
  workspaceId: string,
  filter: StreamFilter,
  page: PageRequest,
): Promise<Head[]> {
  return selectPage(db, workspaceId, filter, page).select(['id', version]).execute();
}

/** Of any workspace: for ids that were listed in one. */
export function findListedStreams(db: Db, ids: readonly string[]): Promise<ListedStream[]> {
  return db
    .selectFrom('stream')
    .select(SHOWN)
    .select(version)
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
    .execute();
}

function selectPage(db: Db, workspaceId: string, filter: StreamFilter, page: PageRequest) {
  let query = db
    .selectFrom('stream')
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .where(pageCondition(page));
  if (filter.isLive !== undefined) query = query.where('is_live', '=', filter.isLive);
  if (filter.hasSignal !== undefined) query = query.where('has_signal', '=', filter.hasSignal);
  if (filter.enabled !== undefined) query = query.where('enabled', '=', filter.enabled);
  if (filter.visibility !== undefined) query = query.where('visibility', 'in', filter.visibility);
  return query.orderBy('id', page.order).limit(page.take);
}
