import Type from 'typebox';
import { reads, writes } from '../../http/access.ts';
import { ListReader, listQuery } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { CommaList, Deleted, IdParams, PathId, parseList } from '../../http/schema.ts';
import type { Caller } from '../../kernel/access.ts';
import type { CursorCodec } from '../../kernel/cursor.ts';
import { VALUES } from '../../platform/db/tables.generated.ts';
import type { ItemRow, ShownPlaylist } from './repository.ts';
import {
  Playlist,
  PlaylistIn,
  PlaylistItem,
  PlaylistItemIn,
  PlaylistItemPatch,
  PlaylistOrder,
  PlaylistPatch,
  toItem,
  toPlaylist,
} from './schemas.ts';
import { itemPosition, type Playlists } from './service.ts';

const Id = IdParams('pls', 'playlist');

const ItemId = Type.Object({ ...Id.properties, itemId: PathId('pli', 'item') });

/** In the order of the playlist unless asked otherwise. */
const ItemsQuery = Type.Object({
  ...listQuery({}).properties,
  order: Type.Unsafe<'asc' | 'desc'>({
    type: 'string',
    enum: ['asc', 'desc'],
    default: 'asc',
    description: 'By their places in the playlist.',
  }),
});

interface Deps {
  playlists: Playlists;
  cursors: CursorCodec;
}

/** `/playlists` (docs/concepts/playlists.md). */
export function playlistRoutes(deps: Deps): Route[] {
  return [...listRoutes(deps), ...itemRoutes(deps)];
}

function listRoutes({ playlists, cursors }: Deps): Route[] {
  const out = async ({ workspaceId, mode }: Caller, row: ShownPlaylist) =>
    toPlaylist(row, await coversOf(playlists, workspaceId, [row]), mode);
  return [
    defineRoute({
      ...writes('playlists:write'),
      operationId: 'playlists.create',
      method: 'POST',
      path: '/playlists',
      summary: 'Create a playlist',
      description: 'Empty, and PUBLIC unless you say otherwise.',
      body: PlaylistIn,
      reply: { status: 201, schema: Playlist },
      handler: async ({ caller }, { body }) => out(caller, await playlists.create(caller.workspaceId, body)),
    }),
    defineRoute({
      ...reads('playlists:read'),
      operationId: 'playlists.list',
      method: 'GET',
      path: '/playlists',
      summary: 'List playlists',
      description: 'With the number of items and their total duration, without the items.',
      query: listQuery({
        visibility: CommaList(VALUES.playlist.visibility),
      }),
      reply: { status: 200, schema: Playlist, list: true },
      async handler({ caller }, { query }) {
        const { workspaceId, mode } = caller;
        const list = new ListReader(cursors, `playlists:${workspaceId}`, query);
        const visibility = parseList('visibility', VALUES.playlist.visibility, query.visibility);
        const rows = await playlists.list(workspaceId, { visibility }, list.request);
        const covers = await coversOf(playlists, workspaceId, rows);
        return list.page(rows, (row) => toPlaylist(row, covers, mode));
      },
    }),
    defineRoute({
      ...reads('playlists:read'),
      operationId: 'playlists.get',
      method: 'GET',
      path: '/playlists/{id}',
      summary: 'Get a playlist',
      description: 'Without its items, which have a list of their own.',
      params: Id,
      reply: { status: 200, schema: Playlist },
      handler: async ({ caller }, { params }) =>
        out(caller, await playlists.get(caller.workspaceId, params.id)),
    }),
    defineRoute({
      ...writes('playlists:write'),
      operationId: 'playlists.update',
      method: 'PATCH',
      path: '/playlists/{id}',
      summary: 'Change a playlist',
      description: 'Members that are left out stay as they are; null empties what may be empty.',
      params: Id,
      body: PlaylistPatch,
      reply: { status: 200, schema: Playlist },
      handler: async ({ caller }, { params, body }) =>
        out(caller, await playlists.update(caller.workspaceId, params.id, body)),
    }),
    defineRoute({
      ...writes('playlists:write'),
      operationId: 'playlists.delete',
      method: 'DELETE',
      path: '/playlists/{id}',
      summary: 'Delete a playlist',
      description: 'Its videos stay.',
      params: Id,
      reply: { status: 200, schema: Deleted },
      async handler({ caller }, { params }) {
        await playlists.remove(caller.workspaceId, params.id);
        return { id: params.id, deleted: true };
      },
    }),
    defineRoute({
      ...writes('playlists:write'),
      operationId: 'playlists.reorder',
      method: 'PUT',
      path: '/playlists/{id}/items/order',
      summary: 'Put the items of a playlist in order',
      description: '409 when the playlist was changed meanwhile: read its items again.',
      params: Id,
      body: PlaylistOrder,
      reply: { status: 200, schema: Playlist },
      errors: ['CONFLICT'],
      handler: async ({ caller }, { params, body }) =>
        out(caller, await playlists.reorder(caller.workspaceId, params.id, body)),
    }),
  ];
}

function itemRoutes({ playlists, cursors }: Deps): Route[] {
  const out = async (workspaceId: string, row: ItemRow) =>
    toItem(row, await playlists.videosOf(workspaceId, [row.video_id]));
  return [
    defineRoute({
      ...reads('playlists:read'),
      operationId: 'playlists.items',
      method: 'GET',
      path: '/playlists/{id}/items',
      summary: 'List the items of a playlist',
      description: 'By position. The item of a deleted video stays, with `available: false`.',
      params: Id,
      query: ItemsQuery,
      reply: { status: 200, schema: PlaylistItem, list: true },
      async handler({ caller: { workspaceId } }, { params, query }) {
        const list = new ListReader(cursors, `playlist items:${workspaceId}:${params.id}`, query);
        const rows = await playlists.items(workspaceId, params.id, list.request);
        const videos = await playlists.videosOf(
          workspaceId,
          rows.map((row) => row.video_id),
        );
        const placed = rows.map((row) => ({ id: itemPosition(row), row }));
        return list.page(placed, ({ row }) => toItem(row, videos));
      },
    }),
    defineRoute({
      ...writes('playlists:write'),
      operationId: 'playlists.addItem',
      method: 'POST',
      path: '/playlists/{id}/items',
      summary: 'Add a video to a playlist',
      description: 'At the end unless `position` is given. 409 when the playlist has 5000 items.',
      params: Id,
      body: PlaylistItemIn,
      reply: { status: 201, schema: PlaylistItem },
      errors: ['CONFLICT'],
      handler: async ({ caller: { workspaceId } }, { params, body }) =>
        out(workspaceId, await playlists.addItem(workspaceId, params.id, body)),
    }),
    defineRoute({
      ...writes('playlists:write'),
      operationId: 'playlists.updateItem',
      method: 'PATCH',
      path: '/playlists/{id}/items/{itemId}',
      summary: 'Move or change an item of a playlist',
      description: 'A `position` moves it and shifts the others. Members that are left out stay as they are.',
      params: ItemId,
      body: PlaylistItemPatch,
      reply: { status: 200, schema: PlaylistItem },
      handler: async ({ caller: { workspaceId } }, { params, body }) =>
        out(workspaceId, await playlists.updateItem(workspaceId, params.id, params.itemId, body)),
    }),
    defineRoute({
      ...writes('playlists:write'),
      operationId: 'playlists.removeItem',
      method: 'DELETE',
      path: '/playlists/{id}/items/{itemId}',
      summary: 'Take an item out of a playlist',
      description: 'The items behind it move up. The video stays.',
      params: ItemId,
      reply: { status: 200, schema: Deleted },
      async handler({ caller }, { params }) {
        await playlists.removeItem(caller.workspaceId, params.id, params.itemId);
        return { id: params.itemId, deleted: true };
      },
    }),
  ];
}

/** The videos whose thumbnails the playlists show. */
function coversOf(playlists: Playlists, workspaceId: string, rows: readonly ShownPlaylist[]) {
  return playlists.videosOf(
    workspaceId,
    rows.flatMap((row) => (row.cover_video_id === null ? [] : [row.cover_video_id])),
  );
}
