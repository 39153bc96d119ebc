import { extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Static } from 'typebox';
import type { Events } from '../../../../events/index.ts';
import { JobDeferredError, type JobRun, type JobWorker } from '../../../../jobs/job.ts';
import type { Clock } from '../../../../kernel/clock.ts';
import { AppError } from '../../../../kernel/errors.ts';
import { originalKey } from '../../../../kernel/media-keys.ts';
import { MAX_DURATION_SEC } from '../../../../kernel/plans.ts';
import {
  type BlobStore,
  type BroadcastSegments,
  MediaFileError,
  type RecordingJoiner,
  type Transcoder,
  type VideoCutter,
} from '../../../../media/contract/index.ts';
import type { Db } from '../../../../platform/db/index.ts';
import { type DiskSpace, isDiskError } from '../../../../platform/disk.ts';
import type { Logger } from '../../../../platform/logger.ts';
import type { VideoIntake } from '../intake/service.ts';
import { MAX_WORKER_CRASHES } from '../processing/failures.ts';
import { withScratch } from '../processing/files.ts';
import { createOriginals, type Originals } from '../processing/originals.ts';
import * as processing from '../processing/repository.ts';
import { findPreviousOriginal } from '../replacement/repository.ts';
import * as repository from '../repository.ts';
import type { VideoFailure } from '../transitions.ts';
import {
  type ClipMetadata,
  copyClipMetadata,
  dropCaptions,
  publishClipMetadata,
} from './captions-and-chapters.ts';
import { clipJob } from './jobs.ts';
import { type Recorded, sourceRanges } from './rules.ts';
import type { ClippedStreams } from './service.ts';

export interface ClipCuttingDeps {
  db: Db;
  events: Events;
  store: BlobStore;
  disk: Pick<DiskSpace, 'isThere'>;
  clock: Clock;
  log: Logger;
  intake: Pick<VideoIntake, 'fail' | 'hold' | 'lock' | 'received'>;
  streams: Pick<ClippedStreams, 'isTakenDown' | 'recordingsOf'>;
  segments: BroadcastSegments;
  joiner: RecordingJoiner;
  cutter: VideoCutter;
  transcoder: Pick<Transcoder, 'needsCopy' | 'makeCopy'>;
  /** Parent folder of clips being cut, on the store's disk. */
  scratchDir: string;
}

interface Cutting extends ClipCuttingDeps {
  originals: Originals;
}

type Run = JobRun<Static<typeof clipJob.payload>>;
type Original = { key: string; sizeBytes: number };
type CutSource = Pick<Parameters<VideoCutter['cut']>[0], 'input' | 'source' | 'startSec' | 'durationSec'>;

/** Jobs per process; one account cannot use all of them, because a clip of hours may have to be encoded. */
const CONCURRENCY = 3;
/**
 * Maximum time until the newest segment of a broadcast is complete and stored, counted from its last frame.
 */
const SEGMENT_MS = 20_000;
const AGAIN_SEC = 1;
/** The newest part arrives sooner than the next run of the job. */
const PART_MS = 1000;
const LOOK_MS = 100;
const FULL_DISK_PAUSE_SEC = 30;
const NOT_CUT = 'The clip could not be created.';
const NOTHING: ClipMetadata = { captions: [], chapters: [] };
const GONE = 'The source of the clip is no longer stored.';

/** Creates the worker that cuts the originals of clips. */
export function createClipCutting(deps: ClipCuttingDeps): JobWorker<typeof clipJob.payload> {
  const cutting = { ...deps, originals: createOriginals(deps) };
  return {
    job: clipJob,
    concurrency: CONCURRENCY,
    perGroup: CONCURRENCY - 1,
    run: (run) => make(cutting, run),
  };
}

async function make(deps: Cutting, run: Run): Promise<void> {
  const { workspaceId, videoId } = run.payload;
  if (!(await deps.disk.isThere())) throw noSpace();
  const row = await repository.findOriginal(deps.db, workspaceId, videoId);
  if (row === undefined || row.original_key !== null) return;
  await withScratch(deps.scratchDir, run.id, async (dir) => {
    const outcome = await originalOf(deps, run, dir);
    if ('code' in outcome) await fail(deps, run, outcome);
    else await handOver(deps, run, outcome, await copySourceMetadata(deps, run));
  });
}

async function originalOf(deps: Cutting, run: Run, dir: string): Promise<Original | VideoFailure> {
  try {
    const { from } = run.payload;
    if (run.lost > MAX_WORKER_CRASHES) throw new MediaFileError('INTERNAL', NOT_CUT);
    return await ('videoId' in from
      ? ofVideo(deps, run, dir, from.videoId, from.revision)
      : ofBroadcast(deps, run, dir, from));
  } catch (error) {
    if (run.signal.aborted || error instanceof JobDeferredError) throw error;
    if (error instanceof MediaFileError) return { code: error.code, message: error.message };
    if (isDiskError(error)) throw noSpace();
    if (!run.isLast) throw error;
    deps.log.error({ err: error, videoId: run.payload.videoId }, 'a clip could not be cut');
    return { code: 'INTERNAL', message: NOT_CUT };
  }
}

function noSpace(): JobDeferredError {
  return new JobDeferredError('no disk space for a clip', FULL_DISK_PAUSE_SEC);
}

/** @param wanted the revision of the file; the current one by default. */
async function ofVideo(
  deps: Cutting,
  run: Run,
  dir: string,
  sourceId: string,
  wanted?: number,
): Promise<Original> {
  const { startSec, endSec } = run.payload;
  const { key, source, zeroSec } = await fileOf(deps, sourceId, wanted);
  const durationSec = endSec - startSec;
  return deps.originals.use(key, run.signal, (input) =>
    cutOut(deps, run, dir, { input, source, startSec: zeroSec + startSec, durationSec }),
  );
}

/**
 * Copies captions and chapters of the source video. Broadcasts have none; a file replaced in the interim
 * yields none, since the present ones belong to the new file.
 */
async function copySourceMetadata(deps: Cutting, { payload }: Run): Promise<ClipMetadata> {
  const { from } = payload;
  const video = 'videoId' in from ? await processing.findVideo(deps.db, from.videoId) : undefined;
  if (video === undefined || !('videoId' in from)) return NOTHING;
  if (video.revision !== (from.revision ?? video.revision)) return NOTHING;
  return copyClipMetadata(deps, payload, { videoId: video.id, chapters: video.chapters }, payload);
}

/** Finds the file of a video, and the position at which the video begins in it. */
async function fileOf({ db, store }: Cutting, videoId: string, wanted?: number) {
  const video = await processing.findVideo(db, videoId);
  if (video === undefined || video.taken_down_at !== null) throw gone();
  const revision = wanted ?? video.revision;
  const isReplaced = video.revision !== revision;
  const key = isReplaced ? await findPreviousOriginal(db, videoId, revision) : video.original_key;
  if (key === null || (await store.head(key)) === null) throw gone();
  const known = await processing.findProcessing(db, videoId, revision);
  const source = known?.source;
  return { key, source, zeroSec: source?.zeroSec ?? 0, durationSec: video.duration_sec ?? 0 };
}

function gone(): MediaFileError {
  return new MediaFileError('SOURCE_UNREACHABLE', GONE);
}

/** Cuts a clip from the retained segments of a broadcast, otherwise from its recording. */
async function ofBroadcast(
  deps: Cutting,
  run: Run,
  dir: string,
  { streamId, sessionId, sinceMs }: { streamId: string; sessionId: string | null; sinceMs: number },
): Promise<Original> {
  const { startSec, endSec, workspaceId } = run.payload;
  const recordings = sessionId === null ? [] : await recordedOf(deps, sessionId);
  const isWithdrawn =
    recordings.some(({ isTakenDown }) => isTakenDown) ||
    (await deps.streams.isTakenDown(workspaceId, streamId));
  if (isWithdrawn) throw gone();
  const [fromMs, untilMs] = [sinceMs + startSec * 1000, sinceMs + endSec * 1000];
  await awaitEnd(deps, run, { streamId, sinceMs, untilMs });
  const found = await deps.segments.collect({ streamId, fromMs, untilMs, dir });
  if (found !== null) {
    if (!found.isWhole && deps.clock.ms() < untilMs + SEGMENT_MS)
      throw new JobDeferredError('the end of a clip is still being written', AGAIN_SEC);
    const [first = '', ...more] = found.parts;
    const join = { parts: found.parts, dir, maxSec: MAX_DURATION_SEC, signal: run.signal };
    const input = more.length === 0 ? first : await deps.joiner.join(join);
    return cutOut(deps, run, dir, { input, ...found });
  }
  return ofRecordings(deps, run, dir, recordings);
}

/** Waits for the last part of a clip that ends at the live edge, which usually arrives in a moment. */
async function awaitEnd(
  { segments, clock }: Cutting,
  { signal }: Run,
  { streamId, sinceMs, untilMs }: { streamId: string; sinceMs: number; untilMs: number },
): Promise<void> {
  const deadlineMs = performance.now() + PART_MS;
  while (clock.ms() < untilMs + SEGMENT_MS && performance.now() < deadlineMs) {
    const span = await segments.span(streamId, sinceMs);
    if (span === null || span.untilMs >= untilMs) return;
    await sleep(LOOK_MS, undefined, { signal });
  }
}

async function recordedOf(
  { db, streams }: Cutting,
  sessionId: string,
): Promise<(Recorded & { isTakenDown: boolean })[]> {
  const recordings = await streams.recordingsOf(sessionId);
  const videos = await repository.findRecorded(
    db,
    recordings.flatMap(({ videoId }) => videoId ?? []),
  );
  return recordings.map((recording) => {
    const video = videos.find(({ id }) => id === recording.videoId);
    const isTakenDown = video !== undefined && video.taken_down_at !== null;
    return { ...recording, durationSec: video?.duration_sec ?? null, isTakenDown };
  });
}

/** Cuts a clip from one recording, or across consecutive recordings. */
async function ofRecordings(
  deps: Cutting,
  run: Run,
  dir: string,
  recordings: readonly Recorded[],
): Promise<Original> {
  const places = sourceRanges(recordings, run.payload);
  if (places === 'COMING') throw new JobDeferredError('the recording is still being created', AGAIN_SEC);
  if (places === null) throw gone();
  const files = await Promise.all(
    places.map(async (place) => ({ ...place, ...(await fileOf(deps, place.videoId)) })),
  );
  const [first] = files;
  if (first === undefined) throw gone();
  const startSec = first.zeroSec + first.startSec;
  const durationSec = places.reduce((sum, place) => sum + place.endSec - place.startSec, 0);
  const lengths = files.map((file) => file.zeroSec + file.durationSec);
  const keys = files.map(({ key }) => key);
  return useAll(deps.originals, run.signal, keys, (paths) => {
    const [path = '', ...more] = paths;
    const all = paths.map((one, index) => ({ path: one, durationSec: lengths[index] ?? 0 }));
    const one = more.length === 0 ? { input: path, source: first.source } : { input: all };
    return cutOut(deps, run, dir, { ...one, startSec, durationSec });
  });
}

/** Provides each file until `work` ends. */
function useAll<T>(
  originals: Originals,
  signal: AbortSignal,
  [key, ...more]: readonly string[],
  work: (paths: string[]) => Promise<T>,
): Promise<T> {
  if (key === undefined) return work([]);
  return originals.use(key, signal, (path) =>
    useAll(originals, signal, more, (paths) => work([path, ...paths])),
  );
}

async function cutOut(
  { cutter, store }: Cutting,
  run: Run,
  dir: string,
  taken: CutSource,
): Promise<Original> {
  const { input, source, startSec, durationSec } = taken;
  const path = await cutter.cut({ input, source, startSec, durationSec, dir, signal: run.signal });
  const { workspaceId, videoId } = run.payload;
  const isQuickTime = extname(path) === '.mov';
  const key = originalKey({ workspace_id: workspaceId, id: videoId }, run.id);
  return store.putFile(key, path, isQuickTime ? 'video/quicktime' : 'video/mp4');
}

/** Passes the file to the video, if the plan has room for it. */
async function handOver(deps: Cutting, run: Run, original: Original, beside: ClipMetadata): Promise<void> {
  const { events, intake, store, clock } = deps;
  const video = run.payload;
  let unused = beside.captions;
  const give = () =>
    events.transaction(async (tx, append) => {
      await intake.lock(tx, video);
      await run.confirm(tx);
      // Storage reserved for a video deleted in the interim would never be released.
      if ((await repository.findOriginal(tx, video.workspaceId, video.videoId)) === undefined) return null;
      await intake.hold.reserve(tx, video, original.sizeBytes);
      if (!(await intake.received(tx, append, video, original))) return null;
      return publishClipMetadata(tx, append, video, { ...beside, at: clock.now() });
    });
  try {
    const rest = await intake.hold.makingRoom(video.workspaceId, give);
    if (rest === null) await store.delete(original.key);
    else unused = rest;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'QUOTA_EXCEEDED') throw error;
    await store.delete(original.key);
    await fail(deps, run, { code: 'SIZE_EXCEEDED', message: error.message });
  } finally {
    await dropCaptions(store, video, unused);
  }
}

function fail({ events, intake }: Cutting, run: Run, failure: VideoFailure): Promise<unknown> {
  return events.transaction(async (tx, append) => {
    await intake.lock(tx, run.payload);
    await run.confirm(tx);
    return intake.fail(tx, append, run.payload, failure);
  });
}
