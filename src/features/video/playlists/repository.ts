import {
  type Insertable,
  type RawBuilder,
  type Selectable,
  type SqlBool,
  sql,
  type Updateable,
} from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { pageCondition } from '../../../platform/db/page.ts';
import { pagePerCombination } from '../../../platform/db/page-filters.ts';
import { type PlaylistItemTable, type PlaylistTable, VALUES } from '../../../platform/db/tables.generated.ts';
import { MAX_ITEMS, parsePosition } from './rules.ts';

export type PlaylistRow = Selectable<PlaylistTable>;
export type ItemRow = Selectable<PlaylistItemTable>;
export type PlaylistChange = Updateable<PlaylistTable>;
export type ItemChange = Updateable<PlaylistItemTable>;

/** A playlist with the values derived from its items. */
export interface PlaylistDetails extends PlaylistRow {
  item_count: number;
  /**
   * Duration of the playable items: deleted and failed videos count 0, items with a range the length of the
   * range.
   */
  total_duration_sec: number;
  /** The video whose thumbnail is shown: the chosen one while it is an item, else the first that has one. */
  cover_video_id: string | null;
}

/** @param of which of its videos count. */
const totals = (of: RawBuilder<SqlBool>) => sql<Omit<PlaylistDetails, keyof PlaylistRow>>`lateral (
  select count(*) as item_count,
    coalesce(sum(greatest(0, least(item.stop_sec, video.duration_sec) - coalesce(item.start_sec, 0)))
      filter (where video.deleted_at is null and video.status <> 'FAILED' and video.duration_sec is not null),
      0) as total_duration_sec
  from playlist_item item join video on video.id = item.video_id
  where item.playlist_id = playlist.id and ${of})`;

const cover = (of: RawBuilder<SqlBool>) => sql<Pick<PlaylistDetails, 'cover_video_id'>>`lateral (
  select item.video_id as cover_video_id
  from playlist_item item join video on video.id = item.video_id
  where item.playlist_id = playlist.id and video.deleted_at is null and ${of}
    and (video.image_folder is not null or video.thumbnail_file is not null)
  order by item.video_id is not distinct from playlist.thumbnail_video_id desc, item.position
  limit 1)`;

const ANY = sql<SqlBool>`true`;
/** Videos that everyone may watch. */
const PUBLIC = sql<SqlBool>`(video.visibility = 'PUBLIC' and video.status = 'READY' and video.deleted_at is null
  and video.taken_down_at is null)`;

function selectPlaylists(db: Db, workspaceId: string, of = ANY) {
  return db
    .selectFrom('playlist')
    .innerJoin(totals(of).as('totals'), (join) => join.onTrue())
    .leftJoin(cover(of).as('cover'), (join) => join.onTrue())
    .selectAll('playlist')
    .select(['totals.item_count', 'totals.total_duration_sec', 'cover.cover_video_id'])
    .where('playlist.workspace_id', '=', workspaceId);
}

export async function insertPlaylist(
  tx: Tx,
  workspaceId: string,
  playlist: Omit<Insertable<PlaylistTable>, 'workspace_id'>,
): Promise<PlaylistDetails> {
  const row = await tx
    .insertInto('playlist')
    .values({ ...playlist, workspace_id: workspaceId })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...row, item_count: 0, total_duration_sec: 0, cover_video_id: null };
}

export function getPlaylistDetails(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<PlaylistDetails | undefined> {
  return selectPlaylists(db, workspaceId).where('playlist.id', '=', id).executeTakeFirst();
}

/** Finds the playlist row without its items. */
export function findPlaylist(db: Db, workspaceId: string, id: string): Promise<PlaylistRow | undefined> {
  return selectRow(db, workspaceId, id).executeTakeFirst();
}

function selectRow(db: Db, workspaceId: string, id: string) {
  return db.selectFrom('playlist').selectAll().where('id', '=', id).where('workspace_id', '=', workspaceId);
}

export function listPlaylists(
  db: Db,
  workspaceId: string,
  filter: { visibility?: readonly PlaylistRow['visibility'][] | undefined },
  page: PageRequest,
): Promise<PlaylistDetails[]> {
  return selectPlaylists(db, workspaceId)
    .where(onPage(workspaceId, filter.visibility, page))
    .orderBy('playlist.id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

/** Lists PUBLIC playlists as if they contained only their PUBLIC videos. */
export function listPublicPlaylists(
  db: Db,
  workspaceId: string,
  page: PageRequest,
): Promise<PlaylistDetails[]> {
  return selectPlaylists(db, workspaceId, PUBLIC)
    .where(onPage(workspaceId, ['PUBLIC'], page))
    .orderBy('playlist.id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

function onPage(
  workspaceId: string,
  visibility: readonly PlaylistRow['visibility'][] | undefined,
  page: PageRequest,
): RawBuilder<SqlBool> {
  const listed = { table: 'playlist', prefix: 'pls', of: { workspace_id: workspaceId } } as const;
  return pagePerCombination(page, listed, { visibility: [visibility, VALUES.playlist.visibility] });
}

/** The row under a lock, which every change of the playlist and its items takes first. */
export function lockPlaylist(tx: Tx, workspaceId: string, id: string): Promise<PlaylistRow | undefined> {
  return selectRow(tx, workspaceId, id).forNoKeyUpdate().executeTakeFirst();
}

/** Stores the change and increments the sequence number of the playlist's events. */
export function updatePlaylist(tx: Tx, id: string, change: PlaylistChange): Promise<PlaylistRow> {
  return tx
    .updateTable('playlist')
    .set((eb) => ({ ...change, event_sequence: eb('event_sequence', '+', 1) }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deletePlaylist(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('playlist').where('id', '=', id).execute();
}

export async function countItems(tx: Tx, playlistId: string): Promise<number> {
  const row = await tx
    .selectFrom('playlist_item')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('playlist_id', '=', playlistId)
    .executeTakeFirstOrThrow();
  return row.count;
}

/** Every item of the playlist, in no order. */
export async function itemIds(db: Db, playlistId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('playlist_item')
    .select('id')
    .where('playlist_id', '=', playlistId)
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * One page by position. It starts behind the item that the last page ended with, wherever that stands now; where
 * it is gone, behind its old place.
 */
export function listItems(db: Db, playlistId: string, page: PageRequest): Promise<ItemRow[]> {
  let query = db
    .selectFrom('playlist_item')
    .selectAll()
    .where('playlist_id', '=', playlistId)
    .where(pageCondition({ ...page, after: null }, 'id', 'added_at'));
  if (page.after !== null) {
    const { position, itemId } = parsePosition(page.after);
    // Items after a removed one have moved up by one position.
    const place = page.order === 'asc' ? position - 1 : position;
    const last = sql<number>`coalesce((select position from playlist_item where id = ${itemId}
      and playlist_id = ${playlistId}), ${place}::integer)`;
    query = query.where('position', page.order === 'asc' ? '>' : '<', last);
  }
  return query.orderBy('position', page.order).limit(page.fetchLimit).execute();
}

export function findItem(tx: Tx, playlistId: string, id: string): Promise<ItemRow | undefined> {
  return tx
    .selectFrom('playlist_item')
    .selectAll()
    .where('id', '=', id)
    .where('playlist_id', '=', playlistId)
    .executeTakeFirst();
}

/** Makes room and inserts; under the lock of the playlist. */
export async function insertItem(tx: Tx, item: Insertable<PlaylistItemTable>): Promise<ItemRow> {
  await shift(tx, item.playlist_id, item.position, MAX_ITEMS, 1);
  return tx.insertInto('playlist_item').values(item).returningAll().executeTakeFirstOrThrow();
}

/** Writes the change; a new position moves the items in between by one. Under the lock of the playlist. */
export async function updateItem(tx: Tx, item: ItemRow, change: ItemChange): Promise<ItemRow> {
  const { playlist_id: playlistId, position: from } = item;
  const to = change.position ?? from;
  if (to < from) await shift(tx, playlistId, to, from - 1, 1);
  if (to > from) await shift(tx, playlistId, from + 1, to, -1);
  return tx
    .updateTable('playlist_item')
    .set(change)
    .where('id', '=', item.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Removes the item and closes the gap; under the lock of the playlist. */
export async function deleteItem(tx: Tx, item: ItemRow): Promise<void> {
  await tx.deleteFrom('playlist_item').where('id', '=', item.id).execute();
  await shift(tx, item.playlist_id, item.position + 1, MAX_ITEMS, -1);
}

/** Moves the items at the positions `first` to `last` by `by`. */
async function shift(tx: Tx, playlistId: string, first: number, last: number, by: 1 | -1): Promise<void> {
  await tx
    .updateTable('playlist_item')
    .set((eb) => ({ position: eb('position', '+', by) }))
    .where('playlist_id', '=', playlistId)
    .where('position', '>=', first)
    .where('position', '<=', last)
    .execute();
}

/**
 * Puts the items in the order of `ids`, which are exactly its items; under the lock of the playlist.
 *
 * @returns whether any has moved.
 */
export async function reorder(tx: Tx, playlistId: string, ids: readonly string[]): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update playlist_item item set position = given.place - 1
    from unnest(${[...ids]}::text[]) with ordinality as given (id, place)
    where item.id = given.id and item.playlist_id = ${playlistId} and item.position <> given.place - 1`.execute(
    tx,
  );
  return (numAffectedRows ?? 0n) > 0n;
}

export async function hasItemOf(tx: Tx, playlistId: string, videoId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('playlist_item')
    .select('id')
    .where('playlist_id', '=', playlistId)
    .where('video_id', '=', videoId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
