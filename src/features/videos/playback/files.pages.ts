import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type FileReply, type FileRequest, fileRequestOf, sendFile } from '../../../http/files.ts';
import { videoPrefix } from '../../../kernel/media-keys.ts';
import type { Chapter } from '../../../platform/db/json-columns.ts';
import type { Admission, Admissions, Visit } from './admission.service.ts';
import type { ReadyRendition, ReadyRung } from './gate.service.ts';

type TextRequest = FileRequest & { uriSuffix: string };

/** The files of videos; it trusts the admission here to have let the viewer in, and the names to be checked. */
export interface VideoFiles {
  readMaster(
    request: TextRequest & {
      master: {
        variants: readonly ReadyRung[];
        audio: ReadyRendition | null;
        captions: readonly { language: string; label: string; file: string }[];
      };
    },
  ): FileReply;
  readIndex(request: TextRequest & { key: string }): Promise<FileReply>;
  readCaptionPlaylist(request: TextRequest & { file: string; durationSec: number }): FileReply;
  readChapters(request: FileRequest & { chapters: readonly Chapter[]; durationSec: number }): FileReply;
  openFile(request: FileRequest & { key: string }): Promise<FileReply>;
  notFound(): FileReply;
}

interface Deps {
  admissions: Admissions;
  files: VideoFiles;
}

type Params = { videoId: string; folder: string; rung: string; file: string };
type VideoRequest = FastifyRequest<{ Params: Params; Querystring: { token?: string } }>;
type Read = (
  request: FileRequest,
  admission: Admission,
  params: Params,
) => FileReply | Promise<FileReply> | null;

const SEGMENT = /^[a-z0-9][a-z0-9_-]{0,63}\.(?:m4s|mp4)$/;
const PICTURE = /^(?:poster\.jpg|preview\.webp)$/;
const SPRITE = /^sb_\d{1,6}\.jpg$/;
const CAPTION_PLAYLIST = '.m3u8';
/** The page is on a site that the account does not list. */
const FORBIDDEN: FileReply = {
  status: 403,
  headers: { 'cache-control': 'no-store', 'content-length': '0', 'x-content-type-options': 'nosniff' },
  body: null,
};

/**
 * `GET /v/:videoId/…`: playlists, segments, pictures, captions and chapters (contract 8.3, `media.md` 4.2). What
 * does not exist and what the viewer may not see is 404 without a body; a site that the account does not list is
 * 403. Only complete files of the current revision have an address: originals and unfinished runs have none.
 */
export function videoFilePages({ admissions, files }: Deps): (app: FastifyInstance) => void {
  const serve = serving({ admissions, files });
  return (app) => {
    // HEAD has a handler of its own: the files know their length and send no body.
    const route = (url: string, read: Read) =>
      app.route({ method: ['GET', 'HEAD'], url, exposeHeadRoute: false, handler: serve(read) });
    const keyOf = ({ gate: { workspaceId, id } }: Admission, path: string) =>
      `${videoPrefix({ workspace_id: workspaceId, id })}/${path}`;
    const stored = (request: FileRequest, admission: Admission, path: string) =>
      files.openFile({ ...request, key: keyOf(admission, path) });
    const index = (request: FileRequest, admission: Admission, path: string) =>
      files.readIndex({ ...request, key: keyOf(admission, path), uriSuffix: admission.suffix });
    const media = (url: string, read: Read) =>
      route(url, (request, admission, params) =>
        admission.mayPlay ? read(request, admission, params) : FORBIDDEN,
      );

    media('/v/:videoId/master.m3u8', (request, { gate, suffix }) => {
      if (gate.rungs.length === 0) return null;
      const master = { variants: gate.rungs, audio: gate.audio, captions: gate.captions };
      return files.readMaster({ ...request, master, uriSuffix: suffix });
    });
    media('/v/:videoId/:folder/:rung/:file', (request, admission, { folder, rung, file }) => {
      const { rungs, audio } = admission.gate;
      const path = `${folder}/${rung}`;
      if (audio?.path !== path && !rungs.some((one) => one.path === path)) return null;
      if (file === 'index.m3u8') return index(request, admission, `${path}/${file}`);
      return SEGMENT.test(file) ? stored(request, admission, `${path}/${file}`) : null;
    });
    route('/v/:videoId/:folder/img/:file', (request, admission, { folder, file }) => {
      if (folder !== admission.gate.imageFolder) return null;
      const path = `${folder}/img/${file}`;
      // Link previews are shown anywhere, whichever sites may play the video.
      if (PICTURE.test(file)) return stored(request, admission, path);
      if (!admission.mayPlay) return FORBIDDEN;
      if (file === 'storyboard.vtt') return index(request, admission, path);
      return SPRITE.test(file) ? stored(request, admission, path) : null;
    });
    route('/v/:videoId/thumbnails/:file', (request, admission, { file }) =>
      file === admission.gate.thumbnailFile ? stored(request, admission, `thumbnails/${file}`) : null,
    );
    media('/v/:videoId/captions/:file', (request, admission, { file }) => {
      const { gate, suffix } = admission;
      const isPlaylist = file.endsWith(CAPTION_PLAYLIST);
      const caption = isPlaylist ? file.slice(0, -CAPTION_PLAYLIST.length) : file;
      if (!gate.captions.some((one) => one.file === caption)) return null;
      if (!isPlaylist) return stored(request, admission, `captions/${caption}`);
      const durationSec = gate.durationSec ?? 0;
      return files.readCaptionPlaylist({ ...request, file: caption, durationSec, uriSuffix: suffix });
    });
    media('/v/:videoId/chapters.vtt', (request, { gate: { chapters, durationSec } }) =>
      files.readChapters({ ...request, chapters, durationSec: durationSec ?? 0 }),
    );
  };
}

/** Lets the viewer in, and says who may read the answer. */
function serving({ admissions, files }: Deps) {
  return (read: Read) => async (request: VideoRequest, reply: FastifyReply) => {
    const admission = await admissions.admit(visitOf(request));
    if (admission === null) return sendFile(reply, files.notFound());
    const file = fileRequestOf(request, admission.isPrivate);
    const answer = (await read(file, admission, request.params)) ?? files.notFound();
    if (admission.gate.embedHosts === null) return sendFile(reply, answer);
    // The plugin has set it for everybody.
    reply.removeHeader('Access-Control-Allow-Origin');
    const headers = readableThere(answer.headers, admission, request);
    const vary = [reply.getHeader('Vary'), 'Origin', 'Referer'].flatMap((name) => name ?? []).join(', ');
    return sendFile(reply, { ...answer, headers: { ...headers, vary } });
  };
}

/** What the admission asks of a request for a video. */
export function visitOf(
  request: Pick<FastifyRequest, 'headers' | 'hostname'> & {
    params: { videoId: string };
    query: { token?: string };
  },
): Visit {
  const { origin, referer } = request.headers;
  const { videoId } = request.params;
  return { videoId, token: request.query.token, host: request.hostname, origin, referer };
}

/** Scripts of the sites that may play it, and of no other one, may read the answer. */
function readableThere(
  { 'access-control-allow-origin': _everybody, ...headers }: Record<string, string>,
  { mayPlay }: Admission,
  { headers: { origin } }: VideoRequest,
): Record<string, string> {
  const readable = mayPlay && origin !== undefined ? { 'access-control-allow-origin': origin } : {};
  return { ...headers, ...readable };
}
