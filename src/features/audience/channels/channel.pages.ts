import formBody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebAssets } from '../../../http/assets.ts';
import { failurePage, formField, rejectCrossSite, sendFailure } from '../../../http/forms.ts';
import { type Page, sendPage } from '../../../http/page.ts';
import { ListReader } from '../../../http/pagination.ts';
import { limitByIp } from '../../../http/plugins/limits.ts';
import type { RequestCounters } from '../../../http/ports.ts';
import type { Limit } from '../../../http/route.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import type { RenderFollowBox } from '../playback/index.ts';
import { channelPage } from './channel.views.ts';
import type { Content } from './content.ts';
import { type ChannelLinks, toPublicChannel } from './schemas.ts';
import type { Channels } from './service.ts';

interface Deps {
  channels: Pick<Channels, 'named' | 'workspaceNamed'>;
  content: Pick<Content, 'live' | 'tiers' | 'videos'>;
  links: ChannelLinks;
  cursors: CursorCodec;
  followBox: RenderFollowBox;
  /**
   * Creates a checkout for a tier, from which the buyer returns to the page.
   *
   * @returns the URL of the checkout. @throws {AppError} NOT_FOUND, CONFLICT.
   */
  join(workspaceId: string, tierId: string, pageUrl: string): Promise<string>;
  memberPath(username: string): string;
  assets: WebAssets;
  counters: Pick<RequestCounters, 'window'>;
  mediaOrigins: readonly string[];
  /** URL without a trailing slash. */
  publicUrl: string;
}

type Query = { cursor?: unknown; checkout_id?: unknown };
type ChannelPageRequest = FastifyRequest<{ Params: { username: string }; Querystring: Query; Body: unknown }>;

const FORM_BYTES = 4096;
const MISSING = {
  heading: 'Channel not found.',
  text: 'The URL may be mistyped, or the channel may have been deleted.',
};
const VIDEOS = 24;
const JOINS: Limit = { bucket: 'join', per: 'ip', max: 60, windowSec: 600, refusal: 'RATE_LIMITED' };

/**
 * Registers `GET /@:username`, the page of a channel, and the form with which visitors join a tier. It works
 * without a script.
 */
export function channelPages(deps: Deps): (app: FastifyInstance) => void {
  return (app) => {
    // Separate scope, because all other bodies are JSON.
    app.register(async (scope) => {
      await scope.register(formBody, { bodyLimit: FORM_BYTES });
      scope.addHook('onRequest', rejectCrossSite);
      scope.setErrorHandler((error, _request, reply) =>
        sendFailure(deps.assets, error, reply, (failure) => failurePage(failure, MISSING)),
      );
      scope.get('/@:username', (request: ChannelPageRequest, reply) => show(deps, request, reply));
      scope.post('/@:username/join', async ({ params, body, ip }: ChannelPageRequest, reply) => {
        await limitByIp(deps, JOINS, ip);
        const workspaceId = await deps.channels.workspaceNamed(params.username);
        const url = await deps.join(
          workspaceId,
          formField(body, 'tier'),
          deps.links.pageUrl(params.username),
        );
        return reply.header('Cache-Control', 'no-store').redirect(url, 303);
      });
    });
  };
}

async function show(deps: Deps, request: ChannelPageRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { username } = request.params;
  // Usernames are lower case, but people type them in any case.
  const lower = username.toLowerCase();
  if (lower !== username) return reply.redirect(`/@${encodeURIComponent(lower)}`, 301);
  return sendPage(reply, deps.assets, await pageOf(deps, request));
}

async function pageOf(deps: Deps, request: ChannelPageRequest): Promise<Page> {
  const { content, links, cursors, publicUrl } = deps;
  const shown = await deps.channels.named(request.params.username);
  const { workspaceId, profile } = shown;
  const { username } = profile;
  const cursor = formField(request.query, 'cursor');
  const reader = new ListReader(cursors, `channel page:${workspaceId}`, {
    ...{ limit: VIDEOS, order: 'desc' },
    ...(cursor === '' ? {} : { cursor }),
  });
  const [liveStreams, tiers, rows] = await Promise.all([
    content.live(workspaceId),
    content.tiers(workspaceId),
    content.videos(workspaceId, reader.request),
  ]);
  const channel = toPublicChannel(shown, { liveStreams, tiers }, links);
  const creator = { accountId: profile.id, workspaceId, username, name: channel.displayName };
  const { items, nextCursor } = reader.page(rows, (row) => row);
  return channelPage({
    channel,
    follow: await deps.followBox(request, creator, `/@${username}`),
    videos: items,
    nextUrl: nextCursor === null ? null : `/@${username}?cursor=${encodeURIComponent(nextCursor)}`,
    isLater: cursor !== '',
    memberPath: deps.memberPath(username),
    isBack: formField(request.query, 'checkout_id') !== '',
    pageUrl: links.pageUrl(username),
    mediaOrigins: deps.mediaOrigins,
    local: (url) => (url.startsWith(`${publicUrl}/`) ? url.slice(publicUrl.length) : url),
  });
}
