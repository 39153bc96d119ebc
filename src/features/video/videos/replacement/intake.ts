import { type AppendEvent, nextSequence } from '../../../../events/index.ts';
import type { Clock } from '../../../../kernel/clock.ts';
import { AppError, notFound } from '../../../../kernel/errors.ts';
import type { Tx } from '../../../../platform/db/index.ts';
import { videoUploadCompleted } from '../events.ts';
import type { OwnVideo } from '../intake/repository.ts';
import type { StorageReservation } from '../intake/storage-reservation.service.ts';
import { lockVideo, type VideoRow } from '../repository.ts';
import type { VideoFailure } from '../transitions.ts';
import {
  insertReplacement,
  openReplacement,
  type ReplacementRow,
  sourceOf,
  updateReplacement,
} from './repository.ts';
import { failReplacement } from './swap.ts';

interface Intake {
  clock: Clock;
  processing: {
    start(tx: Tx, video: Pick<VideoRow, 'id' | 'workspace_id' | 'revision'>): Promise<void>;
    discard(tx: Tx, replacement: Pick<ReplacementRow, 'video_id' | 'revision'>): Promise<void>;
  };
  hold: StorageReservation;
  tx: Tx;
  append: AppendEvent;
  /** The video, under its lock; that of the workspace is held as well. */
  row: VideoRow;
}

/** A READY video waits for another file, which this brings. @throws {AppError} NOT_FOUND, CONFLICT */
export async function awaitReplacement(
  clock: Clock,
  tx: Tx,
  { workspaceId, videoId, uploadId, importId }: OwnVideo,
): Promise<VideoRow> {
  const row = await lockVideo(tx, workspaceId, videoId);
  if (row === undefined) throw notFound();
  if (row.status !== 'READY') {
    const message = 'Only the file of a READY video can be replaced.';
    throw new AppError('CONFLICT', { field: 'status', message });
  }
  if ((await openReplacement(tx, videoId)) !== undefined) {
    const message = 'A file replacement is already in progress. Wait for it to finish, or cancel it.';
    throw new AppError('CONFLICT', { message });
  }
  const now = clock.now();
  await insertReplacement(tx, {
    ...{ video_id: videoId, revision: row.revision },
    ...{ upload_id: uploadId ?? null, import_id: importId ?? null, created_at: now, updated_at: now },
  });
  return row;
}

/**
 * Moves a replacement from UPLOADING to QUEUED.
 *
 * @returns false when the file is no longer expected.
 */
export async function receiveReplacement(
  { clock, processing, hold, tx, append, row }: Intake,
  replacement: ReplacementRow,
  { key, sizeBytes }: { key: string; sizeBytes: number },
): Promise<boolean> {
  if (replacement.status !== 'UPLOADING') return false;
  const { upload_id: uploadId, revision } = replacement;
  const { id: videoId, workspace_id: workspaceId } = row;
  await hold.adjust(tx, { workspaceId, videoId, ...sourceOf(replacement) }, sizeBytes);
  const received = { original_key: key, size_bytes: sizeBytes, updated_at: clock.now() };
  await updateReplacement(tx, replacement, { status: 'QUEUED', ...received });
  if (uploadId !== null) {
    const sequence = await nextSequence(tx, 'video', videoId);
    await append(videoUploadCompleted, workspaceId, { videoId, uploadId, sizeBytes, sequence });
  }
  await processing.start(tx, { id: videoId, workspace_id: workspaceId, revision });
  return true;
}

/** The file will not come, or must not be used. @returns false when the replacement has ended already. */
export async function endReplacement(
  { clock, processing, hold, tx, append, row }: Intake,
  replacement: ReplacementRow,
  failure: VideoFailure,
): Promise<boolean> {
  if (replacement.ended_at !== null) return false;
  const { revision } = replacement;
  await hold.release(tx, { workspaceId: row.workspace_id, videoId: row.id, ...sourceOf(replacement) });
  // The source removes the file.
  await updateReplacement(tx, replacement, { original_key: null });
  await failReplacement({ tx, append, row: { ...row, revision }, now: clock.now() }, failure);
  await processing.discard(tx, replacement);
  return true;
}
