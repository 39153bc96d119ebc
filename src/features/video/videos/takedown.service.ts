import { type Events, nextSequence } from '../../../events/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { AppError, notFound } from '../../../kernel/errors.ts';
import type { Bus } from '../../../platform/bus.ts';
import { videoRestored, videoTakenDown } from './events.ts';
import type { VideoRow } from './repository.ts';
import * as repository from './repository.ts';
import { VIDEO_TOPIC } from './with-locked-video.ts';

/** Operator actions on the videos of any account. An unknown ID is NOT_FOUND. */
export interface VideoTakedowns {
  /**
   * Hides the video from all viewers, regardless of their token; the owner is notified of the reason. A
   * repeated call changes the reason.
   *
   * @returns its title.
   */
  takeDown(id: string, reason: string): Promise<string>;
  /**
   * Reverses a takedown.
   *
   * @throws {AppError} CONFLICT for one that is not taken down.
   */
  restore(id: string): Promise<string>;
}

interface Deps {
  events: Events;
  bus: Pick<Bus, 'publish'>;
  clock: Clock;
}

type Change = Pick<VideoRow, 'taken_down_at' | 'takedown_reason'>;

export function createVideoTakedowns({ events, bus, clock }: Deps): VideoTakedowns {
  async function change(id: string, wanted: (row: VideoRow) => Change): Promise<string> {
    const title = await events.transaction(async (tx, append) => {
      const row = await repository.lockAnyVideo(tx, id);
      if (row === undefined || row.deleted_at !== null) throw notFound();
      const { taken_down_at: at, takedown_reason: reason } = wanted(row);
      const now = clock.now();
      const columns = { taken_down_at: at, takedown_reason: reason, updated_at: now };
      await repository.updateVideo(tx, id, columns);
      const told = { videoId: id, title: row.title, sequence: await nextSequence(tx, 'video', id) };
      if (at !== null && reason !== null)
        await append(videoTakenDown, row.workspace_id, { ...told, reason, takenDownAt: at.toISOString() });
      else await append(videoRestored, row.workspace_id, { ...told, restoredAt: now.toISOString() });
      return row.title;
    });
    bus.publish(VIDEO_TOPIC, id);
    return title;
  }

  return {
    takeDown: (id, reason) =>
      change(id, (row) => ({
        taken_down_at: row.taken_down_at ?? clock.now(),
        takedown_reason: reason,
      })),
    restore: (id) =>
      change(id, (row) => {
        if (row.taken_down_at === null)
          throw new AppError('CONFLICT', { message: 'The video has not been taken down.' });
        return { taken_down_at: null, takedown_reason: null };
      }),
  };
}
