import type { AppendEvent } from '../../../../events/index.ts';
import type { Clock } from '../../../../kernel/clock.ts';
import { pick } from '../../../../kernel/diff.ts';
import { AppError, notFound } from '../../../../kernel/errors.ts';
import { newId } from '../../../../kernel/ids.ts';
import type { Tx } from '../../../../platform/db/index.ts';
import { lockWorkspace, type WorkspaceOwner } from '../../../../platform/db/workspace.ts';
import type { UsageEvents } from '../../../insight/usage-events/index.ts';
import { emitCreated } from '../emit.ts';
import { type SettingsRow, videoFields } from '../fields.ts';
import { awaitReplacement, endReplacement, receiveReplacement } from '../replacement/intake.ts';
import type { ReplacementRow } from '../replacement/repository.ts';
import type { NewVideo, VideoRow } from '../repository.ts';
import * as repository from '../repository.ts';
import type { VideoFailure } from '../transitions.ts';
import * as transitions from '../transitions.ts';
import { type OwnVideo, replacementBy } from './repository.ts';
import {
  createStorageReservation,
  type StorageReservation,
  type Trash,
} from './storage-reservation.service.ts';

/** Processing of originals into renditions; filled by the composition root. */
export interface VideoProcessing {
  /** Enqueues the first job of this revision of the video, in the transaction of the row's change. */
  start(tx: Tx, video: Pick<VideoRow, 'id' | 'workspace_id' | 'revision'>): Promise<void>;
  /** Cancels the waiting and running jobs of the video and of a replacement of its file. */
  cancel(tx: Tx, videoId: string): Promise<void>;
  /** Stops the processing of an abandoned replacement and removes its files. */
  discard(tx: Tx, replacement: Pick<ReplacementRow, 'video_id' | 'revision'>): Promise<void>;
  /** Takes the thumbnail from this second of the original; null withdraws a previous request. */
  thumbnail(tx: Tx, video: VideoRow, atSec: number | null): Promise<void>;
}

/** Video whose file has not arrived yet. */
export interface IntakeVideo {
  title: string;
  source: VideoRow['source'];
  description?: string | null;
  /** PUBLIC by default. */
  visibility?: VideoRow['visibility'];
  /** Tiers of the visibility TIER. */
  tierIds?: string[];
  metadata?: Record<string, string>;
  uploadId?: string;
  importId?: string;
  streamId?: string;
  sessionId?: string;
}

/**
 * Intake of files, shared by all sources. A source supplies the file: an upload, an import, a recording.
 * Every function works in the caller's transaction; deleted videos are not changed.
 *
 * Locks are taken in one order: workspace, video, source, job. A caller that needs several begins with
 * `lock`, which takes the first two, then locks the row of the source, and finally checks that it still owns
 * the job (`run.confirm`). The processing begins at the video and changes the source afterwards. `received`
 * and `fail` take the first two themselves: a caller that has locked a source must have called `lock` before.
 */
export interface VideoIntake {
  readonly hold: StorageReservation;
  /**
   * Locks the workspace and then the video.
   *
   * @param video.videoId null where there is none yet.
   */
  lock(tx: Tx, video: { workspaceId: string; videoId: string | null }): Promise<WorkspaceOwner>;
  /** Creates an UPLOADING video: `video.created`. */
  create(tx: Tx, append: AppendEvent, workspaceId: string, input: IntakeVideo): Promise<VideoRow>;
  /**
   * Returns the video of a file that is fetched again. The failed video is reused where `keeps` is true and
   * nothing was received for it; otherwise it is a new one with the settings of the old, or with `input`
   * where that is deleted.
   */
  again(
    tx: Tx,
    append: AppendEvent,
    old: { workspaceId: string; videoId: string | null },
    options: { keeps: boolean; input: IntakeVideo },
  ): Promise<VideoRow>;
  /** Attaches an upload session to a video that waits for its file. */
  attach(tx: Tx, workspaceId: string, videoId: string, uploadId: string): Promise<VideoRow>;
  /** Prepares a video for another file, from the given upload or import. The caller has called `lock`. */
  replace(tx: Tx, video: OwnVideo): Promise<VideoRow>;
  /**
   * Records that the original is stored under `key`: UPLOADING → QUEUED, its size is reserved, and its
   * processing is enqueued. An upload emits `video.upload.completed`; imports and recordings have events of
   * their own. Where the source replaces the file of a video, all this applies to the replacement.
   *
   * @returns false when the video no longer waits for a file: nothing has changed.
   */
  received(
    tx: Tx,
    append: AppendEvent,
    video: OwnVideo,
    original: { key: string; sizeBytes: number },
  ): Promise<boolean>;
  /**
   * Fails a video whose file will not come or must not be used: FAILED, `video.processing.failed`, processing
   * is canceled, and the storage is released. A replacement fails without its video:
   * `video.replacement.failed`.
   *
   * @returns false when the video is READY or FAILED already.
   */
  fail(tx: Tx, append: AppendEvent, video: OwnVideo, failure: VideoFailure): Promise<boolean>;
}

export interface VideoIntakeDeps {
  clock: Clock;
  processing: Pick<VideoProcessing, 'start' | 'cancel' | 'discard'>;
  trash: Trash;
  facts: Pick<UsageEvents, 'append'>;
}

export function createVideoIntake({ clock, processing, trash, facts }: VideoIntakeDeps): VideoIntake {
  const hold = createStorageReservation(trash, facts);
  const deps = { clock, processing, hold };
  const lock = async (tx: Tx, { workspaceId, videoId }: OwnVideo) => {
    await lockWorkspace(tx, workspaceId);
    return repository.lockVideo(tx, workspaceId, videoId);
  };
  const create = (
    tx: Tx,
    append: AppendEvent,
    workspaceId: string,
    { uploadId, importId, streamId, sessionId, tierIds = [], ...input }: IntakeVideo,
    settings: Partial<SettingsRow> = {},
  ) =>
    createVideo({ tx, append, clock }, workspaceId, {
      ...input,
      tier_ids: tierIds,
      ...settings,
      upload_id: uploadId ?? null,
      import_id: importId ?? null,
      stream_id: streamId ?? null,
      session_id: sessionId ?? null,
    });
  return {
    hold,
    async lock(tx, { workspaceId, videoId }) {
      const owner = await lockWorkspace(tx, workspaceId);
      if (videoId !== null) await repository.lockVideo(tx, workspaceId, videoId);
      return owner;
    },
    create,
    again: async (tx, append, { workspaceId, videoId }, { keeps, input }) => {
      const row = videoId === null ? undefined : await repository.lockVideo(tx, workspaceId, videoId);
      if (row === undefined) return create(tx, append, workspaceId, input);
      const kept = keeps ? await transitions.waitForNewFile({ tx, append, row, now: clock.now() }) : null;
      return kept ?? create(tx, append, workspaceId, input, pick(row, videoFields.columns));
    },
    async attach(tx, workspaceId, videoId, uploadId) {
      const row = await repository.lockVideo(tx, workspaceId, videoId);
      if (row === undefined) throw notFound();
      if (row.status !== 'UPLOADING') {
        const message = 'The video no longer accepts a file. Create another video.';
        throw new AppError('CONFLICT', { field: 'videoId', message });
      }
      return repository.updateVideo(tx, videoId, { upload_id: uploadId });
    },
    replace: (tx, video) => awaitReplacement(clock, tx, video),
    async received(tx, append, video, original) {
      const row = await lock(tx, video);
      if (row === undefined) return false;
      const replacement = await replacementBy(tx, video);
      const at = { ...deps, tx, append, row };
      if (replacement !== undefined) return receiveReplacement(at, replacement, original);
      const queued = await transitions.receive({ ...at, now: clock.now() }, original);
      if (queued === null) return false;
      await hold.adjust(tx, video, original.sizeBytes);
      await processing.start(tx, queued);
      return true;
    },
    async fail(tx, append, video, failure) {
      const row = await lock(tx, video);
      if (row === undefined) return false;
      const replacement = await replacementBy(tx, video);
      const at = { ...deps, tx, append, row };
      if (replacement !== undefined) return endReplacement(at, replacement, failure);
      if ((await transitions.fail({ tx, append, row, now: clock.now() }, failure)) === null) return false;
      await hold.release(tx, video);
      if (row.status !== 'UPLOADING') await processing.cancel(tx, row.id);
      return true;
    },
  };
}

/** Inserts a new video with its event, under a new ID. */
export async function createVideo(
  { tx, append, clock }: { tx: Tx; append: AppendEvent; clock: Clock },
  workspaceId: string,
  columns: Omit<NewVideo, 'id' | 'workspace_id' | 'status' | 'visibility' | 'created_at' | 'updated_at'> & {
    visibility?: VideoRow['visibility'];
  },
): Promise<VideoRow> {
  const now = clock.now();
  const row = await repository.insertVideo(tx, {
    ...columns,
    visibility: columns.visibility ?? 'PUBLIC',
    id: newId('vid', clock),
    created_at: now,
    updated_at: now,
    workspace_id: workspaceId,
    status: 'UPLOADING',
    event_sequence: 1,
  });
  await emitCreated(append, row);
  return row;
}
