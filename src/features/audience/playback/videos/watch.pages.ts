import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebAssets } from '../../../../http/assets.ts';
import { messagePage, type Page, sendPage } from '../../../../http/page.ts';
import type { Snapshots } from '../../../../kernel/snapshots.ts';
import { isLinkAccessible } from '../../../../kernel/visibility.ts';
import { html } from '../../../../platform/html.ts';
import type { Impressions } from '../impressions.ts';
import { followOf } from '../live/watch.pages.ts';
import {
  creatorName,
  notFoundPages,
  type Picture,
  type RenderFollowBox,
  scaleToFit,
} from '../media.views.ts';
import { type Embeddable, oembedUrl } from '../oembed.pages.ts';
import { followersOnlyPage, isPurchasable, isShown, paywallPage, type Sellers } from '../paywall.ts';
import type { PlaybackTokens } from '../tokens.ts';
import type { Admission, Admissions } from './admission.service.ts';
import { mediaRequestOf } from './files.pages.ts';
import type { VideoSnapshot } from './snapshot.ts';
import { shapeOf, type VideoView, videoBody, videoEmbedBody, videoHead } from './watch.views.ts';

interface Deps {
  admissions: Admissions;
  videos: Snapshots<VideoSnapshot>;
  sellers: Sellers;
  tokens: Pick<PlaybackTokens, 'mintSteady'>;
  reception: Impressions;
  assets: WebAssets;
  /** URL without a trailing slash; canonical and shared URLs begin with it. */
  publicUrl: string;
  /** Host names of the platform. Its own pages may show the player, whichever sites an account lists. */
  platformHosts: readonly string[];
  /** Origins of the store, when this server does not deliver the media. */
  mediaOrigins: readonly string[];
  followBox?: RenderFollowBox;
}

type Query = { token?: string; t?: string; autoplay?: string; muted?: string; checkout_id?: string };
type WatchRequest = FastifyRequest<{ Params: { videoId: string }; Querystring: Query }>;

/**
 * Validity of the token for the player: a page may remain open during a pause, so it exceeds the pause and
 * the video.
 */
const SITE_TOKEN_SEC = 4 * 3600;
const MAX_PICTURE = { width: 1280, height: 1280 };
const VIDEO = ':videoId(^vid_[0-9a-z]+$)';

/**
 * Registers `GET /watch/:videoId` and `GET /embed/:videoId?t=&autoplay=1&muted=1`, the public pages of a
 * video. Hidden and missing videos get the same 404; a video for sale shows its price, and a followers-only
 * one shows how to follow. `?token=` is a playback token, which is passed to the player.
 */
export function videoWatchPages(deps: Deps): (app: FastifyInstance) => void {
  const { admissions, assets } = deps;
  const page =
    (
      show: (view: VideoView, request: WatchRequest) => Page | Promise<Page>,
      missing: Page,
      locked = noPage,
    ) =>
    async (request: WatchRequest, reply: FastifyReply) => {
      const admission = await admissions.admit(mediaRequestOf(request));
      if (admission === null) {
        return sendPage(reply, assets, (await locked(request)) ?? missing);
      }
      const { hasFailed, rungs } = admission.video;
      if (hasFailed && rungs.length === 0) return sendPage(reply, assets, { ...missing, ...FAILED });
      return sendPage(reply, assets, await show(await viewOf(deps, admission, request), request));
    };
  return (app) => {
    app.get(
      `/watch/${VIDEO}`,
      page(
        async (view, request) => {
          const path = `/watch/${request.params.videoId}`;
          return watchPage(deps, { ...view, follow: await followOf(deps, request, view.video, path) });
        },
        MISSING.watch,
        (request) => lockedVideo(deps, request),
      ),
    );
    app.get(
      `/embed/${VIDEO}`,
      page((view, { query }) => embedPage(deps, view, query), MISSING.embed),
    );
  };
}

async function noPage(_request: WatchRequest): Promise<Page | null> {
  return null;
}

/** Returns the page of a paid or followers-only video for viewers without access; null for other videos. */
async function lockedVideo(deps: Deps, request: WatchRequest): Promise<Page | null> {
  const { videos, sellers } = deps;
  const { params, query } = request;
  const video = await videos.get(params.videoId);
  if (video === undefined || !isShown(video)) return null;
  if (video.visibility === 'FOLLOWERS') {
    const follow = await followOf(deps, request, video, `/watch/${params.videoId}`);
    return follow && followersOnlyPage(video, follow);
  }
  if (!isPurchasable(video)) return null;
  return paywallPage(video, await sellers(video), query.checkout_id !== undefined);
}

/** Returns the oEmbed data of a video; null when it is restricted. */
export async function embeddableVideo(
  videos: Snapshots<VideoSnapshot>,
  publicUrl: string,
  id: string,
): Promise<Embeddable | null> {
  const video = await videos.get(id);
  if (video === undefined || !isLinkAccessible(video.visibility)) return null;
  const { title, creator } = video;
  return { title, creator, ...shapeOf(video), thumbnail: pictureOf(video, publicUrl) };
}

async function viewOf(deps: Deps, admission: Admission, request: WatchRequest): Promise<VideoView> {
  const { publicUrl, tokens, reception } = deps;
  const { video, grant, suffix } = admission;
  const { id, imageFolder, durationSec } = video;
  const isPlayable = video.rungs.length > 0;
  const isForAll = isLinkAccessible(video.visibility);
  const watchUrl = `${publicUrl}/watch/${id}`;
  const base = `/v/${id}`;
  const ttlSec = SITE_TOKEN_SEC + Math.ceil(durationSec ?? 0);
  const needsToken = grant === null && video.embedHosts !== null;
  const media = needsToken ? `?token=${tokens.mintSteady('site', id, ttlSec)}` : suffix;
  const poster = posterPath(video);
  return {
    video,
    isPlayable,
    title: video.title,
    description: video.description,
    creator: video.creator,
    follow: null,
    watchUrl,
    reportUrl: `/report/${id}`,
    embedUrl: `${publicUrl}/embed/${id}`,
    picture: isForAll ? pictureOf(video, publicUrl) : null,
    isListed: video.visibility === 'PUBLIC' && isPlayable && video.mode === 'live' && suffix === '',
    oembedUrl: isForAll ? oembedUrl(publicUrl, watchUrl) : null,
    playlist: `${base}/master.m3u8${media}`,
    poster: poster === null ? null : poster + media,
    storyboard:
      video.hasStoryboard && imageFolder !== null
        ? `${base}/${imageFolder}/img/storyboard.vtt${media}`
        : null,
    chapters: video.chapters.length > 0 ? `${base}/chapters.vtt${media}` : null,
    // The holder of a token may be a viewer or the creator.
    viewsUrl: isForAll || suffix === '' ? `/api/v1/videos/${id}/views` : null,
    session: await reception.recordImpression(request, { ...video, grant, suffix }),
    startSec: startOf(request.query.t, durationSec),
    suffix,
  };
}

function posterPath({ id, thumbnailFile, imageFolder }: VideoSnapshot): string | null {
  if (thumbnailFile !== null) return `/v/${id}/thumbnails/${thumbnailFile}`;
  return imageFolder === null ? null : `/v/${id}/${imageFolder}/img/poster.jpg`;
}

function pictureOf(video: VideoSnapshot, publicUrl: string): Picture | null {
  const poster = posterPath(video);
  return poster === null ? null : { url: publicUrl + poster, ...scaleToFit(shapeOf(video), MAX_PICTURE) };
}

/** Parses a start time in seconds within the video. */
function startOf(text: unknown, durationSec: number | null): number {
  const seconds = typeof text === 'string' && /^\d{1,5}(?:\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  return durationSec === null || seconds < durationSec ? seconds : 0;
}

function watchPage({ mediaOrigins }: Deps, view: VideoView): Page {
  return {
    status: 200,
    title: `${view.title} · ${creatorName(view)}`,
    head: videoHead(view),
    body: videoBody(view),
    script: 'watch/main.ts',
    eager: view.isPlayable,
    frames: "'none'",
    forms: true,
    mediaOrigins,
  };
}

function embedPage({ platformHosts, mediaOrigins }: Deps, view: VideoView, query: Query): Page {
  const { embedHosts } = view.video;
  return {
    status: 200,
    title: view.title,
    head: html`<link rel="canonical" href="${view.watchUrl}">
<meta name="robots" content="noindex">`,
    body: videoEmbedBody(view, { autoplay: query.autoplay === '1', muted: query.muted === '1' }),
    bodyClass: 'embed',
    script: 'embed/main.ts',
    eager: view.isPlayable,
    frames: embedHosts === null ? '*' : [...embedHosts, ...platformHosts],
    mediaOrigins,
  };
}

const MISSING = notFoundPages('video');

/** Page of a video that never became playable. */
const FAILED = {
  title: 'Not available',
  body: messagePage({
    heading: 'This video is not available.',
    text: 'The file could not be processed. The person who uploaded it can try again.',
    isOff: true,
  }),
};
