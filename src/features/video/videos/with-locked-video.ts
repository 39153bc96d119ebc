import type { AppendEvent, Events } from '../../../events/index.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Tx } from '../../../platform/db/index.ts';
import type { VideoDetails, VideoRow } from './repository.ts';
import * as repository from './repository.ts';

/** Bus topic with the video's ID, published whenever its public data has changed. */
export const VIDEO_TOPIC = 'videos';

/** Runs `work` under the lock of a video of the workspace, and notifies playback after the commit. */
export type LockVideo = <T>(
  workspaceId: string,
  id: string,
  work: (tx: Tx, row: VideoRow, append: AppendEvent) => Promise<T>,
) => Promise<T>;

/** The functions reject with NOT_FOUND when the workspace has no such video. */
export function createLockVideo({ events, bus }: { events: Events; bus: Pick<Bus, 'publish'> }): LockVideo {
  return async (workspaceId, id, work) => {
    const result = await events.transaction(async (tx, append) => {
      const row = await repository.lockVideo(tx, workspaceId, id);
      if (row === undefined) throw notFound();
      return work(tx, row, append);
    });
    bus.publish(VIDEO_TOPIC, id);
    return result;
  };
}

/** Wraps `locked` so that it resolves to the video as partners see it. */
export function withVideoDetails(locked: LockVideo) {
  return (
    workspaceId: string,
    id: string,
    work: (tx: Tx, row: VideoRow, append: AppendEvent) => Promise<unknown>,
  ): Promise<VideoDetails> =>
    locked(workspaceId, id, async (tx, row, append) => {
      await work(tx, row, append);
      return repository.getVideoDetails(tx, id);
    });
}
