import type { Events } from '../../../events/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { AppError, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Tx } from '../../../platform/db/index.ts';
import type { VideoIntake, VideoProcessing } from '../intake/service.ts';
import { lockVideo, type ShownVideo, showVideo } from '../repository.ts';
import { type AnnouncedFile, fileOf, type UploadSessions } from '../service.ts';
import { releaseUnreceived } from './deletion.ts';
import * as repository from './repository.ts';

/**
 * A new file for a video that keeps all else (docs/api/videos.md#replacing-the-file). Each id is looked up in the
 * workspace: NOT_FOUND otherwise.
 */
export interface Replacements {
  /**
   * Waits for the file, and opens the session for it.
   *
   * @throws {AppError} CONFLICT unless the video is READY, and while a replacement is under way; BAD_REQUEST for the
   * file's properties; QUOTA_EXCEEDED; INSUFFICIENT_STORAGE.
   */
  start(workspaceId: string, videoId: string, file: AnnouncedFile): Promise<Started>;
  /** Ends one that is under way, or puts one that has failed away. @throws {AppError} CONFLICT where there is none. */
  cancel(workspaceId: string, videoId: string): Promise<ShownVideo>;
}

interface Started {
  video: ShownVideo;
  /** As partners are shown it. */
  upload: object;
}

interface Deps {
  events: Events;
  clock: Clock;
  uploads: UploadSessions & { cancelFor(tx: Tx, videoId: string): Promise<void> };
  intake: Pick<VideoIntake, 'hold' | 'lock'>;
  processing: Pick<VideoProcessing, 'discard'>;
}

export function createReplacements(deps: Deps): Replacements {
  return {
    start: (workspaceId, videoId, file) => start(deps, workspaceId, videoId, file),
    cancel: (workspaceId, videoId) => cancel(deps, workspaceId, videoId),
  };
}

function start(
  { events, clock, uploads, intake }: Deps,
  workspaceId: string,
  videoId: string,
  announced: AnnouncedFile,
): Promise<Started> {
  return intake.hold.makingRoom(workspaceId, () =>
    events.transaction(async (tx) => {
      await intake.lock(tx, { workspaceId, videoId });
      const row = await lockVideo(tx, workspaceId, videoId);
      if (row === undefined) throw notFound();
      if (row.status !== 'READY') {
        const message = 'Only the file of a video that is READY is replaced.';
        throw new AppError('CONFLICT', { field: 'status', message });
      }
      if ((await repository.openReplacement(tx, videoId)) !== undefined) {
        const message = 'Its file is being replaced: wait for that, or cancel it.';
        throw new AppError('CONFLICT', { message });
      }
      const uploadId = newId('upl', clock);
      const now = clock.now();
      await repository.insertReplacement(tx, {
        ...{ video_id: videoId, revision: row.revision, upload_id: uploadId },
        ...{ created_at: now, updated_at: now },
      });
      const upload = await uploads.open(tx, workspaceId, videoId, {
        ...fileOf(announced, row.title),
        id: uploadId,
        replaces: true,
      });
      return { video: await showVideo(tx, videoId), upload: upload.shown };
    }),
  );
}

function cancel(
  { events, clock, uploads, intake, processing }: Deps,
  workspaceId: string,
  videoId: string,
): Promise<ShownVideo> {
  return events.transaction(async (tx) => {
    await intake.lock(tx, { workspaceId, videoId });
    if ((await lockVideo(tx, workspaceId, videoId)) === undefined) throw notFound();
    const last = await repository.lastReplacement(tx, videoId);
    if (last === undefined || last.status === 'READY' || last.status === 'CANCELED') {
      throw new AppError('CONFLICT', { message: 'The file of the video is not being replaced.' });
    }
    if (last.ended_at === null) {
      await uploads.cancelFor(tx, videoId);
      await releaseUnreceived(tx, intake.hold, workspaceId, last);
      await processing.discard(tx, last);
    }
    const now = clock.now();
    await repository.updateReplacement(tx, last, { status: 'CANCELED', updated_at: now, ended_at: now });
    return showVideo(tx, videoId);
  });
}
