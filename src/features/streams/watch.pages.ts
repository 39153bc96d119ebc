import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebAssets } from '../../http/assets.ts';
import { creatorName, missingPages } from '../../http/media-page.ts';
import { oembedUrl } from '../../http/oembed.ts';
import { type Page, sendPage } from '../../http/page.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isOpen } from '../../kernel/visibility.ts';
import { html } from '../../platform/html.ts';
import type { StreamGate, StreamGates } from './gate.service.ts';
import type { PlaybackTokens } from './live.pages.ts';
import { embedBody, type Showing, streamBody, streamHead, type WatchView } from './watch.views.ts';

interface Deps {
  gates: StreamGates;
  tokens: PlaybackTokens;
  assets: WebAssets;
  clock: Clock;
  /** Without a slash at the end; canonical and shared addresses begin with it. */
  publicUrl: string;
}

type WatchRequest = FastifyRequest<{ Params: { streamId: string }; Querystring: { token?: string } }>;

/** Anything else is not asked for in the database: it could not even be a text there. */
const ID = /^[a-z0-9_]{1,64}$/;
const CARD = 'site/card.png';
const CARD_SIZE = { width: 1200, height: 630 };

/**
 * `GET /watch/:streamId` and `GET /embed/:streamId`, the public pages of a stream. A stream that the viewer
 * may not see and one that does not exist answer the same 404. `?token=` is a playback or preview token
 * (contract 3.2); it goes on to the playlist.
 */
export function watchPages(deps: Deps): (app: FastifyInstance) => void {
  const { assets } = deps;
  return (app) => {
    app.get('/watch/:streamId', async (request: WatchRequest, reply: FastifyReply) => {
      const view = await viewOf(deps, request);
      return sendPage(reply, assets, view === null ? MISSING.watch : watchPage(view));
    });
    app.get('/embed/:streamId', async (request: WatchRequest, reply: FastifyReply) => {
      const view = await viewOf(deps, request);
      return sendPage(reply, assets, view === null ? MISSING.embed : embedPage(view));
    });
  };
}

/** What this viewer may see; null when nothing. */
async function viewOf(deps: Deps, request: WatchRequest): Promise<WatchView | null> {
  const { streamId } = request.params;
  if (!ID.test(streamId)) return null;
  const gate = await deps.gates.get(streamId);
  if (gate === undefined) return null;
  const { token } = request.query;
  const grant = typeof token === 'string' ? deps.tokens.read(token, streamId) : null;
  if (!isOpen(gate.visibility) && grant === null) return null;
  const query = grant === null || token === undefined ? '' : `?token=${encodeURIComponent(token)}`;
  const { publicUrl, assets } = deps;
  const card = assets.url(CARD);
  const watchUrl = `${publicUrl}/watch/${streamId}`;
  return {
    title: gate.title,
    description: gate.description,
    creator: gate.creator,
    gate,
    showing: showingOf(gate, grant, deps.clock),
    playlist: `/live/${streamId}/master.m3u8${query}`,
    watchUrl,
    embedUrl: `${publicUrl}/embed/${streamId}`,
    picture: card === null ? null : { url: publicUrl + card, ...CARD_SIZE },
    oembedUrl: isOpen(gate.visibility) ? oembedUrl(publicUrl, watchUrl) : null,
    isListed: gate.visibility === 'PUBLIC' && grant === null,
  };
}

function showingOf(gate: StreamGate, grant: 'playback' | 'preview' | null, clock: Clock): Showing {
  if (gate.isLive) return 'live';
  if (grant === 'preview' && gate.hasSignal) return 'preview';
  return gate.scheduledStartAt !== null && gate.scheduledStartAt > clock.now() ? 'scheduled' : 'offline';
}

function watchPage(view: WatchView): Page {
  const { gate, showing } = view;
  return {
    status: 200,
    title: `${gate.title} · ${creatorName(view)}`,
    head: streamHead(view),
    body: streamBody(view),
    script: 'watch/main.ts',
    eager: showing === 'live' || showing === 'preview',
    frames: "'none'",
  };
}

function embedPage(view: WatchView): Page {
  const { gate, showing } = view;
  return {
    status: 200,
    title: gate.title,
    head: html`<link rel="canonical" href="${view.watchUrl}">
<meta name="robots" content="noindex">`,
    body: embedBody(view),
    bodyClass: 'embed',
    script: 'embed/main.ts',
    eager: showing === 'live' || showing === 'preview',
    frames: gate.embedHosts ?? '*',
  };
}

const MISSING = missingPages('broadcast');
