import { type AppendEvent, nextSequence } from '../../../events/index.ts';
import type { VideoErrorCode } from '../../../media/contract/index.ts';
import type { Tx } from '../../../platform/db/index.ts';
import type { VideoLinks } from '../../audience/playback/index.ts';
import {
  videoProcessingCompleted,
  videoProcessingFailed,
  videoProcessingStarted,
  videoUploadCompleted,
} from './events.ts';
import type { VideoChange, VideoRow } from './repository.ts';
import * as repository from './repository.ts';
import * as rules from './rules.ts';
import { toLinked } from './schemas.ts';

/**
 * The state table of docs/concepts/videos.md#states, each step with its events, in the caller's transaction and
 * under its lock of the row. A step that does not apply (the video is deleted, or somewhere else by now)
 * changes nothing and answers null.
 */

export interface Step {
  tx: Tx;
  append: AppendEvent;
  row: VideoRow;
  now: Date;
}

export interface VideoFailure {
  code: VideoErrorCode;
  /** Shown to the owner. */
  message: string;
}

function target(row: VideoRow, step: rules.VideoStep) {
  return row.deleted_at === null ? rules.nextStatus(row.status, step) : null;
}

/**
 * Moves a video from UPLOADING to QUEUED once its original is stored. Uploads emit `video.upload.completed`.
 */
export async function receive(
  { tx, append, row, now }: Step,
  original: { key: string; sizeBytes: number },
): Promise<VideoRow | null> {
  const status = target(row, 'received');
  if (status === null) return null;
  const { key, sizeBytes } = original;
  const change = { status, original_key: key, size_bytes: sizeBytes, updated_at: now };
  const after = await repository.updateVideo(tx, row.id, change);
  if (row.upload_id !== null) {
    const sequence = await nextSequence(tx, 'video', row.id);
    const data = { videoId: row.id, uploadId: row.upload_id, sizeBytes, sequence };
    await append(videoUploadCompleted, row.workspace_id, data);
  }
  return after;
}

/**
 * Moves a video from QUEUED to PROCESSING; emits `video.processing.started` unless the retry has emitted it.
 */
export async function pick(
  { tx, append, row, now }: Step,
  change: VideoChange = {},
): Promise<VideoRow | null> {
  const status = target(row, 'picked');
  if (status === null) return null;
  const { attempt, isNews } = rules.pickAttempt(row);
  const after = await repository.updateVideo(tx, row.id, { ...change, status, attempt, updated_at: now });
  if (isNews) await emitStarted(tx, append, row, attempt);
  return after;
}

/** Moves a video from PROCESSING to READY when every rung is playable: `video.processing.completed`. */
export async function complete(
  { tx, append, row, now }: Step,
  links: VideoLinks,
  change: VideoChange = {},
): Promise<VideoRow | null> {
  const status = target(row, 'completed');
  if (status === null) return null;
  const after = await repository.updateVideo(tx, row.id, {
    ...change,
    status,
    progress_percent: 100,
    published_at: rules.publishedAtReady({ visibility: row.visibility, publishedAt: row.published_at }, now),
    updated_at: now,
  });
  const rungs = await repository.playableRungs(tx, row.id, row.revision);
  const linked = toLinked(after, rungs.length > 0);
  await append(videoProcessingCompleted, row.workspace_id, {
    videoId: row.id,
    title: after.title,
    status: 'READY',
    durationSec: after.duration_sec,
    width: after.width,
    height: after.height,
    renditions: rungs.map(({ name }) => name),
    playbackUrl: links.playbackUrl(linked),
    thumbnailUrl: links.thumbnailUrl(linked),
    externalId: after.external_id,
    completedAt: now.toISOString(),
    sequence: await nextSequence(tx, 'video', row.id),
  });
  return after;
}

/** Moves a video from any non-final state to FAILED: `video.processing.failed`. */
export async function fail({ tx, append, row, now }: Step, failure: VideoFailure): Promise<VideoRow | null> {
  const status = target(row, 'failed');
  if (status === null) return null;
  const { code, message } = failure;
  const change = { status, error_code: code, error_message: message, updated_at: now };
  const after = await repository.updateVideo(tx, row.id, change);
  await append(videoProcessingFailed, row.workspace_id, {
    videoId: row.id,
    error: { code, message },
    attempt: row.attempt,
    failedAt: now.toISOString(),
    sequence: await nextSequence(tx, 'video', row.id),
  });
  return after;
}

/** Moves a video from FAILED to UPLOADING, when a file that never arrived is fetched again. */
export async function waitForNewFile({ tx, row, now }: Step): Promise<VideoRow | null> {
  const status = row.original_key === null ? target(row, 'awaited') : null;
  if (status === null) return null;
  const change = { status, error_code: null, error_message: null, updated_at: now };
  return repository.updateVideo(tx, row.id, change);
}

/**
 * Moves a video from FAILED to QUEUED in a new revision; emits `video.processing.started` with the new
 * attempt.
 */
export async function retry({ tx, append, row, now }: Step): Promise<VideoRow | null> {
  const status = target(row, 'retry');
  if (status === null) return null;
  const attempts = rules.retryAttempt(row);
  const after = await repository.updateVideo(tx, row.id, {
    status,
    ...attempts,
    error_code: null,
    error_message: null,
    progress_percent: 0,
    updated_at: now,
  });
  await emitStarted(tx, append, row, attempts.attempt);
  return after;
}

async function emitStarted(tx: Tx, append: AppendEvent, row: VideoRow, attempt: number): Promise<void> {
  const sequence = await nextSequence(tx, 'video', row.id);
  await append(videoProcessingStarted, row.workspace_id, { videoId: row.id, attempt, sequence });
}
