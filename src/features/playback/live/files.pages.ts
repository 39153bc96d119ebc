import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { FileReply, LiveFiles, LiveRequest } from '../../../media/contract/index.ts';
import type { Access } from '../access.service.ts';
import { fileRequestOf, sendFile } from '../reply.ts';
import type { Snapshots } from '../snapshots.ts';
import type { StreamSnapshot } from './snapshot.ts';

/** Told of everybody who was given a media playlist of a broadcast. */
export interface WatchedBy {
  seen(
    stream: Pick<StreamSnapshot, 'id' | 'currentSessionId'>,
    viewer: { ip: string; userAgent: string; token: string },
  ): void;
}

interface Deps {
  streams: Snapshots<StreamSnapshot>;
  access: Access;
  files: LiveFiles;
  viewers: WatchedBy;
}

type Params = { streamId: string; rung: string; epoch: string; file: string };
type FileOfStream = FastifyRequest<{ Params: Params; Querystring: { token?: string } }>;

/** A player that arrives just after the start waits for the first segment instead of an empty playlist. */
const FIRST_SEGMENT_WAIT_MS = 4000;

/** What a viewer may see: nothing, the broadcast since it went live, or all that the encoder sends. */
type View = {
  stream: StreamSnapshot;
  isPreview: boolean;
  sinceMs: number | undefined;
  /** The token that let the viewer in, as a query; nothing when none was needed. */
  suffix: string;
};

type Read = (request: LiveRequest, view: View, params: Params) => Promise<FileReply>;

/**
 * `GET /live/:streamId/…`: open while `isLive`, for playlists and segments alike; a preview token opens it to the
 * owner while `hasSignal`.
 */
export function liveFilePages({ streams, access, files, viewers }: Deps): (app: FastifyInstance) => void {
  const admit = async ({ params, query }: FileOfStream): Promise<View | null> => {
    const stream = await streams.get(params.streamId);
    const pass = stream === undefined ? null : await access.passFor(stream, query.token);
    if (stream === undefined || pass === null) return null;
    const { grant, suffix } = pass;
    if (grant === 'preview' && stream.hasSignal)
      return { stream, isPreview: true, sinceMs: undefined, suffix };
    if (!stream.isLive) return null;
    return { stream, isPreview: false, sinceMs: stream.liveSince?.getTime(), suffix };
  };
  const serve = (read: Read) => async (request: FileOfStream, reply: FastifyReply) => {
    const view = await admit(request);
    if (view === null) return sendFile(reply, files.notFound());
    const { streamId } = request.params;
    const file = { ...fileRequestOf(request, view.suffix !== ''), streamId };
    const answer = await read(file, view, request.params);
    // A player asks for media playlists again and again for as long as it plays.
    if (isWatching(request.params, answer) && !view.isPreview) {
      const userAgent = request.headers['user-agent'] ?? '';
      viewers.seen(view.stream, { ip: request.ip, userAgent, token: view.suffix });
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
    file('/live/:streamId/:rung/index.m3u8', (request, { stream, sinceMs, suffix }, { rung }) =>
      files.readMediaPlaylist({
        ...request,
        rung,
        sinceMs,
        uriSuffix: suffix,
        waitMs: stream.hasSignal ? FIRST_SEGMENT_WAIT_MS : 0,
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
