import { type Clock, dateFromMs } from '../../kernel/clock.ts';
import { videoPrefix } from '../../kernel/media-keys.ts';
import type { BlobStore } from '../../media/contract/index.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Logger } from '../../platform/logger.ts';
import * as repository from './repository.ts';

interface Deps {
  db: Db;
  store: Pick<BlobStore, 'deletePrefix'>;
  clock: Clock;
  log: Logger;
}

/** The files of a deleted video stay so long (docs/decisions/storage-and-quota.md#deleting). */
const KEPT_MS = 30 * 86_400_000;

/**
 * Removes the files of videos that were deleted 30 days ago. The row is marked after its files are gone: a crash
 * in between has them removed once more.
 */
export function createVideoPurge({ db, store, clock, log }: Deps): { run(): Promise<void> } {
  return {
    async run() {
      for (const { id, workspace_id } of await repository.unpurged(db, dateFromMs(clock.ms() - KEPT_MS))) {
        try {
          await store.deletePrefix(`${videoPrefix({ workspace_id, id })}/`);
          await repository.markPurged(db, id, clock.now());
        } catch (error) {
          log.error({ err: error, videoId: id }, 'the files of a deleted video could not be removed');
        }
      }
    },
  };
}
