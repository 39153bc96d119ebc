import type { Events } from '../../../../events/index.ts';
import type { Clock } from '../../../../kernel/clock.ts';
import { AppError, notFound } from '../../../../kernel/errors.ts';
import { newId } from '../../../../kernel/ids.ts';
import type { Tx } from '../../../../platform/db/index.ts';
import type { VideoIntake, VideoProcessing } from '../intake/service.ts';
import { getVideoDetails, lockVideo, type VideoDetails } from '../repository.ts';
import { type DeclaredFile, fileOf, type UploadOpener, type UploadSessions } from '../service.ts';
import { releaseUnusedReservation } from './deletion.ts';
import * as repository from './repository.ts';

/**
 * A new file for a video that keeps all else (docs/concepts/videos.md#replacing-the-file). Each id is looked up in the
 * workspace: NOT_FOUND otherwise.
 */
export interface Replacements {
  /**
   * Waits for the file, and opens the session for it.
   *
   * @throws {AppError} CONFLICT unless the video is READY, and while a replacement is under way; BAD_REQUEST for the
   * file's properties; QUOTA_EXCEEDED; INSUFFICIENT_STORAGE.
   */
  start(by: UploadOpener, videoId: string, file: DeclaredFile): Promise<Started>;
  /** Fetches the file from an address. @throws as `start` does; {AppError} BAD_REQUEST, field `sourceUrl`. */
  fetch(workspaceId: string, videoId: string, sourceUrl: string): Promise<Started>;
  /** Ends one that is under way, or puts one that has failed away. @throws {AppError} CONFLICT where there is none. */
  cancel(workspaceId: string, videoId: string): Promise<VideoDetails>;
}

interface Started {
  video: VideoDetails;
  /** Upload session as returned to partners; null where the file is fetched. */
  upload: object | null;
}

/** Files that are fetched; set in module.ts. */
export interface FetchedFiles {
  /** Fetches the file that is to replace that of a video. @throws as `Replacements.fetch` does. */
  replace(workspaceId: string, videoId: string, sourceUrl: string): Promise<unknown>;
  /** Ends one under the locks of workspace and video. @returns what removes its bytes, after the commit. */
  cancelFor(tx: Tx, importId: string): Promise<() => Promise<void>>;
}

interface Deps {
  events: Events;
  clock: Clock;
  uploads: UploadSessions & { cancelFor(tx: Tx, videoId: string): Promise<void> };
  imports: FetchedFiles;
  intake: Pick<VideoIntake, 'hold' | 'lock' | 'replace'>;
  processing: Pick<VideoProcessing, 'discard'>;
}

export function createReplacements(deps: Deps): Replacements {
  return {
    start: (by, videoId, file) => start(deps, by, videoId, file),
    async fetch(workspaceId, videoId, sourceUrl) {
      await deps.imports.replace(workspaceId, videoId, sourceUrl);
      return { video: await deps.events.transaction((tx) => getVideoDetails(tx, videoId)), upload: null };
    },
    cancel: (workspaceId, videoId) => cancel(deps, workspaceId, videoId),
  };
}

function start(
  { events, clock, uploads, intake }: Deps,
  by: UploadOpener,
  videoId: string,
  announced: DeclaredFile,
): Promise<Started> {
  const { workspaceId } = by;
  return intake.hold.makingRoom(workspaceId, () =>
    events.transaction(async (tx) => {
      await intake.lock(tx, { workspaceId, videoId });
      const uploadId = newId('upl', clock);
      const { title } = await intake.replace(tx, { workspaceId, videoId, uploadId });
      const upload = await uploads.open(tx, by, videoId, {
        ...fileOf(announced, title),
        id: uploadId,
        replaces: true,
      });
      return { video: await getVideoDetails(tx, videoId), upload: upload.shown };
    }),
  );
}

async function cancel(
  { events, clock, uploads, imports, intake, processing }: Deps,
  workspaceId: string,
  videoId: string,
): Promise<VideoDetails> {
  let removeFetched = async () => {};
  const shown = await events.transaction(async (tx) => {
    await intake.lock(tx, { workspaceId, videoId });
    if ((await lockVideo(tx, workspaceId, videoId)) === undefined) throw notFound();
    const last = await repository.lastReplacement(tx, videoId);
    if (last === undefined || last.status === 'READY' || last.status === 'CANCELED') {
      throw new AppError('CONFLICT', { message: 'No file replacement is in progress.' });
    }
    if (last.ended_at === null) {
      await uploads.cancelFor(tx, videoId);
      if (last.import_id !== null) removeFetched = await imports.cancelFor(tx, last.import_id);
      await releaseUnusedReservation(tx, intake.hold, workspaceId, last);
      await processing.discard(tx, last);
    }
    const now = clock.now();
    await repository.updateReplacement(tx, last, { status: 'CANCELED', updated_at: now, ended_at: now });
    return getVideoDetails(tx, videoId);
  });
  await removeFetched();
  return shown;
}
