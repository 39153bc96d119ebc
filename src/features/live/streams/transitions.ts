import type { AppendEvent } from '../../../events/index.ts';
import type { Tx } from '../../../platform/db/index.ts';
import { streamBroadcastStarted, streamBroadcastStopped, streamEnded, streamLive } from './events.ts';
import type { StreamRow } from './repository.ts';
import * as repository from './repository.ts';
import type { StreamEvent, StreamState, Transition } from './rules.ts';
import { logStatus } from './status.ts';

export function stateOf(row: StreamRow): StreamState {
  return {
    id: row.id,
    hasSignal: row.has_signal,
    isLive: row.is_live,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    startedNotifiedAt: row.broadcast_started_notified_at,
    stoppedNotifiedAt: row.broadcast_stopped_notified_at,
    signalStopNotifiedAt: row.signal_stop_notified_at,
    notifiedIsLive: row.notified_is_live,
    dueAt: row.broadcast_notify_at,
  };
}

/** Hook for followers of the signal and the broadcast, such as restreams; set in module.ts. */
export interface StreamTransitionHook {
  /** Called in the transaction that changes them, under the lock of the stream. */
  flagsChanged(change: { tx: Tx; append: AppendEvent; now: Date }, streamId: string): Promise<void>;
}

/** Writes the new state, its events, its hooks and its tail entries in the caller's transaction. */
export async function commitTransition(
  { tx, append, now, follower }: { tx: Tx; append: AppendEvent; now: Date; follower: StreamTransitionHook },
  row: StreamRow,
  transition: Transition,
  change: repository.StreamChange = {},
): Promise<StreamRow> {
  const { state, events } = transition;
  const updated = await repository.updateStream(tx, row.id, {
    ...change,
    has_signal: state.hasSignal,
    is_live: state.isLive,
    started_at: state.startedAt,
    ended_at: state.endedAt,
    broadcast_started_notified_at: state.startedNotifiedAt,
    broadcast_stopped_notified_at: state.stoppedNotifiedAt,
    signal_stop_notified_at: state.signalStopNotifiedAt,
    notified_is_live: state.notifiedIsLive,
    broadcast_notify_at: state.dueAt,
  });
  for (const event of events) await emit(append, row.workspace_id, event);
  await logStatus(tx, row, updated, now);
  const isChanged = row.is_live !== updated.is_live || row.has_signal !== updated.has_signal;
  if (isChanged) await follower.flagsChanged({ tx, append, now }, row.id);
  return updated;
}

/** Appends the event by its definition; the rules only know its type. */
function emit(append: AppendEvent, workspaceId: string, event: StreamEvent): Promise<string> {
  switch (event.type) {
    case 'stream.live':
      return append(streamLive, workspaceId, event.data);
    case 'stream.ended':
      return append(streamEnded, workspaceId, event.data);
    case 'stream.broadcast_started':
      return append(streamBroadcastStarted, workspaceId, event.data);
    case 'stream.broadcast_stopped':
      return append(streamBroadcastStopped, workspaceId, event.data);
  }
}
