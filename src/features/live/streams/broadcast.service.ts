import type { AppendEvent } from '../../../events/index.ts';
import { AppError, quotaExceeded } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Tx } from '../../../platform/db/index.ts';
import type { UsageEvents } from '../../insight/usage-events/index.ts';
import { meterRemaining, meterStart } from './airtime.service.ts';
import type { StreamRow } from './repository.ts';
import * as repository from './repository.ts';
import * as rules from './rules.ts';
import { commitTransition, type StreamTransitionHook, stateOf } from './transitions.ts';

/** Recorder of broadcasts; set in module.ts. */
export interface BroadcastRecorder {
  /** Reports whether the plan has storage left. */
  hasStorage(tx: Tx, workspaceId: string): Promise<boolean>;
  /** Ends the recording of a session's broadcast, in the transaction that ends the broadcast. */
  ended(tx: Tx, append: AppendEvent, sessionId: string): Promise<void>;
}

/** Context of a broadcast change: under the lock of the stream, at one moment. */
export interface BroadcastChange {
  tx: Tx;
  append: AppendEvent;
  recorder: BroadcastRecorder;
  follower: StreamTransitionHook;
  facts: Pick<UsageEvents, 'append'>;
  now: Date;
}

/** @throws {AppError} CONFLICT, field `enabled`. */
export function assertEnabled({ enabled }: Pick<StreamRow, 'enabled'>): void {
  if (!enabled) throw new AppError('CONFLICT', { field: 'enabled', message: 'The stream is disabled.' });
}

/**
 * Starts the broadcast under the locks of the workspace and the stream.
 *
 * @param concurrent the maximum concurrent broadcasts of the plan.
 */
export async function startLocked(
  change: BroadcastChange,
  row: StreamRow,
  concurrent: number,
): Promise<StreamRow> {
  const { tx, now } = change;
  if (row.is_live) return row;
  assertEnabled(row);
  if ((await repository.countLive(tx, row.workspace_id)) >= concurrent) {
    throw quotaExceeded(
      { workspaceId: row.workspace_id, resource: 'CONCURRENT_STREAMS' },
      `Limit of ${concurrent} concurrent broadcasts reached for this plan.`,
    );
  }
  const sessionId = row.has_signal ? await openBroadcast(change, row) : row.current_session_id;
  return commitTransition(change, row, rules.start(stateOf(row), now), {
    current_session_id: sessionId,
    live_since: now,
    updated_at: now,
  });
}

/**
 * Opens the broadcast of a session. A session has one broadcast: a second one on the same signal gets a
 * separate session.
 */
async function openBroadcast(change: BroadcastChange, row: StreamRow): Promise<string | null> {
  const { tx, now } = change;
  const session =
    row.current_session_id === null ? undefined : await repository.findSession(tx, row.current_session_id);
  if (session === undefined) return null;
  if (session.broadcast_started_at === null) {
    await repository.updateSession(tx, session.id, { broadcast_started_at: now });
    await countStart(change, row);
    await admitRecording(change, row, session.id);
    return session.id;
  }
  await repository.updateSession(tx, session.id, { signal_ended_at: now });
  const id = newId('ses');
  await repository.insertSession(tx, {
    id,
    stream_id: row.id,
    workspace_id: row.workspace_id,
    signal_started_at: now,
    broadcast_started_at: now,
  });
  await countStart(change, row);
  await admitRecording(change, row, id);
  return id;
}

/** Records the start of a broadcast with its first signal. */
export function countStart({ tx, facts, now }: BroadcastChange, row: StreamRow): Promise<void> {
  return meterStart(tx, facts, { workspaceId: row.workspace_id, streamId: row.id, at: now });
}

/**
 * Enables the recording of the broadcast unless the storage of the workspace is full. A recording that has
 * begun continues to its end.
 */
export async function admitRecording(
  { tx, recorder }: Pick<BroadcastChange, 'tx' | 'recorder'>,
  row: StreamRow,
  sessionId: string,
): Promise<void> {
  if (!row.record) return;
  const error = (await recorder.hasStorage(tx, row.workspace_id)) ? null : 'QUOTA_EXCEEDED';
  await repository.updateSession(tx, sessionId, { error });
}

/** Admits the recording when it is enabled during a broadcast; it records from then on. */
export async function admitLateRecording(
  change: Pick<BroadcastChange, 'tx' | 'recorder'>,
  row: StreamRow,
): Promise<void> {
  if (!row.is_live || row.current_session_id === null) return;
  const session = await repository.findSession(change.tx, row.current_session_id);
  if (session === undefined || session.broadcast_started_at === null) return;
  if (session.broadcast_ended_at === null) await admitRecording(change, row, session.id);
}

/** Ends the broadcast of a session, by its creator or for a reason that the session shows. */
export async function endBroadcast(
  { tx, append, recorder, facts }: BroadcastChange,
  sessionId: string,
  at: Date,
  error: string | null = null,
): Promise<void> {
  // An earlier reason for the missing recording remains, unless there is a worse one.
  const reason = error === null ? {} : { error };
  await meterRemaining(tx, facts, sessionId, at);
  await repository.updateSession(tx, sessionId, { broadcast_ended_at: at, ...reason });
  await recorder.ended(tx, append, sessionId);
}

/** Ends the broadcast under the lock of the stream. */
export async function stopLocked(
  broadcast: BroadcastChange,
  row: StreamRow,
  error: string | null = null,
): Promise<StreamRow> {
  const { tx, now } = broadcast;
  const session =
    row.current_session_id === null ? undefined : await repository.findSession(tx, row.current_session_id);
  const wasBroadcast = session !== undefined && session.broadcast_started_at !== null;
  const transition = rules.stop(
    stateOf(row),
    now,
    session === undefined ? null : { signalStartedAt: session.signal_started_at, wasBroadcast },
  );
  if (row.is_live && wasBroadcast && session.broadcast_ended_at === null) {
    await endBroadcast(broadcast, session.id, now, error);
  }
  const change = row.is_live ? { live_since: null, updated_at: now } : {};
  return commitTransition(broadcast, row, transition, change);
}
