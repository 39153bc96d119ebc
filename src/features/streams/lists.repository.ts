import { sql } from 'kysely';
import type { PageRequest } from '../../kernel/page.ts';
import type { Db } from '../../platform/db/index.ts';
import { pageCondition } from '../../platform/db/page.ts';
import { type Head, server } from '../../platform/db/versions.ts';
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
  'workspace_id',
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
/** What is needed to show its key. */
const KEYS = ['key_hash', 'key_encrypted'] as const satisfies readonly (keyof StreamRow)[];

export type KeyedRow = Pick<StreamRow, (typeof KEYS)[number]>;
/** With the transaction that wrote the row: until another one does, it is the same. */
export type ListedStream = ShownStream & KeyedRow & Head;

const version = sql<string>`xmin::text || ${server}`.as('version');

export function listStreams(
  db: Db,
  workspaceId: string,
  filter: StreamFilter,
  page: PageRequest,
): Promise<ListedStream[]> {
  return selectPage(db, workspaceId, filter, page).select(SHOWN).select(KEYS).select(version).execute();
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

/** Of any workspace: the caller compares. */
export function findListedStreams(db: Db, ids: readonly string[]): Promise<ListedStream[]> {
  return selectThese(db, ids).select(SHOWN).select(KEYS).select(version).execute();
}

/** In which state these rows are. */
export function findStreamHeads(db: Db, ids: readonly string[]): Promise<Head[]> {
  return selectThese(db, ids).select(['id', version]).execute();
}

function selectThese(db: Db, ids: readonly string[]) {
  return db
    .selectFrom('stream')
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
    .where('deleted_at', 'is', null);
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
