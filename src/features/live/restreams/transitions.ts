import type { Tx } from '../../../platform/db/index.ts';
import { restreamStarted, restreamStopped, targetDisconnected } from './events.ts';
import { logRestream } from './log.ts';
import type { RestreamRow, TargetRow } from './repository.ts';
import * as repository from './repository.ts';
import { emitRestream, emitTarget, type RestreamEventContext } from './restream-events.ts';
import { desiredRunState } from './rules.ts';

/** Context of a change: under the lock of the restream, at one moment. */
export interface Change extends RestreamEventContext {
  now: Date;
}

/** Starts or stops a restream according to its stream, its settings and the last call. */
export async function reconcile(change: Change, row: RestreamRow): Promise<RestreamRow> {
  const { tx, now } = change;
  const source = await repository.findSource(tx, row.stream_id, now);
  const before = { enabled: row.enabled, startMode: row.start_mode, manualOverride: row.manual_override };
  const { manualOverride, isRunning } = desiredRunState(before, source);
  if (isRunning === row.is_running) {
    if (manualOverride === row.manual_override) return row;
    return repository.updateRestream(tx, row.id, { manual_override: manualOverride });
  }
  if (isRunning) {
    await repository.resetTargets(tx, row.id);
    const started = await repository.updateRestream(tx, row.id, {
      manual_override: manualOverride,
      is_running: true,
      started_at: now,
      stopped_at: null,
    });
    await emitRestream(change, restreamStarted, started);
    await logRestream(tx, started, now);
    return started;
  }
  for (const target of await repository.targetsOf(tx, [row.id])) {
    await resetTarget(change, row.workspace_id, target, null);
  }
  const stopped = await repository.updateRestream(tx, row.id, {
    manual_override: manualOverride,
    is_running: false,
    stopped_at: now,
  });
  await emitRestream(change, restreamStopped, stopped);
  await logRestream(tx, stopped, now);
  return stopped;
}

/** Resets a target that is no longer sent to through no fault of its own. A FATAL error remains readable. */
export async function resetTarget(
  told: RestreamEventContext,
  workspaceId: string,
  target: TargetRow,
  why: string | null,
): Promise<TargetRow> {
  if (target.state === 'IDLE' || target.error_severity === 'FATAL') return target;
  const updated = await repository.updateTarget(told.tx, target.id, {
    state: 'IDLE',
    error_severity: null,
    error_message: null,
    next_retry_at: null,
    connected_at: null,
    bitrate_kbps: null,
  });
  if (target.state === 'BROADCASTING') await emitTarget(told, targetDisconnected, workspaceId, updated, why);
  return updated;
}

/** Releases the target from the node that sent to it. */
export async function releaseTarget(tx: Tx, targetId: string): Promise<void> {
  await repository.updateTarget(tx, targetId, { node_id: null, lease_until: null });
}
