import type { Static } from 'typebox';
import type { Events } from '../../../../events/index.ts';
import type { JobQueue } from '../../../../jobs/job.ts';
import type { Clock } from '../../../../kernel/clock.ts';
import { AppError, badRequest, quotaExceeded } from '../../../../kernel/errors.ts';
import { PLANS, type Plan } from '../../../../kernel/plans.ts';
import type { Visibility } from '../../../../kernel/visibility.ts';
import type { BroadcastSegments } from '../../../../media/contract/index.ts';
import type { Db, Tx } from '../../../../platform/db/index.ts';
import type { VideoIntake } from '../intake/service.ts';
import type { VideoDetails } from '../repository.ts';
import * as repository from '../repository.ts';
import { clipJob } from './jobs.ts';
import * as rules from './rules.ts';

/** Current broadcast, or the last one. */
export interface ClippedBroadcast {
  title: string;
  visibility: Visibility;
  tierIds: readonly string[];
  sessionId: string | null;
  sinceMs: number;
  /** Null while it is live. */
  untilMs: number | null;
}

/** Stream operations needed by clips; set in module.ts. */
export interface ClippedStreams {
  /**
   * Returns null when there was no broadcast, or it is hidden.
   *
   * @throws {AppError} NOT_FOUND.
   */
  broadcastOf(workspaceId: string, streamId: string): Promise<ClippedBroadcast | null>;
  /** Reports whether the operator has taken the stream down; false for a deleted one. */
  isTakenDown(workspaceId: string, streamId: string): Promise<boolean>;
  /** Lists the recordings of a session's broadcast in their order. */
  recordingsOf(sessionId: string): Promise<Pick<rules.Recorded, 'number' | 'videoId' | 'isComing'>[]>;
}

export interface NewClip extends rules.ClipRange {
  title: string;
  /** Visibility of the clip; that of its source by default. */
  visibility?: Visibility;
}

/** Pieces of videos and broadcasts, which are videos of their own (docs/concepts/clips.md). */
export interface Clips {
  /** @throws {AppError} NOT_FOUND; CONFLICT unless it is READY; BAD_REQUEST; QUOTA_EXCEEDED. */
  ofVideo(workspaceId: string, videoId: string, input: NewClip): Promise<VideoDetails>;
  /**
   * @throws {AppError} NOT_FOUND; CONFLICT where nothing of its broadcast is stored; BAD_REQUEST;
   *   QUOTA_EXCEEDED.
   */
  ofStream(workspaceId: string, streamId: string, input: NewClip): Promise<VideoDetails>;
}

export interface ClipDeps {
  db: Db;
  events: Events;
  jobs: Pick<JobQueue, 'enqueue'>;
  clock: Clock;
  intake: Pick<VideoIntake, 'create' | 'hold' | 'lock'>;
  videos: { get(workspaceId: string, id: string): Promise<VideoDetails> };
  streams: ClippedStreams;
  segments: Pick<BroadcastSegments, 'span'>;
}

export function createClips(deps: ClipDeps): Clips {
  return {
    async ofVideo(workspaceId, videoId, input) {
      const video = await deps.videos.get(workspaceId, videoId);
      assertClip(input);
      if (video.status !== 'READY' || video.taken_down_at !== null) {
        const message = 'Clips require a READY video that has not been taken down.';
        throw new AppError('CONFLICT', { field: 'status', message });
      }
      const whole = { fromSec: 0, untilSec: video.duration_sec ?? 0 };
      const from = { videoId, revision: video.revision };
      const source = { ...video, streamId: video.stream_id, tierIds: video.tier_ids };
      const piece = rules.clampToAvailable(input, whole, 'The video');
      const bytes = rules.expectedBytes(piece, {
        bytes: video.size_bytes,
        durationSec: video.duration_sec,
      });
      return begin(deps, workspaceId, { ...input, ...piece, from, source, bytes });
    },
    async ofStream(workspaceId, streamId, input) {
      const broadcast = await deps.streams.broadcastOf(workspaceId, streamId);
      assertClip(input);
      if (broadcast === null) throw nothingStored('The stream has no broadcast to clip.');
      const recorded = await recordedOf(deps, broadcast);
      const available = await availableOf(deps, streamId, broadcast, recorded);
      const piece = rules.clampToAvailable(input, available, 'The broadcast');
      const { sessionId, sinceMs } = broadcast;
      const bytes = rules.expectedBytes(piece, recorded);
      const from = { streamId, sessionId, sinceMs };
      return begin(deps, workspaceId, {
        ...input,
        ...piece,
        from,
        source: { ...broadcast, streamId },
        bytes,
      });
    },
  };
}

function assertClip(input: NewClip): void {
  rules.assertLength(input);
  if (input.visibility === 'PURCHASE')
    throw badRequest(
      'visibility',
      'PURCHASE visibility requires a price. Create the clip as PRIVATE, then set a price.',
    );
}

function nothingStored(message: string): AppError {
  return new AppError('CONFLICT', { message });
}

/** Total size and duration of the recordings. */
interface RecordingTotals {
  bytes: number | null;
  durationSec: number | null;
  /** Whether there is a recording, or one is being created. */
  isThere: boolean;
}

/**
 * Lists the recordings of an ended broadcast.
 *
 * @throws {AppError} CONFLICT where one is taken down.
 */
async function recordedOf(
  { db, streams }: ClipDeps,
  { sessionId, untilMs }: ClippedBroadcast,
): Promise<RecordingTotals> {
  const recordings = untilMs === null || sessionId === null ? [] : await streams.recordingsOf(sessionId);
  const videos = await repository.findRecorded(
    db,
    recordings.flatMap(({ videoId }) => videoId ?? []),
  );
  if (videos.some((video) => video.taken_down_at !== null))
    throw nothingStored('A recording of the broadcast has been taken down.');
  const there = videos.filter((video) => video.deleted_at === null);
  const known = there.filter((video) => video.size_bytes !== null && video.duration_sec !== null);
  return {
    bytes: known.length === 0 ? null : known.reduce((sum, video) => sum + (video.size_bytes ?? 0), 0),
    durationSec: known.reduce((sum, video) => sum + (video.duration_sec ?? 0), 0),
    isThere: there.length > 0 || recordings.some(({ isComing }) => isComing),
  };
}

/**
 * Returns the available range of a broadcast: all of it when there is a recording, otherwise the retained
 * segments.
 */
async function availableOf(
  { segments, clock }: ClipDeps,
  streamId: string,
  { sinceMs, untilMs }: ClippedBroadcast,
  { isThere: hasRecordings }: RecordingTotals,
): Promise<rules.Available> {
  const untilSec = ((untilMs ?? clock.ms()) - sinceMs) / 1000;
  if (hasRecordings) return { fromSec: 0, untilSec };
  const span = await segments.span(streamId, sinceMs);
  if (span === null)
    throw nothingStored(
      'No media of the broadcast is stored. Set dvrWindowSec or enable recording before the next broadcast.',
    );
  return { fromSec: (span.fromMs - sinceMs) / 1000, untilSec };
}

interface Beginning extends NewClip {
  from: Static<typeof clipJob.payload>['from'];
  source: { visibility: Visibility; tierIds: readonly string[]; streamId: string | null };
  /** Expected size; the actual size is known after the cut. */
  bytes: number;
}

/** Creates a video that waits for its file, and the job that cuts it. */
function begin(
  { events, jobs, intake }: ClipDeps,
  workspaceId: string,
  { title, visibility, startSec, endSec, from, source, bytes }: Beginning,
): Promise<VideoDetails> {
  const inherited = source.visibility === 'PURCHASE' ? 'PRIVATE' : source.visibility;
  return intake.hold.makingRoom(workspaceId, () =>
    events.transaction(async (tx, append) => {
      const { accountId, plan } = await intake.lock(tx, { workspaceId, videoId: null });
      await assertFewWait(tx, workspaceId, plan);
      const { id: videoId } = await intake.create(tx, append, workspaceId, {
        title,
        visibility: visibility ?? inherited,
        tierIds: [...source.tierIds],
        source: 'CLIP',
        ...(source.streamId !== null && { streamId: source.streamId }),
      });
      await intake.hold.reserve(tx, { workspaceId, videoId }, bytes);
      const options = { key: videoId, group: accountId, priority: PLANS[plan].priority };
      await jobs.enqueue(tx, clipJob, { workspaceId, videoId, startSec, endSec, from }, options);
      return repository.getVideoDetails(tx, videoId);
    }),
  );
}

/** Limits pending clips: each is a run of ffmpeg and files, for a free call. */
async function assertFewWait(tx: Tx, workspaceId: string, plan: Plan): Promise<void> {
  const { openUploads } = PLANS[plan];
  if ((await repository.countWaiting(tx, workspaceId, 'CLIP')) < openUploads) return;
  const message = `Limit of ${openUploads} pending clips reached for this plan.`;
  throw quotaExceeded({ workspaceId, resource: 'OPEN_UPLOADS' }, message);
}
