import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Events } from '../../../events/index.ts';
import { JobDeferredError, type JobRun, type JobWorker } from '../../../jobs/job.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { originalKey } from '../../../kernel/media-keys.ts';
import { MAX_DURATION_SEC } from '../../../kernel/plans.ts';
import { type BlobStore, MediaFileError, type RecordingJoiner } from '../../../media/contract/index.ts';
import type { Db } from '../../../platform/db/index.ts';
import { isDiskError } from '../../../platform/disk.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { VideoIntake } from '../../video/videos/index.ts';
import { recordingJob } from './jobs.ts';
import { folderOf, partKey } from './recordings.service.ts';
import type { PartRow, RecordingRow } from './repository.ts';
import * as repository from './repository.ts';

export interface RecordingAssemblyDeps {
  db: Db;
  events: Events;
  store: BlobStore;
  joiner: RecordingJoiner;
  intake: Pick<VideoIntake, 'lock' | 'received' | 'fail' | 'hold'>;
  clock: Clock;
  log: Logger;
  /** Directory in which joined files are written before they go to the store, on the disk of the store. */
  scratchDir: string;
}

const CONCURRENCY = 2;
/** Slightly below the maximum length of a video, so that rounding never exceeds it. */
const LONGEST_SEC = MAX_DURATION_SEC - 1;
const FULL_DISK_PAUSE_SEC = 30;

type Run = JobRun<{ recordingId: string }>;
type Original = { key: string; sizeBytes: number };
type Failure = { code: 'INTERNAL' | MediaFileError['code']; message: string };

/**
 * Creates the worker that builds the original of a recording's video: a single part unchanged, or all parts
 * joined.
 */
export function createRecordingAssembly(deps: RecordingAssemblyDeps): JobWorker<typeof recordingJob.payload> {
  return { job: recordingJob, concurrency: CONCURRENCY, run: (run) => assemble(deps, run) };
}

async function assemble(deps: RecordingAssemblyDeps, run: Run): Promise<void> {
  const { db, store } = deps;
  const { recordingId } = run.payload;
  const recording = await repository.findRecording(db, recordingId);
  if (recording === undefined || recording.video_id === null) return;
  const parts = (await repository.partsOf(db, recordingId)).filter((part) => part.size_bytes !== null);
  if (recording.settled_at === null) {
    const outcome = await originalOf(deps, run, recording, recording.video_id, parts);
    await handOver(deps, run, parts, recording.video_id, outcome);
  }
  // Also runs when an earlier attempt failed here: the joined file is no longer needed.
  if (parts.length > 1) await store.deletePrefix(folderOf(recording));
}

async function originalOf(
  deps: RecordingAssemblyDeps,
  run: Run,
  recording: RecordingRow,
  videoId: string,
  parts: readonly PartRow[],
): Promise<Original | Failure> {
  const [only] = parts;
  if (only === undefined) {
    return { code: 'INTERNAL', message: 'No part of the recording could be saved.' };
  }
  if (parts.length === 1 && !mayBeTooLong(only)) {
    return { key: partKey(recording, only.id), sizeBytes: only.size_bytes ?? 0 };
  }
  try {
    return await joined(deps, run, recording, videoId, parts);
  } catch (error) {
    if (run.signal.aborted) throw error;
    if (error instanceof MediaFileError) return { code: error.code, message: error.message };
    if (isDiskError(error)) throw new JobDeferredError('no disk space for a recording', FULL_DISK_PAUSE_SEC);
    if (!run.isLast) throw error;
    deps.log.error({ err: error, recordingId: recording.id }, 'a recording could not be joined');
    return { code: 'INTERNAL', message: 'The recording segments could not be merged.' };
  }
}

async function joined(
  { store, joiner, scratchDir }: RecordingAssemblyDeps,
  run: Run,
  recording: RecordingRow,
  videoId: string,
  parts: readonly PartRow[],
): Promise<Original> {
  const dir = join(scratchDir, run.id);
  await rm(dir, { recursive: true, force: true });
  await mkdir(dir, { recursive: true });
  try {
    const files: string[] = [];
    for (const part of parts)
      files.push(await store.toLocalFile(partKey(recording, part.id), dir, run.signal));
    const path = await joiner.join({ parts: files, dir, maxSec: LONGEST_SEC, signal: run.signal });
    const { workspace_id, id } = recording;
    return await store.putFile(originalKey({ workspace_id, id: videoId }, id), path, 'video/mp4');
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Gives the video its file or fails it, and settles the recording. */
async function handOver(
  { events, intake, clock }: RecordingAssemblyDeps,
  run: Run,
  parts: readonly PartRow[],
  videoId: string,
  outcome: Original | Failure,
): Promise<void> {
  const { recordingId } = run.payload;
  await events.transaction(async (tx, append) => {
    const known = await repository.findRecording(tx, recordingId);
    if (known === undefined) return;
    const video = { workspaceId: known.workspace_id, videoId };
    await intake.lock(tx, video);
    await repository.lockRecording(tx, recordingId);
    const now = await repository.partsOf(tx, recordingId);
    const isSame = now.filter((part) => part.size_bytes !== null).length === parts.length;
    // A node that could not reach the database has just reported another part.
    if (!isSame || now.some((part) => part.closed_at === null)) {
      throw new JobDeferredError('another part of the recording has arrived', 1);
    }
    await run.confirm(tx);
    const isTrash =
      'code' in outcome
        ? !(await intake.fail(tx, append, video, outcome))
        : !(await intake.received(tx, append, video, outcome));
    // The video holds the storage from here on; a deleted one holds it until its files are removed.
    if (!isTrash)
      await intake.hold.grow(tx, known.workspace_id, -(await repository.releasePartStorage(tx, recordingId)));
    await repository.updateRecording(tx, recordingId, { settled_at: clock.now() });
  });
}

/**
 * Reports whether the part may exceed the maximum length: recording starts at the keyframe before the
 * broadcast, so the end must be cut.
 */
function mayBeTooLong({ started_at: startedAt, closed_at: closedAt }: PartRow): boolean {
  if (closedAt === null) return false;
  return closedAt.getTime() - startedAt.getTime() >= (MAX_DURATION_SEC - 60) * 1000;
}
