import Type from 'typebox';
import { anyKey, attributingKey, requiresWrite } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Limit, type Page, type Route } from '../../../http/route.ts';
import { Deleted, IdParams } from '../../../http/schema.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { HOUR_SEC, MINUTE_SEC } from '../../../kernel/durations.ts';
import type { Content } from './content.ts';
import { channelIdOf } from './rules.ts';
import {
  Channel,
  type ChannelLinks,
  ChannelPatch,
  ChannelPlaylist,
  ChannelStream,
  ChannelVideo,
  PublicChannel,
  toChannel,
  toPublicChannel,
} from './schemas.ts';
import { BANNER_MAX_BYTES, type Channels } from './service.ts';

const Id = Type.Object({
  id: Type.String({
    ...IdParams('chn', 'channel').properties.id,
    description: 'Channel ID, or `me`.',
  }),
});
const Username = Type.Object({
  username: Type.String({ description: "The channel's username.", examples: ['ada'] }),
});
/** Limit that is shared with related videos. */
const PUBLIC_READS: Limit = {
  bucket: 'public-reads',
  per: 'ip',
  max: 60,
  windowSec: MINUTE_SEC,
  refusal: 'text',
};
/** Limit of changes: an image may have to be fetched, and is encoded. */
const CHANGES: Limit = {
  bucket: 'channel',
  per: 'key',
  max: 120,
  windowSec: HOUR_SEC,
  refusal: 'RATE_LIMITED',
};

interface Deps {
  channels: Channels;
  content: Content;
  links: ChannelLinks;
  cursors: CursorCodec;
}

/**
 * Returns the public routes `/channel/{username}` and the owner's routes `/channels`
 * (docs/concepts/channels.md).
 */
export function channelRoutes(deps: Deps): Route[] {
  return [...publicRoutes(deps), ...ownRoutes(deps), ...bannerRoutes(deps)];
}

function publicRoutes({ channels, content, links, cursors }: Deps): Route[] {
  const list = <N extends 'videos' | 'streams' | 'playlists'>(
    name: N,
    said: {
      summary: string;
      description: string;
      schema: typeof ChannelVideo | typeof ChannelStream | typeof ChannelPlaylist;
    },
  ) =>
    defineRoute({
      ...attributingKey,
      operationId: `channel.${name}`,
      method: 'GET',
      path: `/channel/{username}/${name}`,
      summary: said.summary,
      description: said.description,
      limits: [PUBLIC_READS],
      params: Username,
      query: listQuery({}),
      reply: { status: 200, schema: said.schema, list: true },
      async handler(_context, { params, query }): Promise<Page<unknown>> {
        const workspaceId = await channels.workspaceNamed(params.username);
        const reader = new ListReader(cursors, `channel ${name}:${workspaceId}`, query);
        const rows: readonly { id: string }[] = await content[name](workspaceId, reader.request);
        return reader.page(rows, (row) => row);
      },
    });
  return [
    defineRoute({
      ...attributingKey,
      operationId: 'channel.get',
      method: 'GET',
      path: '/channel/{username}',
      summary: 'Get a channel',
      description: 'The public view.',
      limits: [PUBLIC_READS],
      params: Username,
      reply: { status: 200, schema: PublicChannel },
      async handler(_context, { params }) {
        const channel = await channels.named(params.username);
        const { workspaceId } = channel;
        const [liveStreams, tiers] = await Promise.all([
          content.live(workspaceId),
          content.tiers(workspaceId),
        ]);
        return toPublicChannel(channel, { liveStreams, tiers }, links);
      },
    }),
    list('videos', {
      summary: "List a channel's videos",
      description: 'PUBLIC videos that can be played.',
      schema: ChannelVideo,
    }),
    list('streams', {
      summary: "List a channel's streams",
      description: 'PUBLIC streams that are not disabled, live or not.',
      schema: ChannelStream,
    }),
    list('playlists', {
      summary: "List a channel's playlists",
      description: 'PUBLIC playlists. Only their PUBLIC videos are counted and shown.',
      schema: ChannelPlaylist,
    }),
  ];
}

function ownRoutes({ channels, links, cursors }: Deps): Route[] {
  return [
    defineRoute({
      ...anyKey,
      operationId: 'channels.list',
      method: 'GET',
      path: '/channels',
      summary: 'List your channels',
      description: 'Each workspace has one channel.',
      query: listQuery({}),
      reply: { status: 200, schema: Channel, list: true },
      async handler({ caller }, { query }) {
        const reader = new ListReader(cursors, `channels:${caller.workspaceId}`, query);
        const { after, createdAfter, createdBefore } = reader.request;
        const own = toChannel(await channels.own(caller, 'me'), caller.mode, links);
        const isWithin =
          (createdAfter === null || Date.parse(own.createdAt) > Date.parse(createdAfter)) &&
          (createdBefore === null || Date.parse(own.createdAt) < Date.parse(createdBefore));
        return reader.page(after === null && isWithin ? [own] : [], (row) => row);
      },
    }),
    defineRoute({
      ...anyKey,
      operationId: 'channels.get',
      method: 'GET',
      path: '/channels/{id}',
      summary: 'Get your channel',
      description: 'Includes its description, counts, and page URL.',
      params: Id,
      reply: { status: 200, schema: Channel },
      handler: async ({ caller }, { params }) =>
        toChannel(await channels.own(caller, params.id), caller.mode, links),
    }),
    defineRoute({
      ...requiresWrite('profile:write'),
      operationId: 'channels.update',
      method: 'PATCH',
      path: '/channels/{id}',
      summary: 'Update your channel',
      description: 'Omitted fields are unchanged; `links` is replaced as a whole.',
      limits: [CHANGES],
      params: Id,
      body: ChannelPatch,
      reply: { status: 200, schema: Channel },
      handler: async ({ caller }, { params, body }) =>
        toChannel(await channels.update(caller, params.id, body), caller.mode, links),
    }),
  ];
}

function bannerRoutes({ channels, links }: Deps): Route[] {
  const path = '/channels/{id}/banner';
  return [
    defineRoute({
      ...requiresWrite('profile:write'),
      operationId: 'channels.putBanner',
      method: 'PUT',
      path,
      summary: 'Set your channel banner',
      description: 'Accepts a PNG, JPEG or WebP image up to 5 MB; served as JPEG.',
      limits: [CHANGES],
      upload: { field: 'file', maxBytes: BANNER_MAX_BYTES },
      params: Id,
      optionalBody: true,
      reply: { status: 200, schema: Channel },
      async handler({ caller, upload }, { params }) {
        const shown = await channels.setBanner(caller, params.id, upload?.bytes ?? null);
        return toChannel(shown, caller.mode, links);
      },
    }),
    defineRoute({
      ...requiresWrite('profile:write'),
      operationId: 'channels.deleteBanner',
      method: 'DELETE',
      path,
      summary: 'Delete your channel banner',
      description: 'The response `id` is the channel ID.',
      params: Id,
      reply: { status: 200, schema: Deleted },
      async handler({ caller }, { params }) {
        const { workspaceId } = await channels.own(caller, params.id);
        await channels.removeBanner(caller, params.id);
        return { id: channelIdOf(workspaceId), deleted: true };
      },
    }),
  ];
}
