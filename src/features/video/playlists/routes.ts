import Type from 'typebox';
import { requiresRead, requiresWrite } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { CommaList, Deleted, IdParams, PathId, parseList } from '../../../http/schema.ts';
import type { Caller } from '../../../kernel/access.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { ItemRow, PlaylistDetails } from './repository.ts';
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

/** Items are in playlist order by default. */
const ItemsQuery = Type.Object({
  ...listQuery({}).properties,
  order: Type.Unsafe<'asc' | 'desc'>({
    type: 'string',
    enum: ['asc', 'desc'],
    default: 'asc',
    description: 'Sort by position in the playlist.',
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
  const out = async ({ workspaceId, mode }: Caller, row: PlaylistDetails) =>
    toPlaylist(row, await coversOf(playlists, workspaceId, [row]), mode);
  return [
    defineRoute({
      ...requiresWrite('playlists:write'),
      operationId: 'playlists.create',
      method: 'POST',
      path: '/playlists',
      summary: 'Create a playlist',
      description: 'Created empty, and PUBLIC by default.',
      body: PlaylistIn,
      reply: { status: 201, schema: Playlist },
      handler: async ({ caller }, { body }) => out(caller, await playlists.create(caller.workspaceId, body)),
    }),
    defineRoute({
      ...requiresRead('playlists:read'),
      operationId: 'playlists.list',
      method: 'GET',
      path: '/playlists',
      summary: 'List playlists',
      description: 'Includes item counts and total durations, but not the items.',
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
      ...requiresRead('playlists:read'),
      operationId: 'playlists.get',
      method: 'GET',
      path: '/playlists/{id}',
      summary: 'Get a playlist',
      description: 'Items are listed separately.',
      params: Id,
      reply: { status: 200, schema: Playlist },
      handler: async ({ caller }, { params }) =>
        out(caller, await playlists.get(caller.workspaceId, params.id)),
    }),
    defineRoute({
      ...requiresWrite('playlists:write'),
      operationId: 'playlists.update',
      method: 'PATCH',
      path: '/playlists/{id}',
      summary: 'Update a playlist',
      description: 'Omitted fields are unchanged; null clears nullable fields.',
      params: Id,
      body: PlaylistPatch,
      reply: { status: 200, schema: Playlist },
      handler: async ({ caller }, { params, body }) =>
        out(caller, await playlists.update(caller.workspaceId, params.id, body)),
    }),
    defineRoute({
      ...requiresWrite('playlists:write'),
      operationId: 'playlists.delete',
      method: 'DELETE',
      path: '/playlists/{id}',
      summary: 'Delete a playlist',
      description: 'Its videos are not deleted.',
      params: Id,
      reply: { status: 200, schema: Deleted },
      async handler({ caller }, { params }) {
        await playlists.remove(caller.workspaceId, params.id);
        return { id: params.id, deleted: true };
      },
    }),
    defineRoute({
      ...requiresWrite('playlists:write'),
      operationId: 'playlists.reorder',
      method: 'PUT',
      path: '/playlists/{id}/items/order',
      summary: 'Reorder playlist items',
      description: 'Returns 409 if the playlist changed in the meantime: fetch its items again.',
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
      ...requiresRead('playlists:read'),
      operationId: 'playlists.items',
      method: 'GET',
      path: '/playlists/{id}/items',
      summary: 'List playlist items',
      description: 'Ordered by position. Items of deleted videos stay, with `available: false`.',
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
      ...requiresWrite('playlists:write'),
      operationId: 'playlists.addItem',
      method: 'POST',
      path: '/playlists/{id}/items',
      summary: 'Add a video to a playlist',
      description: 'Appended if `position` is omitted. Returns 409 at 5,000 items.',
      params: Id,
      body: PlaylistItemIn,
      reply: { status: 201, schema: PlaylistItem },
      errors: ['CONFLICT'],
      handler: async ({ caller: { workspaceId } }, { params, body }) =>
        out(workspaceId, await playlists.addItem(workspaceId, params.id, body)),
    }),
    defineRoute({
      ...requiresWrite('playlists:write'),
      operationId: 'playlists.updateItem',
      method: 'PATCH',
      path: '/playlists/{id}/items/{itemId}',
      summary: 'Update a playlist item',
      description: '`position` moves the item and shifts the others. Omitted fields are unchanged.',
      params: ItemId,
      body: PlaylistItemPatch,
      reply: { status: 200, schema: PlaylistItem },
      handler: async ({ caller: { workspaceId } }, { params, body }) =>
        out(workspaceId, await playlists.updateItem(workspaceId, params.id, params.itemId, body)),
    }),
    defineRoute({
      ...requiresWrite('playlists:write'),
      operationId: 'playlists.removeItem',
      method: 'DELETE',
      path: '/playlists/{id}/items/{itemId}',
      summary: 'Remove a playlist item',
      description: 'Later items move up. The video is not deleted.',
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
function coversOf(playlists: Playlists, workspaceId: string, rows: readonly PlaylistDetails[]) {
  return playlists.videosOf(
    workspaceId,
    rows.flatMap((row) => (row.cover_video_id === null ? [] : [row.cover_video_id])),
  );
}
