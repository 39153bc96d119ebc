import { setTimeout as sleep } from 'node:timers/promises';
import type { AppendEvent } from '../../../../events/index.ts';
import type { EnqueueOptions, JobRun } from '../../../../jobs/job.ts';
import { isTransientError, type Tx } from '../../../../platform/db/index.ts';
import { getWorkspaceOwner, type WorkspaceOwner } from '../../../../platform/db/workspace.ts';
import { transcribeJob } from '../captions/auto.jobs.ts';
import { failReplacement, pickReplacement, swapFile } from '../replacement/swap.ts';
import { lockAnyVideo, type VideoRow } from '../repository.ts';
import * as transitions from '../transitions.ts';
import { VIDEO_TOPIC } from '../with-locked-video.ts';
import type { ProcessingDeps } from './context.ts';
import { additionalCodecsJob, captionsJob, cleanUpJob, encodeJob, imagesJob, prepareJob } from './jobs.ts';
import { lockProcessed, type ProcessedVideo } from './processed.ts';
import * as repository from './repository.ts';
import {
  ENCODE_TASKS,
  type EncodeTask,
  hasPosterOf,
  IMAGES_TASKS,
  type ImagesTask,
  isOptional,
  type NextStep,
  nextSteps,
  priorityOf,
} from './rules.ts';

export interface Target {
  videoId: string;
  revision: number;
}

/** Video and revision being processed. */
export type ProcessingRun = Pick<VideoRow, 'id' | 'workspace_id' | 'revision'>;

/** The clean-up is not urgent. */
const CLEAN_UP: EnqueueOptions = { delaySec: 60 };

const WRITE_TRIES = 5;
const WRITE_PAUSE_MS = 500;

/** Parts of a job run that the steps need. */
export type Run<P extends Target = Target> = Pick<
  JobRun<P>,
  'id' | 'payload' | 'isLast' | 'signal' | 'confirm'
>;

/**
 * Runs `work` under the lock of the video while this worker owns the job and the video is still being
 * processed. Output of a run becomes visible only here.
 *
 * @param during the states of the video in which the job applies.
 * @returns false when the video was deleted, finished or restarted in the interim: the output is discarded.
 */
export async function commitRun(
  deps: ProcessingDeps,
  run: Run,
  work: (tx: Tx, append: AppendEvent, video: ProcessedVideo) => Promise<void>,
  during: readonly VideoRow['status'][] = ['PROCESSING'],
): Promise<boolean> {
  const { videoId, revision } = run.payload;
  const write = async (tx: Tx, append: AppendEvent) => {
    // The video is locked before the job, as a deletion does.
    const video = await lockProcessed(tx, videoId, revision);
    await run.confirm(tx);
    if (video === undefined || !during.includes(video.status)) return false;
    await work(tx, append, video);
    return true;
  };
  const isDone = await patiently(() => deps.events.transaction(write), run.signal);
  if (isDone) deps.bus.publish(VIDEO_TOPIC, videoId);
  return isDone;
}

/** Retries a write, so that hours of encoding survive a deadlock or a short outage of the database. */
async function patiently<T>(write: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let left = WRITE_TRIES - 1; ; left--) {
    try {
      return await write();
    } catch (error) {
      if (left === 0 || signal.aborted || !isTransientError(error)) throw error;
      await sleep(WRITE_PAUSE_MS);
    }
  }
}

/** Returns the video of a job, PROCESSING from now on; undefined when there is nothing left to do. */
export async function begin(
  deps: ProcessingDeps,
  run: Run,
  during: readonly VideoRow['status'][] = ['PROCESSING'],
): Promise<ProcessedVideo | undefined> {
  const { videoId, revision } = run.payload;
  return deps.events.transaction(async (tx, append) => {
    const row = await lockProcessed(tx, videoId, revision);
    if (row === undefined || during.includes(row.status)) return row;
    const now = deps.clock.now();
    if (row.replaces) return pickReplacement(tx, row, now);
    const picked = await transitions.pick({ tx, append, row, now });
    return picked === null ? undefined : { ...picked, replaces: false };
  });
}

/**
 * Enqueues the next steps in the transaction of the last one; when none are left, the video becomes READY.
 */
export async function advance(
  deps: ProcessingDeps,
  tx: Tx,
  append: AppendEvent,
  video: ProcessedVideo,
): Promise<void> {
  const steps = await stepsOf(tx, video);
  if (steps.every((step) => isOptional(step, video))) await complete(deps, tx, append, video);
  if (steps.length === 0) return;
  const owner = await getWorkspaceOwner(tx, video.workspace_id);
  const now = deps.clock.now();
  await repository.updateProcessing(tx, video.id, video.revision, { last_activity_at: now });
  for (const step of steps) await enqueue(deps, tx, video, owner, step);
}

/**
 * Completes the video after a run that is parallel to the others, when no required step is left; the next
 * steps are in the queue already.
 */
export async function completeIfLast(
  deps: ProcessingDeps,
  tx: Tx,
  append: AppendEvent,
  video: ProcessedVideo,
): Promise<void> {
  if (video.status !== 'PROCESSING') return;
  const steps = await stepsOf(tx, video);
  if (steps.every((step) => isOptional(step, video))) await complete(deps, tx, append, video);
}

async function stepsOf(tx: Tx, video: VideoRow): Promise<NextStep[]> {
  const processing = await repository.findProcessing(tx, video.id, video.revision);
  if (processing === undefined) return [{ kind: 'PREPARE' }];
  const renditions = await repository.renditionsOf(tx, video.id, video.revision);
  const chunks = await repository.chunksOf(tx, video.id, video.revision);
  return nextSteps({
    mode: processing.mode,
    ladder: processing.ladder,
    durationSec: processing.source.durationSec,
    isClip: video.source === 'CLIP',
    hasPoster: hasPosterOf(video),
    imagesDone: processing.images_done,
    captionsDone: processing.captions_done,
    ready: new Set(renditions.filter(({ status }) => status === 'READY').map(({ name }) => name)),
    chunks: chunks.map((chunk) => ({ number: chunk.number, isDone: chunk.folder !== null })),
  });
}

async function complete(
  deps: ProcessingDeps,
  tx: Tx,
  append: AppendEvent,
  row: ProcessedVideo,
): Promise<void> {
  const { clock, links } = deps;
  const now = clock.now();
  const step = { tx, append, row, now };
  const ready = row.replaces ? await replace(deps, step) : await transitions.complete(step, links);
  if (ready !== null) {
    await countEncoded(deps, tx, ready, now);
    await enqueueAdditionalCodecs(deps, tx, ready);
  }
  await repository.deletePreviousRevisions(tx, row.id, row.revision);
  await enqueueCleanUp(deps, tx, row);
}

/** Switches the video to its new file; nothing more is derived from the previous one. */
async function replace(
  { queue, links }: ProcessingDeps,
  step: transitions.Step & { row: ProcessedVideo },
): Promise<VideoRow | null> {
  const { tx, row } = step;
  const former = await lockAnyVideo(tx, row.id);
  if (former === undefined) return null;
  await cancelJobs({ queue }, tx, former);
  await queue.cancel(tx, transcribeJob, row.id);
  return swapFile(step, former, links);
}

/** Enqueues the additional codecs, if any are planned. */
async function enqueueAdditionalCodecs({ queue }: ProcessingDeps, tx: Tx, video: VideoRow): Promise<void> {
  const { id: videoId, revision } = video;
  const processing = await repository.findProcessing(tx, videoId, revision);
  if (processing === undefined || processing.ladder.further.length === 0) return;
  const { plan, accountId } = await getWorkspaceOwner(tx, video.workspace_id);
  const target = { videoId, revision };
  await queue.enqueue(tx, additionalCodecsJob, target, {
    priority: priorityOf(plan),
    group: accountId,
    key: keyOf(target),
  });
}

export function enqueueCleanUp(
  { queue }: Pick<ProcessingDeps, 'queue'>,
  tx: Tx,
  { id }: Pick<VideoRow, 'id'>,
): Promise<void> {
  return queue.enqueue(tx, cleanUpJob, { videoId: id }, CLEAN_UP);
}

/** The time that the video lasts, once: however many renditions it has, and runs it took (docs/concepts/usage.md#metrics). */
async function countEncoded(
  { facts }: ProcessingDeps,
  tx: Tx,
  { id, workspace_id: workspaceId, duration_sec: durationSec }: VideoRow,
  at: Date,
): Promise<void> {
  const amount = Math.round((durationSec ?? 0) * 1000);
  if (amount > 0) await facts.append(tx, [{ kind: 'ENCODE', workspaceId, subjectId: id, amount, at }]);
}

/** Fails the video and cancels its jobs; a video whose file was to be replaced keeps playing. */
export async function failVideo(
  deps: ProcessingDeps,
  tx: Tx,
  append: AppendEvent,
  video: ProcessedVideo,
  failure: transitions.VideoFailure,
): Promise<void> {
  const step = { tx, append, row: video, now: deps.clock.now() };
  if (video.replaces) await failReplacement(step, failure);
  else await transitions.fail(step, failure);
  // The failed run is included: it ends by itself.
  await cancelJobs(deps, tx, video);
  await enqueueCleanUp(deps, tx, video);
}

/** Enqueues the first job of a revision. */
export async function enqueuePrepare(deps: ProcessingDeps, tx: Tx, video: ProcessingRun): Promise<void> {
  const owner = await getWorkspaceOwner(tx, video.workspace_id);
  await enqueue(deps, tx, video, owner, { kind: 'PREPARE' });
}

async function enqueue(
  { queue }: ProcessingDeps,
  tx: Tx,
  video: ProcessingRun,
  { plan, accountId }: WorkspaceOwner,
  step: NextStep,
): Promise<void> {
  const target = { videoId: video.id, revision: video.revision };
  const options: EnqueueOptions = { priority: priorityOf(plan), group: accountId, key: keyOf(target) };
  if (step.kind === 'PREPARE') return queue.enqueue(tx, prepareJob, target, options);
  if (step.kind === 'IMAGES') {
    const { task } = step;
    return queue.enqueue(tx, imagesJob, { ...target, task }, { ...options, key: imagesKeyOf(target, task) });
  }
  if (step.kind === 'CAPTIONS') return queue.enqueue(tx, captionsJob, target, options);
  const { task, chunk } = step;
  return queue.enqueue(
    tx,
    encodeJob,
    { ...target, task, chunk },
    { ...options, priority: priorityOf(plan, task), key: encodeKeyOf(target, task, chunk) },
  );
}

/** Cancels the waiting and running jobs of the revision, except for a thumbnail. */
export async function cancelJobs(
  { queue }: Pick<ProcessingDeps, 'queue'>,
  tx: Tx,
  { id: videoId, revision }: Pick<VideoRow, 'id' | 'revision'>,
): Promise<void> {
  const target = { videoId, revision };
  await queue.cancel(tx, prepareJob, keyOf(target));
  for (const task of IMAGES_TASKS) await queue.cancel(tx, imagesJob, imagesKeyOf(target, task));
  await queue.cancel(tx, captionsJob, keyOf(target));
  await queue.cancel(tx, additionalCodecsJob, keyOf(target));
  for (const task of ENCODE_TASKS) {
    if (task !== 'CHUNK') await queue.cancel(tx, encodeJob, encodeKeyOf(target, task, null));
  }
  for (const { number, folder } of await repository.chunksOf(tx, videoId, revision)) {
    if (folder === null) await queue.cancel(tx, encodeJob, encodeKeyOf(target, 'CHUNK', number));
  }
}

/** Returns the job key, which contains the revision so that a retry is not taken for the failed run. */
function keyOf({ videoId, revision }: Target): string {
  return `${videoId}/${revision}`;
}

/** Returns the job key; that of all images matches older versions. */
function imagesKeyOf(target: Target, task: ImagesTask): string {
  return task === 'ALL' ? keyOf(target) : `${keyOf(target)}/${task}`;
}

function encodeKeyOf(target: Target, task: EncodeTask, chunk: number | null): string {
  return `${keyOf(target)}/${task}${chunk === null ? '' : `/${chunk}`}`;
}
