import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { videoPrefix } from '../../../kernel/media-keys.ts';
import type { BlobStore } from '../../../media/contract/index.ts';
import type { Db } from '../../../platform/db/index.ts';
import { lockWorkspace } from '../../../platform/db/workspace.ts';
import type { Logger } from '../../../platform/logger.ts';
import { trashOf } from './intake/repository.ts';
import { releaseBytes, releaseStorage, type Trash } from './intake/storage-reservation.service.ts';
import { forgetFolder } from './processing/repository.ts';
import {
  deleteRevision,
  findReplacement,
  foldersOf,
  listPreviousFiles,
  listPreviousOriginals,
  type PreviousFile,
  updateReplacement,
} from './replacement/repository.ts';
import * as repository from './repository.ts';

interface Deps {
  db: Db;
  store: Pick<BlobStore, 'delete' | 'deletePrefix'>;
  clock: Clock;
  log: Logger;
}

/**
 * Removal of the files of deleted videos after 30 days, of replaced files when their viewers have finished,
 * and of both as soon as their owner needs the storage.
 */
export interface VideoPurge extends Trash {
  run(): Promise<void>;
}

/** Retention of the files of a deleted video (docs/decisions/storage-and-quota.md#deleting). */
const RETENTION_MS = 30 * 86_400_000;

type Deleted = Awaited<ReturnType<typeof repository.unpurged>>[number];

/**
 * Creates the purge. A row is marked after its files are removed: after a crash in between they are removed
 * again.
 */
export function createVideoPurge(deps: Deps): VideoPurge {
  const { db, clock } = deps;
  return {
    async run() {
      for (const row of await repository.unpurged(db, dateFromMs(clock.ms() - RETENTION_MS)))
        await purge(deps, row);
      for (const row of await listPreviousFiles(db, { until: clock.now() }))
        await removePreviousFile(deps, row);
    },
    async makeRoom(workspaceId, bytes) {
      const trash = [
        ...(await trashOf(db, workspaceId)).map((row) => ({
          bytes: row.storage_bytes,
          remove: () => purge(deps, row),
        })),
        ...(await listPreviousFiles(db, { workspaceId })).map((row) => ({
          bytes: row.previous_storage_bytes,
          remove: () => removePreviousFile(deps, row),
        })),
      ];
      if (trash.reduce((sum, one) => sum + one.bytes, 0) < bytes) return false;
      let freed = 0;
      for (const one of trash) {
        if (freed >= bytes) break;
        if (await one.remove()) freed += one.bytes;
      }
      return freed >= bytes;
    },
  };
}

/** @returns false when the files could not be removed now. */
async function purge({ db, store, clock, log }: Deps, video: Deleted): Promise<boolean> {
  const { id, workspace_id, original_key: original } = video;
  try {
    await store.deletePrefix(`${videoPrefix(video)}/`);
    // That of a recording is the recorder's file, where it needed no joining.
    for (const key of await listPreviousOriginals(db, id)) await store.delete(key);
    if (original !== null) await store.delete(original);
    await db.transaction().execute(async (tx) => {
      await releaseStorage(tx, { workspaceId: workspace_id, videoId: id });
      await repository.markPurged(tx, id, clock.now());
    });
    return true;
  } catch (error) {
    log.error({ err: error, videoId: id }, 'the files of a deleted video could not be removed');
    return false;
  }
}

/**
 * Removes the files of a previous revision.
 *
 * @returns false when the files could not be removed now.
 */
async function removePreviousFile({ db, store, log }: Deps, former: PreviousFile): Promise<boolean> {
  const {
    video_id: id,
    workspace_id,
    revision,
    previous_revision: was,
    previous_original_key: original,
  } = former;
  if (was === null) return false;
  const prefix = videoPrefix({ workspace_id, id });
  try {
    for (const { number } of await foldersOf(db, id, was)) {
      await store.deletePrefix(`${prefix}/r${was}a${number}/`);
      await forgetFolder(db, id, number);
    }
    for (const file of former.previous_captions) await store.delete(`${prefix}/captions/${file}`);
    if (original !== null) await store.delete(original);
    await db.transaction().execute(async (tx) => {
      await lockWorkspace(tx, workspace_id);
      await repository.lockAnyVideo(tx, id);
      const row = await findReplacement(tx, id, revision);
      if (row === undefined || row.previous_kept_until === null) return;
      await releaseBytes(tx, workspace_id, row.previous_storage_bytes);
      await updateReplacement(tx, row, {
        ...{ previous_kept_until: null, previous_revision: null, previous_original_key: null },
        ...{ previous_image_folder: null, previous_captions: [], previous_storage_bytes: 0 },
      });
      await deleteRevision(tx, id, was);
    });
    return true;
  } catch (error) {
    log.error({ err: error, videoId: id }, 'the previous file of a video could not be removed');
    return false;
  }
}
