import type { JobWorker } from '../../../../jobs/job.ts';
import { dateFromMs } from '../../../../kernel/clock.ts';
import { getWorkspaceOwner } from '../../../../platform/db/workspace.ts';
import type { VideoProcessing } from '../intake/service.ts';
import * as replacements from '../replacement/repository.ts';
import { lockAnyVideo } from '../repository.ts';
import { abandonAdditionalCodecs, encodeAdditionalCodecs } from './additional-codecs.ts';
import { skipAudioTracks } from './audio-tracks.ts';
import { makeCaptions, skipCaptions } from './captions.ts';
import { cleanUp } from './clean-up.ts';
import type { ProcessingContext, ProcessingDeps } from './context.ts';
import { encode } from './encode.ts';
import { withErrorHandling } from './failures.ts';
import { clearScratch } from './files.ts';
import { advance, cancelJobs, enqueueCleanUp, enqueuePrepare } from './flow.ts';
import { makeImages, makeThumbnail, skipImages } from './images.ts';
import {
  additionalCodecsJob,
  captionsJob,
  cleanUpJob,
  encodeJob,
  imagesJob,
  prepareJob,
  thumbnailJob,
} from './jobs.ts';
import { createOriginals } from './originals.ts';
import { prepare } from './prepare.ts';
import { lockProcessed } from './processed.ts';
import * as repository from './repository.ts';
import { priorityOf } from './rules.ts';

/** Time without progress after which the next step of a processing is considered lost. */
const QUIET_MS = 15 * 60_000;
/** Concurrent preparations in addition to the encodes: probing and copying are mostly reads. */
const PREPARE_SLOTS = 2;

export interface VideoProcessor extends VideoProcessing {
  /**
   * Returns the workers of this process.
   *
   * @param slots concurrent encodes; 0 leaves all of them to other nodes.
   */
  workers(slots: number): JobWorker[];
  /** Scratch folder of this process; removed at the next start. */
  readonly scratchDir: string;
  /** Removes files that runs of an earlier process left on the disk of this node. */
  clearScratch(): Promise<void>;
  /** Enqueues missing jobs again; the queue ignores those it already has. */
  sweep(): Promise<void>;
}

/**
 * From a stored original to READY (docs/decisions/transcoding.md): each step a job, and
 * the next one enqueued by the transaction that finishes the one before.
 */
export function createVideoProcessing(parts: ProcessingDeps): VideoProcessor {
  const { db, queue, events, clock } = parts;
  const { scratchDir } = parts;
  const deps = { ...parts, originals: createOriginals(parts) };
  return {
    scratchDir,
    start: (tx, video) => enqueuePrepare(deps, tx, video),
    async cancel(tx, videoId) {
      const video = await lockAnyVideo(tx, videoId);
      if (video === undefined) return;
      await cancelJobs(deps, tx, video);
      await queue.cancel(tx, thumbnailJob, videoId);
      const replacement = await replacements.openReplacement(tx, videoId);
      if (replacement !== undefined) await cancelJobs(deps, tx, { ...replacement, id: videoId });
    },
    async discard(tx, { video_id: id, revision }) {
      await cancelJobs(deps, tx, { id, revision });
      await enqueueCleanUp(deps, tx, { id });
    },
    async thumbnail(tx, video, atSec) {
      await queue.cancel(tx, thumbnailJob, video.id);
      if (atSec === null) return;
      const { plan, accountId } = await getWorkspaceOwner(tx, video.workspace_id);
      const options = { priority: priorityOf(plan), group: accountId, key: video.id };
      await queue.enqueue(tx, thumbnailJob, { videoId: video.id, atSec }, options);
    },
    workers: (slots) => (slots === 0 ? [] : createWorkers(deps, slots)),
    clearScratch: () => clearScratch(scratchDir),
    async sweep() {
      const before = dateFromMs(clock.ms() - QUIET_MS);
      const quiet = [
        await repository.listStalledProcessing(db, before),
        await replacements.findQuiet(db, before),
      ].flat();
      for (const { id, revision } of quiet) {
        await events.transaction(async (tx, append) => {
          const video = await lockProcessed(tx, id, revision);
          if (video === undefined) return;
          if (video.status === 'QUEUED') await enqueuePrepare(deps, tx, video);
          if (video.status === 'PROCESSING') await advance(deps, tx, append, video);
        });
      }
    },
  };
}

function createWorkers(deps: ProcessingContext, slots: number): JobWorker[] {
  return [
    {
      job: prepareJob,
      concurrency: PREPARE_SLOTS,
      run: withErrorHandling(deps, (run) => prepare(deps, run)),
    } satisfies JobWorker<typeof prepareJob.payload>,
    {
      job: encodeJob,
      concurrency: slots,
      run: withErrorHandling(deps, (run) => encode(deps, run), {
        onGivenUp: (run) => skipAudioTracks(deps, run),
        canDoWithout: ({ task }) => task === 'AUDIO',
      }),
    } satisfies JobWorker<typeof encodeJob.payload>,
    {
      job: imagesJob,
      concurrency: 1,
      run: withErrorHandling(deps, (run) => makeImages(deps, run), {
        onGivenUp: (run) => skipImages(deps, run),
      }),
    } satisfies JobWorker<typeof imagesJob.payload>,
    {
      job: additionalCodecsJob,
      concurrency: 1,
      run: withErrorHandling(deps, (run) => encodeAdditionalCodecs(deps, run), {
        onGivenUp: (run) => abandonAdditionalCodecs(deps, run),
      }),
    } satisfies JobWorker<typeof additionalCodecsJob.payload>,
    {
      job: captionsJob,
      concurrency: 1,
      run: withErrorHandling(deps, (run) => makeCaptions(deps, run), {
        onGivenUp: (run) => skipCaptions(deps, run),
      }),
    } satisfies JobWorker<typeof captionsJob.payload>,
    {
      job: thumbnailJob,
      concurrency: 1,
      run: (run) => makeThumbnail(deps, run),
    } satisfies JobWorker<typeof thumbnailJob.payload>,
    {
      job: cleanUpJob,
      concurrency: 1,
      run: (run) => cleanUp(deps, run.payload.videoId),
    } satisfies JobWorker<typeof cleanUpJob.payload>,
  ];
}

/** All processing jobs, for the registry. */
export const processingJobs = [
  prepareJob,
  encodeJob,
  imagesJob,
  captionsJob,
  additionalCodecsJob,
  thumbnailJob,
  cleanUpJob,
];
