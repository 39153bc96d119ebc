import type { AppendEvent, Events } from '../../../events/index.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { AppError, badRequest, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { playlistCreated, playlistDeleted, playlistUpdated } from './events.ts';
import type { ItemChange, ItemRow, PlaylistChange, PlaylistDetails, PlaylistRow } from './repository.ts';
import * as repository from './repository.ts';
import { isPermutation, isSpan, MAX_ITEMS, type PlaybackRange } from './rules.ts';
import type {
  KnownVideos,
  PlaylistIn,
  PlaylistItemIn,
  PlaylistItemPatch,
  PlaylistOrder,
  PlaylistPatch,
} from './schemas.ts';

/** Reads the video details that playlists show. */
export type PlaylistVideos = (workspaceId: string, ids: readonly string[]) => Promise<KnownVideos>;

export interface PlaylistDeps {
  db: Db;
  events: Events;
  clock: Clock;
  /** Returns the displayed details of videos of the workspace; deleted videos are omitted. */
  videosOf: PlaylistVideos;
  /** Reports whether the workspace has such a video that is not deleted. */
  hasVideo(db: Db, workspaceId: string, videoId: string): Promise<boolean>;
}

/**
 * Playlists of a workspace (docs/concepts/playlists.md). An id that is not the workspace's is NOT_FOUND, be it of a
 * playlist, an item or a video. Every change moves `updatedAt` on and appends `playlist.updated`.
 */
export interface Playlists {
  create(workspaceId: string, input: PlaylistIn): Promise<PlaylistDetails>;
  list(
    workspaceId: string,
    filter: { visibility?: readonly PlaylistRow['visibility'][] | undefined },
    page: PageRequest,
  ): Promise<PlaylistDetails[]>;
  get(workspaceId: string, id: string): Promise<PlaylistDetails>;
  /** @throws {AppError} BAD_REQUEST, field `thumbnailVideoId`, for a video that is not in the playlist. */
  update(workspaceId: string, id: string, input: PlaylistPatch): Promise<PlaylistDetails>;
  remove(workspaceId: string, id: string): Promise<void>;
  /** One page of items; `page.after` is what `itemPosition` made of the last one. */
  items(workspaceId: string, id: string, page: PageRequest): Promise<ItemRow[]>;
  /**
   * Appends an item unless `position` is set.
   *
   * @throws {AppError} CONFLICT when it is full; BAD_REQUEST, field `position` beyond the end or `stopSec`
   *   not after `startSec`.
   */
  addItem(workspaceId: string, id: string, input: PlaylistItemIn): Promise<ItemRow>;
  /** @throws {AppError} BAD_REQUEST as `addItem`. */
  updateItem(workspaceId: string, id: string, itemId: string, input: PlaylistItemPatch): Promise<ItemRow>;
  removeItem(workspaceId: string, id: string, itemId: string): Promise<void>;
  /**
   * @throws {AppError} BAD_REQUEST, field `itemIds`, when they are not exactly the items; CONFLICT when the playlist
   * was changed since `updatedAt`, or since the request came.
   */
  reorder(workspaceId: string, id: string, input: PlaylistOrder): Promise<PlaylistDetails>;
  /** Loads the videos of the rows of one response. */
  videosOf: PlaylistDeps['videosOf'];
}

/** Returns the cursor of a page that ends with this item. */
export function itemPosition({ position, id }: ItemRow): string {
  return `${position}.${id}`;
}

/** Context of one change to a playlist. */
interface Change {
  tx: Tx;
  row: PlaylistRow;
  /** Advances `updatedAt` and emits the event of the change; called at most once per change. */
  save(change?: PlaylistChange): Promise<PlaylistRow>;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: an object of short methods around one lock.
export function createPlaylists({ db, events, clock, videosOf, hasVideo }: PlaylistDeps): Playlists {
  const get = async (workspaceId: string, id: string) => {
    const row = await repository.getPlaylistDetails(db, workspaceId, id);
    if (row === undefined) throw notFound();
    return row;
  };
  const find = async (workspaceId: string, id: string) => {
    const row = await repository.findPlaylist(db, workspaceId, id);
    if (row === undefined) throw notFound();
    return row;
  };

  /** One change under the lock of the playlist; the changes of one playlist come one after the other. */
  const locked = <T>(workspaceId: string, id: string, work: (change: Change) => Promise<T>): Promise<T> =>
    events.transaction(async (tx, append) => {
      const row = await repository.lockPlaylist(tx, workspaceId, id);
      if (row === undefined) throw notFound();
      return work({ tx, row, save: (change = {}) => save(tx, append, row, change, clock.ms()) });
    });

  return {
    get,
    videosOf,
    create: (workspaceId, input) =>
      events.transaction(async (tx, append) => {
        const now = clock.now();
        const row = await repository.insertPlaylist(tx, workspaceId, {
          id: newId('pls', clock),
          title: input.title,
          description: input.description ?? null,
          visibility: input.visibility ?? 'PUBLIC',
          event_sequence: 1,
          created_at: now,
          updated_at: now,
        });
        await emit(append, playlistCreated, row, 0);
        return row;
      }),
    list: (workspaceId, filter, page) => repository.listPlaylists(db, workspaceId, filter, page),
    update: async (workspaceId, id, input) => {
      await locked(workspaceId, id, (change) => updateSettings(change, input));
      return get(workspaceId, id);
    },
    remove: (workspaceId, id) =>
      events.transaction(async (tx, append) => {
        const row = await repository.lockPlaylist(tx, workspaceId, id);
        if (row === undefined) throw notFound();
        const itemCount = await repository.countItems(tx, id);
        await repository.deletePlaylist(tx, id);
        await emit(append, playlistDeleted, { ...row, event_sequence: row.event_sequence + 1 }, itemCount);
      }),
    async items(workspaceId, id, page) {
      await find(workspaceId, id);
      return repository.listItems(db, id, page);
    },
    addItem: (workspaceId, id, input) =>
      locked(workspaceId, id, async (change) => {
        if (!(await hasVideo(change.tx, workspaceId, input.videoId))) throw notFound('videoId');
        return addItem(change, input, clock.now());
      }),
    updateItem: (workspaceId, id, itemId, input) =>
      locked(workspaceId, id, (change) => updateItem(change, itemId, input)),
    removeItem: (workspaceId, id, itemId) =>
      locked(workspaceId, id, async ({ tx, save }) => {
        const item = await repository.findItem(tx, id, itemId);
        if (item === undefined) throw notFound();
        await repository.deleteItem(tx, item);
        await save();
      }),
    async reorder(workspaceId, id, { itemIds, updatedAt }) {
      const known = await find(workspaceId, id);
      const since = updatedAt === undefined ? known.updated_at.getTime() : Date.parse(updatedAt);
      if (since !== known.updated_at.getTime()) throw changedMeanwhile();
      if (!isPermutation(itemIds, await repository.itemIds(db, id))) {
        throw badRequest('itemIds', 'itemIds must name every item of the playlist exactly once.');
      }
      await locked(workspaceId, id, async ({ tx, row, save }) => {
        if (row.updated_at.getTime() !== since) throw changedMeanwhile();
        if (await repository.reorder(tx, id, itemIds)) await save();
      });
      return get(workspaceId, id);
    },
  };
}

function changedMeanwhile(): AppError {
  return new AppError('CONFLICT', {
    message: 'The playlist was changed in the meantime. Fetch its items again.',
  });
}

async function save(
  tx: Tx,
  append: AppendEvent,
  row: PlaylistRow,
  change: PlaylistChange,
  nowMs: number,
): Promise<PlaylistRow> {
  // Always later than before, so that comparing clients see every change.
  const updated_at = dateFromMs(Math.max(nowMs, row.updated_at.getTime() + 1));
  const saved = await repository.updatePlaylist(tx, row.id, { ...change, updated_at });
  await emit(append, playlistUpdated, saved, await repository.countItems(tx, row.id));
  return saved;
}

async function emit(
  append: AppendEvent,
  event: typeof playlistCreated,
  row: PlaylistRow,
  itemCount: number,
): Promise<void> {
  const { id: playlistId, title, event_sequence: sequence, workspace_id: workspaceId } = row;
  await append(event, workspaceId, { playlistId, title, itemCount, sequence });
}

async function updateSettings({ tx, row, save }: Change, input: PlaylistPatch): Promise<void> {
  const { title = row.title, description = row.description, visibility = row.visibility } = input;
  const { thumbnailVideoId = row.thumbnail_video_id } = input;
  const isChosen = thumbnailVideoId !== null && thumbnailVideoId !== row.thumbnail_video_id;
  if (isChosen && !(await repository.hasItemOf(tx, row.id, thumbnailVideoId))) {
    throw badRequest('thumbnailVideoId', 'thumbnailVideoId must be a video in the playlist.');
  }
  const isSame =
    title === row.title &&
    description === row.description &&
    visibility === row.visibility &&
    thumbnailVideoId === row.thumbnail_video_id;
  if (isSame) return;
  await save({ title, description, visibility, thumbnail_video_id: thumbnailVideoId });
}

async function addItem({ tx, row, save }: Change, input: PlaylistItemIn, now: Date): Promise<ItemRow> {
  const { videoId, position, note = null, startSec = null, stopSec = null } = input;
  checkSpan({ startSec, stopSec });
  const count = await repository.countItems(tx, row.id);
  if (count >= MAX_ITEMS) {
    throw new AppError('CONFLICT', { message: `Limit of ${MAX_ITEMS} items per playlist reached.` });
  }
  const item = await repository.insertItem(tx, {
    id: newId('pli'),
    playlist_id: row.id,
    video_id: videoId,
    position: checkPosition(position ?? count, count),
    note,
    start_sec: startSec,
    stop_sec: stopSec,
    added_at: now,
  });
  await save();
  return item;
}

async function updateItem(
  { tx, row, save }: Change,
  itemId: string,
  input: PlaylistItemPatch,
): Promise<ItemRow> {
  const item = await repository.findItem(tx, row.id, itemId);
  if (item === undefined) throw notFound();
  const { position = item.position, note = item.note } = input;
  const { startSec = item.start_sec, stopSec = item.stop_sec } = input;
  checkSpan({ startSec, stopSec });
  checkPosition(position, (await repository.countItems(tx, row.id)) - 1);
  const change = { position, note, start_sec: startSec, stop_sec: stopSec } satisfies ItemChange;
  const isSame =
    position === item.position &&
    note === item.note &&
    startSec === item.start_sec &&
    stopSec === item.stop_sec;
  if (isSame) return item;
  const updated = await repository.updateItem(tx, item, change);
  await save();
  return updated;
}

function checkSpan(span: PlaybackRange): void {
  if (!isSpan(span)) throw badRequest('stopSec', 'stopSec must be after startSec.');
}

function checkPosition(position: number, last: number): number {
  if (position > last) throw badRequest('position', `position must be at most ${last}.`);
  return position;
}
