import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { videoPrefix } from '../../../../kernel/media-keys.ts';
import type { FileReply, FileRequest, VideoFiles } from '../../../../media/contract/index.ts';
import { countEgress, type OnBytesSent } from '../egress.ts';
import { fileRequestOf, sendFile } from '../reply.ts';
import type { Admission, Admissions, MediaRequest } from './admission.service.ts';

interface Deps {
  admissions: Admissions;
  files: VideoFiles;
  sentBytes: OnBytesSent;
}

type Params = { videoId: string; folder: string; rung: string; file: string };
type VideoRequest = FastifyRequest<{ Params: Params; Querystring: { token?: string } }>;
type Read = (
  request: FileRequest,
  admission: Admission,
  params: Params,
) => FileReply | Promise<FileReply> | null;

/** Playlists of a rendition: all segments, and its keyframes. */
const PLAYLISTS = ['index.m3u8', 'iframes.m3u8'];
const SEGMENT = /^[a-z0-9][a-z0-9_-]{0,63}\.(?:m4s|mp4)$/;
const PICTURE = /^(?:poster\.jpg|preview\.webp)$/;
const SPRITE = /^sb_\d{1,6}\.jpg$/;
const CAPTION_PLAYLIST = '.m3u8';
/** Response for a page on a site that the account does not list. */
const FORBIDDEN: FileReply = {
  status: 403,
  headers: { 'cache-control': 'no-store', 'content-length': '0', 'x-content-type-options': 'nosniff' },
  body: null,
};

/**
 * Registers `GET /v/:videoId/…`: playlists, segments, images, captions and chapters. Missing and hidden files
 * get 404 without a body; a site that the account does not list gets 403. Only complete files of the current
 * revision have a URL, and for a while those that it has replaced; originals and unfinished runs have none.
 */
export function videoFilePages(deps: Deps): (app: FastifyInstance) => void {
  const { files } = deps;
  const serve = serving(deps);
  return (app) => {
    // HEAD has a handler of its own: the files know their length and send no body.
    const route = (url: string, read: Read) =>
      app.route({ method: ['GET', 'HEAD'], url, exposeHeadRoute: false, handler: serve(read) });
    const keyOf = ({ video: { workspaceId, id } }: Admission, path: string) =>
      `${videoPrefix({ workspace_id: workspaceId, id })}/${path}`;
    const stored = (request: FileRequest, admission: Admission, path: string) =>
      files.openFile({ ...request, key: keyOf(admission, path) });
    const index = (request: FileRequest, admission: Admission, path: string) =>
      files.readIndex({ ...request, key: keyOf(admission, path), uriSuffix: admission.suffix });
    const media = (url: string, read: Read) =>
      route(url, (request, admission, params) =>
        admission.mayPlay ? read(request, admission, params) : FORBIDDEN,
      );

    media('/v/:videoId/master.m3u8', (request, { video, suffix }) =>
      video.rungs.length === 0 ? null : files.readMaster({ ...request, master: video, uriSuffix: suffix }),
    );
    media('/v/:videoId/:folder/:rung/:file', (request, admission, { folder, rung, file }) => {
      const { rungs, audio, former } = admission.video;
      const path = `${folder}/${rung}`;
      const isThere = [...rungs, ...audio].some((one) => one.path === path) || former.paths.includes(path);
      if (!isThere) return null;
      if (PLAYLISTS.includes(file)) return index(request, admission, `${path}/${file}`);
      return SEGMENT.test(file) ? stored(request, admission, `${path}/${file}`) : null;
    });
    route('/v/:videoId/:folder/img/:file', (request, admission, { folder, file }) => {
      const { imageFolder, former } = admission.video;
      if (folder !== imageFolder && !former.imageFolders.includes(folder)) return null;
      const path = `${folder}/img/${file}`;
      // Link previews are available everywhere, whichever sites may play the video.
      if (PICTURE.test(file)) return stored(request, admission, path);
      if (!admission.mayPlay) return FORBIDDEN;
      if (file === 'storyboard.vtt') return index(request, admission, path);
      return SPRITE.test(file) ? stored(request, admission, path) : null;
    });
    route('/v/:videoId/thumbnails/:file', (request, admission, { file }) =>
      file === admission.video.thumbnailFile ? stored(request, admission, `thumbnails/${file}`) : null,
    );
    media('/v/:videoId/captions/:file', (request, admission, { file }) => {
      const { video, suffix } = admission;
      const isPlaylist = file.endsWith(CAPTION_PLAYLIST);
      const caption = isPlaylist ? file.slice(0, -CAPTION_PLAYLIST.length) : file;
      const isThere = video.captions.some((one) => one.file === caption);
      if (!isThere && !video.former.captions.includes(caption)) return null;
      if (!isPlaylist) return stored(request, admission, `captions/${caption}`);
      const durationSec = video.durationSec ?? 0;
      return files.readCaptionPlaylist({ ...request, file: caption, durationSec, uriSuffix: suffix });
    });
    media('/v/:videoId/chapters.vtt', (request, { video: { chapters, durationSec } }) =>
      files.readChapters({ ...request, chapters, durationSec: durationSec ?? 0 }),
    );
  };
}

/** Admits the viewer and sets the cross-origin headers of the response. */
function serving({ admissions, files, sentBytes }: Deps) {
  return (read: Read) => async (request: VideoRequest, reply: FastifyReply) => {
    const admission = await admissions.admit(mediaRequestOf(request));
    if (admission === null) return sendFile(reply, files.notFound());
    const file = fileRequestOf(request, admission.isPrivate);
    const answer = (await read(file, admission, request.params)) ?? files.notFound();
    const { mayPlay, video } = admission;
    countEgress(sentBytes, video, reply, answer);
    if (video.embedHosts === null) return sendFile(reply, answer);
    return sendFile(reply, answer, mayPlay ? (request.headers.origin ?? null) : null);
  };
}

/** Returns the data of a video request that the admission needs. */
export function mediaRequestOf(
  request: Pick<FastifyRequest, 'headers' | 'hostname' | 'ip'> & {
    params: { videoId: string };
    query: { token?: string };
  },
): MediaRequest {
  const { origin, referer } = request.headers;
  const { videoId } = request.params;
  return { videoId, token: request.query.token, asking: request, host: request.hostname, origin, referer };
}
