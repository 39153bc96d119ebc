import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebAssets } from '../../../../http/assets.ts';
import { type Page, sendPage } from '../../../../http/page.ts';
import type { Clock } from '../../../../kernel/clock.ts';
import type { Snapshots } from '../../../../kernel/snapshots.ts';
import { isLinkAccessible } from '../../../../kernel/visibility.ts';
import { html, type SafeHtml } from '../../../../platform/html.ts';
import type { Grant } from '../access.rules.ts';
import type { Access, AccessRequest } from '../access.service.ts';
import type { Impressions } from '../impressions.ts';
import { unlessUnavailable } from '../last-known.ts';
import { creatorName, EMBED_SIZE, notFoundPages, type RenderFollowBox } from '../media.views.ts';
import { type Embeddable, oembedUrl } from '../oembed.pages.ts';
import { followersOnlyPage, isPurchasable, paywallPage, type Sellers } from '../paywall.ts';
import { viewerOf } from '../reply.ts';
import type { VideoSnapshot } from '../videos/snapshot.ts';
import { lastRecordings } from './last-recordings.ts';
import type { StreamSnapshot } from './snapshot.ts';
import { embedBody, type StreamViewState, streamBody, streamHead, type WatchView } from './watch.views.ts';

/**
 * Renderer of the chat next to the player; returns null for a stream without chat.
 *
 * @param suffix the token that admitted the visitor, as a query string.
 */
export type LiveChat = (streamId: string, suffix: string, asking: AccessRequest) => Promise<SafeHtml | null>;

interface Deps {
  streams: Snapshots<StreamSnapshot>;
  /** Video IDs of broadcasts by session ID. */
  recordings: Snapshots<readonly string[]>;
  videos: Snapshots<VideoSnapshot>;
  access: Access;
  sellers: Sellers;
  reception: Impressions;
  assets: WebAssets;
  clock: Clock;
  /** URL without a trailing slash; canonical and shared URLs begin with it. */
  publicUrl: string;
  /** Host names of the platform. Its own pages may show the player, whichever sites an account lists. */
  platformHosts: readonly string[];
  /** Reports whether viewers can watch in real time now. */
  hasWhep(): boolean;
  /** Additional origins from which the browser fetches the DVR window. */
  mediaOrigins: readonly string[];
  chat?: LiveChat;
  followBox?: RenderFollowBox;
}

type WatchRequest = FastifyRequest<{
  Params: { streamId: string };
  Querystring: { token?: string; chat?: string; checkout_id?: string };
}>;

const CARD = 'site/card.png';
const CARD_SIZE = { width: 1200, height: 630 };

/**
 * Registers `GET /watch/:streamId` and `GET /embed/:streamId`, the public pages of a stream. Hidden and
 * missing streams get the same 404. `?token=` is a playback or preview token, which is passed to the
 * playlist. `?chat=1` shows the chat in the embedded page as well.
 */
export function liveWatchPages(deps: Deps): (app: FastifyInstance) => void {
  const { assets } = deps;
  return (app) => {
    app.get('/watch/:streamId', async (request: WatchRequest, reply: FastifyReply) => {
      const view = await viewOf(deps, request, { withChat: true, isWatch: true });
      if (view !== null) return sendPage(reply, assets, watchPage(deps, view));
      return sendPage(reply, assets, (await lockedStream(deps, request)) ?? MISSING.watch);
    });
    app.get('/embed/:streamId', async (request: WatchRequest, reply: FastifyReply) => {
      const view = await viewOf(deps, request, { withChat: request.query.chat === '1', isWatch: false });
      return sendPage(reply, assets, view === null ? MISSING.embed : embedPage(deps, view));
    });
  };
}

/**
 * Returns the page of a members-only or followers-only stream for viewers without access; null for other
 * streams.
 */
async function lockedStream(deps: Deps, request: WatchRequest): Promise<Page | null> {
  const { streams, sellers } = deps;
  const { params, query } = request;
  const stream = await streams.get(params.streamId);
  if (stream?.visibility === 'FOLLOWERS') {
    const follow = await followOf(deps, request, stream, `/watch/${params.streamId}`);
    return follow && followersOnlyPage(stream, follow);
  }
  if (stream === undefined || !isPurchasable(stream)) return null;
  const sold = { ...stream, priceCents: null };
  return paywallPage(sold, await sellers(sold), query.checkout_id !== undefined);
}

/** Returns the view of this viewer; null without access. */
async function viewOf(
  deps: Deps,
  request: WatchRequest,
  { withChat, isWatch }: { withChat: boolean; isWatch: boolean },
): Promise<WatchView | null> {
  const { streamId } = request.params;
  const stream = await deps.streams.get(streamId);
  const pass = stream === undefined ? null : await deps.access.passFor(stream, viewerOf(request));
  if (stream === undefined || pass === null) return null;
  const { grant, suffix } = pass;
  const recordings = await lastRecordings(deps, stream, viewerOf(request));
  const { publicUrl, assets } = deps;
  const card = assets.url(CARD);
  const watchUrl = `${publicUrl}/watch/${streamId}`;
  return {
    title: stream.title,
    description: stream.description,
    creator: stream.creator,
    follow: isWatch ? await followOf(deps, request, stream, `/watch/${streamId}`) : null,
    stream,
    showing: showingOf(stream, grant, deps.clock),
    isPreview: grant === 'preview',
    recordings: recordings.map(({ id, ...place }) => ({ url: `${publicUrl}/watch/${id}`, ...place })),
    playlist: `/live/${streamId}/master.m3u8${suffix}`,
    whep: deps.hasWhep() ? `/whep/${streamId}${suffix}` : null,
    session:
      grant === 'preview' ? null : await deps.reception.recordImpression(request, { ...stream, ...pass }),
    chat:
      withChat && deps.chat !== undefined
        ? await unlessUnavailable(deps.chat(streamId, suffix, request))
        : null,
    watchUrl,
    reportUrl: `/report/${streamId}`,
    embedUrl: `${publicUrl}/embed/${streamId}`,
    picture: card === null ? null : { url: publicUrl + card, ...CARD_SIZE },
    oembedUrl: isLinkAccessible(stream.visibility) ? oembedUrl(publicUrl, watchUrl) : null,
    isListed: stream.visibility === 'PUBLIC' && grant === null,
  };
}

/** Renders the follow box of a stream or video. */
export async function followOf(
  { followBox }: { followBox?: RenderFollowBox },
  asking: AccessRequest,
  {
    accountId,
    workspaceId,
    mode,
    creator,
  }: Pick<StreamSnapshot, 'accountId' | 'workspaceId' | 'mode' | 'creator'>,
  page: string,
): Promise<SafeHtml | null> {
  if (mode === 'test' || followBox === undefined) return null;
  return unlessUnavailable(followBox(asking, { accountId, workspaceId, ...creator }, page));
}

function showingOf(stream: StreamSnapshot, grant: Grant | null, clock: Clock): StreamViewState {
  if (stream.isLive) return 'live';
  if (grant === 'preview' && stream.hasSignal) return 'preview';
  if (stream.scheduledStartAt !== null && stream.scheduledStartAt > clock.now()) return 'scheduled';
  return stream.ended === null ? 'offline' : 'ended';
}

function watchPage({ mediaOrigins }: Deps, view: WatchView): Page {
  const { stream, showing } = view;
  return {
    status: 200,
    title: `${stream.title} · ${creatorName(view)}`,
    head: streamHead(view),
    body: streamBody(view),
    script: 'watch/main.ts',
    eager: showing === 'live' || showing === 'preview',
    frames: "'none'",
    forms: true,
    mediaOrigins,
  };
}

function embedPage({ platformHosts, mediaOrigins }: Deps, view: WatchView): Page {
  const { stream, showing } = view;
  return {
    status: 200,
    title: stream.title,
    head: html`<link rel="canonical" href="${view.watchUrl}">
<meta name="robots" content="noindex">`,
    body: embedBody(view),
    bodyClass: 'embed',
    script: 'embed/main.ts',
    eager: showing === 'live' || showing === 'preview',
    frames: stream.embedHosts === null ? '*' : [...stream.embedHosts, ...platformHosts],
    mediaOrigins,
  };
}

/** Returns the oEmbed data of a stream; null when it is restricted. */
export async function embeddableStream(
  streams: Snapshots<StreamSnapshot>,
  id: string,
): Promise<Embeddable | null> {
  const stream = await streams.get(id);
  if (stream === undefined || !isLinkAccessible(stream.visibility)) return null;
  const { title, creator, video } = stream;
  const { width, height } = video ?? EMBED_SIZE;
  return { title, creator, width, height, thumbnail: null };
}

const MISSING = notFoundPages('broadcast');
