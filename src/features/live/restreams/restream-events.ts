import { type AppendEvent, nextSequence } from '../../../events/index.ts';
import type { Tx } from '../../../platform/db/index.ts';
import {
  type restreamCreated,
  type restreamDeleted,
  type restreamStarted,
  type restreamStopped,
  restreamUpdated,
  type targetConnected,
  type targetDisconnected,
  type targetFailed,
} from './events.ts';
import type { RestreamRow, TargetRow } from './repository.ts';
import * as repository from './repository.ts';
import { restreamStatus } from './rules.ts';

export type Changes = Record<string, { from: unknown; to: unknown }>;

/** Context for events of one restream: a transaction that holds its row. */
export interface RestreamEventContext {
  tx: Tx;
  append: AppendEvent;
}

type Plain =
  | typeof restreamCreated
  | typeof restreamDeleted
  | typeof restreamStarted
  | typeof restreamStopped;

async function dataOf(tx: Tx, row: RestreamRow) {
  const targets = await repository.targetsOf(tx, [row.id]);
  return {
    restreamId: row.id,
    streamId: row.stream_id,
    name: row.name,
    status: restreamStatus(row, targets),
    targetCount: targets.length,
    sequence: await nextSequence(tx, 'restream', row.id),
  };
}

export async function emitRestream(
  { tx, append }: RestreamEventContext,
  event: Plain,
  row: RestreamRow,
): Promise<void> {
  await append(event, row.workspace_id, await dataOf(tx, row));
}

/** Emits the changed fields; emits no event when there are none. */
export async function emitUpdated(
  { tx, append }: RestreamEventContext,
  row: RestreamRow,
  changes: Changes,
): Promise<void> {
  if (Object.keys(changes).length === 0) return;
  await append(restreamUpdated, row.workspace_id, { ...(await dataOf(tx, row)), changes });
}

export async function emitTarget(
  { tx, append }: RestreamEventContext,
  event: typeof targetConnected | typeof targetDisconnected | typeof targetFailed,
  workspaceId: string,
  row: TargetRow,
  message: string | null = row.error_message,
): Promise<void> {
  await append(event, workspaceId, {
    restreamId: row.restream_id,
    targetId: row.id,
    platform: row.platform,
    severity: row.error_severity,
    errorMessage: message,
    retryCount: row.retry_count,
    sequence: await nextSequence(tx, 'restream', row.restream_id),
  });
}
