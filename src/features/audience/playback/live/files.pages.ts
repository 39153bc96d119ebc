import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { clientInfoOf } from '../../../../http/client-info.ts';
import type { Clock } from '../../../../kernel/clock.ts';
import type { Snapshots } from '../../../../kernel/snapshots.ts';
import { isLinkAccessible } from '../../../../kernel/visibility.ts';
import {
  type FileReply,
  type LiveEdge,
  type LiveFiles,
  type LiveRequest,
  MediaNodeUnavailableError,
  type PlaylistEnding,
} from '../../../../media/contract/index.ts';
import type { ViewerFingerprints } from '../../viewer-fingerprints/index.ts';
import type { Access } from '../access.service.ts';
import { countEgress, type OnBytesSent } from '../egress.ts';
import { tokenFingerprint } from '../playback-sessions.ts';
import { fileRequestOf, sendFile, viewerOf } from '../reply.ts';
import type { VideoSnapshot } from '../videos/snapshot.ts';
import { createLiveAdmission } from './admission.ts';
import { lastRecordings } from './last-recordings.ts';
import type { StreamSnapshot } from './snapshot.ts';
import type { OnWatched, RecentWatchers, Watcher } from './watchers.ts';

interface Deps {
  streams: Snapshots<StreamSnapshot>;
  /** Video IDs of broadcasts by session ID. */
  recordings: Snapshots<readonly string[]>;
  videos: Snapshots<VideoSnapshot>;
  access: Access;
  files: LiveFiles;
  viewers: OnWatched;
  watching: RecentWatchers;
  arrivals: Pick<ViewerFingerprints, 'fingerprint'>;
  sentBytes: OnBytesSent;
  clock: Clock;
}

type Params = { streamId: string; rung: string; epoch: string; file: string };
type Query = { token?: string; _HLS_msn?: unknown; _HLS_part?: unknown; _HLS_skip?: unknown };
type FileOfStream = FastifyRequest<{ Params: Params; Querystring: Query }>;

/**
 * A player that arrives just after the start waits for the first segment instead of an empty playlist, and for a master
 * playlist with all qualities: players read it once.
 */
const FIRST_SEGMENT_WAIT_MS = 4000;
/** Maximum wait of a request for the next part; players give up after ten seconds. */
const NEXT_PART_WAIT_MS = 6000;
/** The part that a playlist hints at comes with the next one. */
const NEXT_PART_FILE_WAIT_MS = 2000;
/** A media node that is started again has its files back by then. */
const NODE_BACK_MS = 8000;
const NODE_ASK_MS = 200;
/** Interval at which admission is checked again during a wait: nothing is served after a stop. */
const ADMISSION_MS = 500;
/**
 * Time in which current viewers may see the rest of an ended broadcast, because players are some seconds
 * late.
 */
const ENDING_MS = 15_000;
/** The segment in which a broadcast ended is complete soon after it; sooner where the signal has ended as well. */
const SETTLED_MS = { withSignal: 6000, withoutSignal: 2000 };

/**
 * Step by which the start of the DVR window moves, so that all players get the same playlist and cannot seek
 * beyond it.
 */
const DVR_START_STEP_MS = 10_000;
/** A shorter history would be less than the live window. */
const MIN_DVR_WINDOW_SEC = 60;

/** Time after which a client that has not read its response is not watching: the live window is shorter. */
const RESPONSE_TIMEOUT_MS = 30_000;

const MASTER = /\/master\.m3u8(?:\?|$)/;

/** Header with the issues of the signal for its owner; the preview page shows them. */
const ISSUES_HEADER = 'x-signal-issues';
/** Header with the number of viewers, which the player shows. */
const VIEWERS_HEADER = 'x-viewers';

/**
 * Response header that lets nginx cache public responses for a second, regardless of `cache-control`, so that
 * concurrent viewers share one request (docs/guides/playback.md#nginx-cache-for-broadcasts). The second is
 * short because content must disappear soon after a stop.
 */
const CACHE_HEADER = 'x-accel-expires';
const CACHE_SEC = '1';

/**
 * Admitted view of a stream: the broadcast since it went live, its rest after the end, or the whole signal.
 */
type View = {
  stream: StreamSnapshot;
  isPreview: boolean;
  sinceMs: number | undefined;
  ending?: PlaylistEnding;
  /** Token that admitted the viewer, as a query string; empty when none was needed. */
  suffix: string;
};

type Read = (request: LiveRequest & { isDelta: boolean }, view: View, params: Params) => Promise<FileReply>;

type Admit = (request: FileOfStream, reply: FastifyReply) => Promise<View | null>;

/** Creates the admission of file requests. */
function createAdmission(deps: Deps): Admit {
  const admitted = createLiveAdmission(deps);
  return async (request, reply) => {
    const admission = await admitted(request.params.streamId, viewerOf(request));
    if (admission === null) return null;
    const { stream, grant, suffix, shows } = admission;
    // Also when there is nothing to see: then most of all.
    if (grant === 'preview') reply.header(ISSUES_HEADER, stream.issues.join(' '));
    if (shows === 'preview') return { stream, isPreview: true, sinceMs: undefined, suffix };
    if (shows === null) return endingView(deps, stream, watcherOf(request, suffix));
    return { stream, isPreview: false, sinceMs: stream.liveSince?.getTime(), suffix };
  };
}

/**
 * Waits until the playlist has the requested part, or the player may no longer watch.
 *
 * @returns false for a part that does not come next.
 */
async function awaitEdge(
  { files, admit }: { files: LiveFiles; admit: Admit },
  request: FileOfStream,
  reply: FastifyReply,
  edge: LiveEdge,
): Promise<boolean> {
  const { streamId, rung } = request.params;
  const deadlineMs = performance.now() + NEXT_PART_WAIT_MS;
  while (performance.now() < deadlineMs && !request.raw.destroyed) {
    const view = await admit(request, reply);
    if (view === null || view.ending !== undefined || !view.stream.hasSignal) return true;
    const shown = await files.awaitEdge({ streamId, rung, edge }, ADMISSION_MS);
    if (shown !== 'waiting') return shown === 'shown';
  }
  return true;
}

function isPrivate({ suffix, stream }: View): boolean {
  return suffix !== '' || !isLinkAccessible(stream.visibility);
}

/**
 * Reads the requested file. While its node is unavailable, retries as long as the viewer is admitted.
 *
 * @returns null when the viewer is not, or no longer, admitted.
 */
async function readWhenThere(
  { files, admit, read }: { files: LiveFiles; admit: Admit; read: Read },
  request: FileOfStream,
  reply: FastifyReply,
): Promise<{ view: View; answer: FileReply } | null> {
  const deadlineMs = performance.now() + NODE_BACK_MS;
  const isDelta = request.query._HLS_skip !== undefined;
  for (;;) {
    const view = await admit(request, reply);
    if (view === null) return null;
    const file = { ...fileRequestOf(request, isPrivate(view)), streamId: view.stream.id, isDelta };
    try {
      return { view, answer: await read(file, view, request.params) };
    } catch (error) {
      if (!(error instanceof MediaNodeUnavailableError)) throw error;
      if (performance.now() >= deadlineMs || request.raw.destroyed) return { view, answer: files.notFound() };
    }
    await sleep(NODE_ASK_MS);
  }
}

/**
 * `GET /live/:streamId/…`: open while `isLive`, for playlists and segments alike, and for a moment longer, but for the
 * master playlist, to players that were watching; a preview token opens it to the owner while `hasSignal`.
 */
export function liveFilePages(deps: Deps): (app: FastifyInstance) => void {
  const { files, viewers, watching, arrivals, sentBytes } = deps;
  const admit = createAdmission(deps);
  const serve = (read: Read) => async (request: FileOfStream, reply: FastifyReply) => {
    const edge = edgeWanted(request);
    if (edge === 'unclear') return sendFile(reply, badRequest(files.notFound()));
    if (edge !== null && !(await awaitEdge({ files, admit }, request, reply, edge)))
      return sendFile(reply, badRequest(files.notFound()));
    const found = await readWhenThere({ files, admit, read }, request, reply);
    if (found === null) return sendFile(reply, (await recordingRedirect(deps, request)) ?? files.notFound());
    const { view, answer } = found;
    // A player asks for media playlists again and again for as long as it plays.
    if (isWatching(request.params, answer) && !view.isPreview && view.ending === undefined) {
      const watcher = watcherOf(request, view.suffix);
      const { stream } = view;
      const visited = { workspaceId: stream.workspaceId, isSelf: false };
      reply.header(VIEWERS_HEADER, stream.viewerCount);
      const meet = () => arrivals.fingerprint(clientInfoOf(request), visited);
      viewers.seen(stream, { ...watcher, token: tokenFingerprint(view.suffix) }, meet);
      watching.seen(stream.id, watcher);
    }
    if (isShared(request.params, answer) && !isPrivate(view) && view.ending === undefined)
      reply.header(CACHE_HEADER, CACHE_SEC);
    countEgress(sentBytes, view.stream, reply, answer);
    endWhenSlow(reply);
    return sendFile(reply, answer);
  };
  return (app) => {
    app.get('/live/:streamId/admission', admission(deps, admit));
    // HEAD has a handler of its own: the files know its length and send no body.
    const file = (url: string, read: Read) =>
      app.route({ method: ['GET', 'HEAD'], url, exposeHeadRoute: false, handler: serve(read) });
    file('/live/:streamId/master.m3u8', async (request, view) => {
      const { suffix: uriSuffix, ending } = view;
      if (ending !== undefined) return files.notFound();
      return files.readMaster({ ...request, uriSuffix, waitMs: firstWaitMs(view) });
    });
    file('/live/:streamId/thumbnail.jpg', async (request, { sinceMs, ending }) =>
      ending === undefined ? files.openThumbnail({ ...request, sinceMs }) : files.notFound(),
    );
    file('/live/:streamId/:rung/index.m3u8', (request, view, { rung }) => {
      const { sinceMs, ending, suffix } = view;
      return files.readMediaPlaylist({
        ...request,
        rung,
        sinceMs,
        keptSinceMs: dvrStartMs(view, deps.clock),
        uriSuffix: suffix,
        ending,
        isDelta: request.isDelta,
        waitMs: firstWaitMs(view),
      });
    });
    file(
      '/live/:streamId/:epoch/:rung/:file',
      (request, { stream, sinceMs, isPreview, ending }, { epoch, rung, file: name }) =>
        files.openSegment({
          ...request,
          epoch,
          rung,
          file: name,
          sinceMs,
          untilMs: ending?.untilMs,
          isKept: stream.dvrWindowSec > 0 && !isPreview,
          waitMs: stream.hasSignal && ending === undefined ? NEXT_PART_FILE_WAIT_MS : 0,
        }),
    );
  };
}

/**
 * Whether a viewer may have what a cache keeps of a stream: 204, or 403. The cache keeps parts for longer than a
 * broadcast may be shown after its stop, and asks here before it gives them away.
 */
function admission({ streams }: Pick<Deps, 'streams'>, admit: Admit) {
  return async (request: FileOfStream, reply: FastifyReply): Promise<FastifyReply> => {
    const view = await admit(request, reply);
    const stream = await streams.get(request.params.streamId);
    const isForAll =
      stream !== undefined && isLinkAccessible(stream.visibility) && request.query.token === undefined;
    if (isForAll) reply.header(CACHE_HEADER, CACHE_SEC);
    const isAdmitted = view !== null && view.ending === undefined;
    return reply
      .status(isAdmitted ? 204 : 403)
      .header('cache-control', 'no-store')
      .send();
  };
}

/**
 * Redirects requests for the master playlist of an ended broadcast to its recording. The redirect must not be
 * cached, because the next broadcast uses the same URL.
 */
async function recordingRedirect(deps: Deps, request: FileOfStream): Promise<FileReply | null> {
  const { streamId, rung } = request.params;
  const isMaster = rung === undefined && MASTER.test(request.url);
  const stream = isMaster ? await deps.streams.get(streamId) : undefined;
  const viewer = viewerOf(request);
  if (stream === undefined || (await deps.access.passFor(stream, viewer)) === null) return null;
  const [first] = await lastRecordings(deps, stream, viewer);
  if (first === undefined) return null;
  const { headers } = deps.files.notFound();
  return { status: 302, headers: { ...headers, location: `/v/${first.id}/master.m3u8` }, body: null };
}

function firstWaitMs({ stream, ending }: View): number {
  return stream.hasSignal && ending === undefined ? FIRST_SEGMENT_WAIT_MS : 0;
}

/** Returns the start of the DVR window in milliseconds since the Unix epoch; undefined without a window. */
function dvrStartMs({ stream, isPreview }: View, clock: Clock): number | undefined {
  if (stream.dvrWindowSec === 0 || isPreview) return undefined;
  const sinceMs = clock.ms() - Math.max(stream.dvrWindowSec, MIN_DVR_WINDOW_SEC) * 1000;
  return Math.floor(sinceMs / DVR_START_STEP_MS) * DVR_START_STEP_MS;
}

/** Returns the view of the rest of a just ended broadcast, for a current viewer. */
function endingView(
  { watching, clock }: Pick<Deps, 'watching' | 'clock'>,
  stream: StreamSnapshot,
  watcher: Watcher,
): View | null {
  const { id, ended, hasSignal } = stream;
  if (ended === null) return null;
  const untilMs = ended.until.getTime();
  const agoMs = clock.ms() - untilMs;
  if (agoMs >= ENDING_MS || !watching.wasWatching(id, watcher, untilMs)) return null;
  const isSettled = agoMs >= (hasSignal ? SETTLED_MS.withSignal : SETTLED_MS.withoutSignal);
  const ending = { untilMs, isSettled };
  return { stream, isPreview: false, sinceMs: ended.since.getTime(), ending, suffix: watcher.token };
}

/**
 * Closes the connection of a client that reads too slowly: it would hold its buffers and its slot forever.
 */
function endWhenSlow({ raw }: FastifyReply): void {
  const timer = setTimeout(() => raw.destroy(), RESPONSE_TIMEOUT_MS).unref();
  raw.once('close', () => clearTimeout(timer));
}

/**
 * Returns the playlist position that a player waits for (draft-pantos-hls-rfc8216bis 6.2.5.2); null when it
 * does not wait.
 */
function edgeWanted({ params, query }: FileOfStream): LiveEdge | 'unclear' | null {
  const { _HLS_msn: msn, _HLS_part: part, _HLS_skip: skip } = query;
  if (params.file !== undefined || params.rung === undefined) return null;
  // There are no dates to skip, so both words are the same (draft-pantos-hls-rfc8216bis 6.2.5.1).
  if (skip !== undefined && skip !== 'YES' && skip !== 'v2') return 'unclear';
  if (msn === undefined) return part === undefined ? null : 'unclear';
  const [seq, index] = [wholeNumber(msn), part === undefined ? null : wholeNumber(part)];
  return seq === undefined || index === undefined ? 'unclear' : { seq, part: index };
}

function wholeNumber(value: unknown): number | undefined {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}

function badRequest(reply: FileReply): FileReply {
  return { ...reply, status: 400 };
}

function watcherOf({ ip, headers }: FileOfStream, token: string): Watcher {
  return { ip, userAgent: headers['user-agent'] ?? '', token };
}

/**
 * Reports whether the response may be shared: media playlists and segments. The master playlist must end
 * immediately.
 */
function isShared({ rung }: Partial<Params>, { status }: FileReply): boolean {
  return rung !== undefined && status === 200;
}

function isWatching({ rung, file }: Partial<Params>, { status }: FileReply): boolean {
  return rung !== undefined && file === undefined && (status === 200 || status === 304);
}
