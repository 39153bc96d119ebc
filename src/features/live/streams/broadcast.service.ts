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

/** What records broadcasts; filled by the composition root. */
export interface BroadcastRecorder {
  /** Does the plan have storage left? */
  hasRoom(tx: Tx, workspaceId: string): Promise<boolean>;
  /** The broadcast of a session is over, in the transaction that ends it. */
  ended(tx: Tx, append: AppendEvent, sessionId: string): Promise<void>;
}

/** What a change of a broadcast is made with: under the lock of the stream, at one moment. */
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
 * Goes live under the locks of the workspace and the stream.
 *
 * @param concurrent how many broadcasts the plan allows at once.
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

/** A session has one broadcast: a second one on the same signal gets a session of its own. */
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

/** A broadcast begins with the first signal of it. */
export function countStart({ tx, facts, now }: BroadcastChange, row: StreamRow): Promise<void> {
  return meterStart(tx, facts, { workspaceId: row.workspace_id, streamId: row.id, at: now });
}

/**
 * A workspace whose storage is full records nothing of the broadcast that begins. One that has begun is recorded to
 * its end.
 */
export async function admitRecording(
  { tx, recorder }: Pick<BroadcastChange, 'tx' | 'recorder'>,
  row: StreamRow,
  sessionId: string,
): Promise<void> {
  if (!row.record) return;
  const error = (await recorder.hasRoom(tx, row.workspace_id)) ? null : 'QUOTA_EXCEEDED';
  await repository.updateSession(tx, sessionId, { error });
}

/** The same when recording is switched on during a broadcast: it records from here on. */
export async function admitLateRecording(
  change: Pick<BroadcastChange, 'tx' | 'recorder'>,
  row: StreamRow,
): Promise<void> {
  if (!row.is_live || row.current_session_id === null) return;
  const session = await repository.findSession(change.tx, row.current_session_id);
  if (session === undefined || session.broadcast_started_at === null) return;
  if (session.broadcast_ended_at === null) await admitRecording(change, row, session.id);
}

/** The broadcast of a session ends, by its creator or for a reason that the session tells. */
export async function endBroadcast(
  { tx, append, recorder, facts }: BroadcastChange,
  sessionId: string,
  at: Date,
  error: string | null = null,
): Promise<void> {
  // Why it was not recorded stays, unless there is something worse.
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
