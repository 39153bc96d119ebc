import { type Clock, dateFromMs } from '../../kernel/clock.ts';
import { videoPrefix } from '../../kernel/media-keys.ts';
import type { BlobStore } from '../../media/contract/index.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Logger } from '../../platform/logger.ts';
import { releaseStorage, type Trash } from './intake/hold.service.ts';
import { trashOf } from './intake/repository.ts';
import * as repository from './repository.ts';

interface Deps {
  db: Db;
  store: Pick<BlobStore, 'delete' | 'deletePrefix'>;
  clock: Clock;
  log: Logger;
}

/** Removes the files of deleted videos: after 30 days, or as soon as their owner needs the storage. */
export interface VideoPurge extends Trash {
  run(): Promise<void>;
}

/** The files of a deleted video stay so long (docs/decisions/storage-and-quota.md#deleting). */
const KEPT_MS = 30 * 86_400_000;

type Deleted = Awaited<ReturnType<typeof repository.unpurged>>[number];

/** The row is marked after its files are gone: a crash in between has them removed once more. */
export function createVideoPurge(deps: Deps): VideoPurge {
  const { db, clock } = deps;
  return {
    async run() {
      for (const row of await repository.unpurged(db, dateFromMs(clock.ms() - KEPT_MS)))
        await purge(deps, row);
    },
    async makeRoom(workspaceId, bytes) {
      const trash = await trashOf(db, workspaceId);
      if (trash.reduce((sum, row) => sum + row.storage_bytes, 0) < bytes) return false;
      let freed = 0;
      for (const row of trash) {
        if (freed >= bytes) break;
        if (await purge(deps, row)) freed += row.storage_bytes;
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
