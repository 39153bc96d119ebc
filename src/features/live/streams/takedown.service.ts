import { nextSequence } from '../../../events/index.ts';
import { AppError, notFound } from '../../../kernel/errors.ts';
import { stopLocked } from './broadcast.service.ts';
import { streamRestored, streamTakenDown } from './events.ts';
import * as repository from './repository.ts';
import { disconnectPublisher, STREAM_TOPIC, type StreamDeps } from './service.ts';
import { logStatus } from './status.ts';

/** Actions of the operator on a stream of any account. An unknown ID gets NOT_FOUND. */
export interface StreamTakedowns {
  /**
   * Ends the broadcast and the encoder, hides the stream from all viewers and tokens, disables it, and
   * notifies the owner of the reason. A repeated call replaces the reason.
   *
   * @returns its title.
   */
  takeDown(id: string, reason: string): Promise<string>;
  /**
   * Lifts the takedown; the stream remains disabled until its owner enables it.
   * @throws {AppError} CONFLICT when it is not taken down.
   */
  restore(id: string): Promise<string>;
}

type Deps = Pick<StreamDeps, 'events' | 'bus' | 'clock' | 'recorder' | 'follower' | 'facts' | 'endWhip'>;

export function createStreamTakedowns(deps: Deps): StreamTakedowns {
  const { events, bus, clock, recorder, follower, facts, endWhip } = deps;
  return {
    async takeDown(id, reason) {
      const title = await events.transaction(async (tx, append) => {
        const row = await repository.lockAnyStream(tx, id);
        if (row === undefined || row.deleted_at !== null) throw notFound();
        const now = clock.now();
        const change = { tx, append, recorder, follower, facts, now };
        const stopped = row.is_live ? await stopLocked(change, row) : row;
        await disconnectPublisher({ tx, endWhip }, id, 'taken down');
        const takenDownAt = row.taken_down_at ?? now;
        const columns = { taken_down_at: takenDownAt, takedown_reason: reason, enabled: false };
        const updated = await repository.updateStream(tx, id, { ...columns, updated_at: now });
        await logStatus(tx, stopped, updated, now);
        const sequence = await nextSequence(tx, 'stream', id);
        const told = { streamId: id, title: row.title, reason, takenDownAt: takenDownAt.toISOString() };
        await append(streamTakenDown, row.workspace_id, { ...told, sequence });
        return row.title;
      });
      bus.publish(STREAM_TOPIC, id);
      return title;
    },
    async restore(id) {
      const title = await events.transaction(async (tx, append) => {
        const row = await repository.lockAnyStream(tx, id);
        if (row === undefined || row.deleted_at !== null) throw notFound();
        if (row.taken_down_at === null)
          throw new AppError('CONFLICT', { message: 'The stream has not been taken down.' });
        const now = clock.now();
        const columns = { taken_down_at: null, takedown_reason: null, updated_at: now };
        await repository.updateStream(tx, id, columns);
        const sequence = await nextSequence(tx, 'stream', id);
        const told = { streamId: id, title: row.title, restoredAt: now.toISOString(), sequence };
        await append(streamRestored, row.workspace_id, told);
        return row.title;
      });
      bus.publish(STREAM_TOPIC, id);
      return title;
    },
  };
}
