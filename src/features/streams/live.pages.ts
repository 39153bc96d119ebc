import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type FileReply, type FileRequest, fileRequestOf, sendFile } from '../../http/files.ts';
import { isOpen } from '../../kernel/visibility.ts';
import type { StreamGate, StreamGates } from './gate.service.ts';
import type { Viewers } from './viewers.service.ts';

type StreamFile = FileRequest & { streamId: string };

/** Playlists and segments of live streams; it trusts the gate here to have let the viewer in. */
export interface LiveFiles {
  readMaster(request: StreamFile & { uriSuffix?: string | undefined }): Promise<FileReply>;
  readMediaPlaylist(
    request: StreamFile & {
      rung: string;
      uriSuffix?: string | undefined;
      sinceMs?: number | undefined;
      waitMs?: number | undefined;
    },
  ): Promise<FileReply>;
  openSegment(
    request: StreamFile & {
      epoch: string;
      rung: string;
      file: string;
      /** What ended before this (epoch milliseconds) and is not in the playlist stays hidden. */
      sinceMs?: number | undefined;
    },
  ): Promise<FileReply>;
  notFound(): FileReply;
}

/** Checks the signed query of a playback or preview address. */
export interface PlaybackTokens {
  /** What the token lets its holder see of the stream; null when it is not valid. */
  read(token: string, streamId: string): 'playback' | 'preview' | null;
}

interface Deps {
  gates: StreamGates;
  files: LiveFiles;
  tokens: PlaybackTokens;
  viewers: Pick<Viewers, 'seen'>;
}

type Params = { streamId: string; rung: string; epoch: string; file: string };
type LiveRequest = FastifyRequest<{ Params: Params; Querystring: { token?: string } }>;

/** A player that arrives just after the start waits for the first segment instead of an empty playlist. */
const FIRST_SEGMENT_WAIT_MS = 4000;

/** What a viewer may see: nothing, the broadcast since it went live, or all that the encoder sends. */
type View = {
  gate: StreamGate;
  isPreview: boolean;
  sinceMs: number | undefined;
  /** The token that let the viewer in, as a query; nothing when none was needed. */
  suffix: string;
};

type Read = (request: StreamFile, view: View, params: Params) => Promise<FileReply>;

/**
 * The public gate of live playback (contract 3): open while `isLive`, for playlists and segments alike;
 * a preview token opens it to the owner while `hasSignal`.
 */
export function livePages({ gates, files, tokens, viewers }: Deps): (app: FastifyInstance) => void {
  const admit = async (request: LiveRequest): Promise<View | null> => {
    const { streamId } = request.params;
    const gate = await gates.get(streamId);
    if (gate === undefined) return null;
    const { token } = request.query;
    const grant = typeof token === 'string' ? tokens.read(token, streamId) : null;
    const suffix = grant === null ? '' : `?token=${encodeURIComponent(String(token))}`;
    if (grant === 'preview' && gate.hasSignal) return { gate, isPreview: true, sinceMs: undefined, suffix };
    const open = isOpen(gate.visibility) || grant !== null;
    if (!gate.isLive || !open) return null;
    return { gate, isPreview: false, sinceMs: gate.liveSince?.getTime(), suffix };
  };
  const serve = (read: Read) => async (request: LiveRequest, reply: FastifyReply) => {
    const view = await admit(request);
    if (view === null) return sendFile(reply, files.notFound());
    const { streamId } = request.params;
    const file = { ...fileRequestOf(request, view.suffix !== ''), streamId };
    const answer = await read(file, view, request.params);
    // A player asks for media playlists again and again for as long as it plays.
    if (isWatching(request.params, answer) && !view.isPreview) {
      const userAgent = request.headers['user-agent'] ?? '';
      viewers.seen(view.gate, { ip: request.ip, userAgent, token: view.suffix });
    }
    return sendFile(reply, answer);
  };
  return (app) => {
    // HEAD has a handler of its own: the files know its length and send no body.
    const file = (url: string, read: Read) =>
      app.route({ method: ['GET', 'HEAD'], url, exposeHeadRoute: false, handler: serve(read) });
    file('/live/:streamId/master.m3u8', (request, { suffix }) =>
      files.readMaster({ ...request, uriSuffix: suffix }),
    );
    file('/live/:streamId/:rung/index.m3u8', (request, { gate, sinceMs, suffix }, { rung }) =>
      files.readMediaPlaylist({
        ...request,
        rung,
        sinceMs,
        uriSuffix: suffix,
        waitMs: gate.hasSignal ? FIRST_SEGMENT_WAIT_MS : 0,
      }),
    );
    file('/live/:streamId/:epoch/:rung/:file', (request, { sinceMs }, { epoch, rung, file: name }) =>
      files.openSegment({ ...request, epoch, rung, file: name, sinceMs }),
    );
  };
}

function isWatching({ rung, file }: Partial<Params>, { status }: FileReply): boolean {
  return rung !== undefined && file === undefined && (status === 200 || status === 304);
}
