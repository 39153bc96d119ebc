import { type AppendEvent, nextSequence } from '../../../events/index.ts';
import type { Tx } from '../../../platform/db/index.ts';
import type { BridgeEndReason } from '../../../platform/db/tables.generated.ts';
import { bridgeConnected, bridgeFailed, bridgeStopped } from './events.ts';
import type { BridgeChange, BridgeRow } from './repository.ts';
import * as repository from './repository.ts';
import { eventOf, OPEN } from './rules.ts';

/** Context of a change: a transaction that holds the row lock, and its time. */
export interface Change {
  tx: Tx;
  append: AppendEvent;
  now: Date;
}

const EVENTS = { connected: bridgeConnected, failed: bridgeFailed, stopped: bridgeStopped };

/** Writes the change and emits the event for it. */
export async function change(
  { tx, append }: Change,
  before: BridgeRow,
  values: BridgeChange,
): Promise<BridgeRow> {
  const row = await repository.updateBridge(tx, before.id, values);
  const event = eventOf(before, row);
  if (event === null) return row;
  await append(EVENTS[event], row.workspace_id, {
    bridgeId: row.id,
    type: row.type,
    sourceId: row.source_id,
    targetId: row.target_id,
    status: row.status,
    error: row.error,
    endReason: row.end_reason,
    sequence: await nextSequence(tx, 'bridge', row.id),
  });
  return row;
}

export const isOpen = ({ status }: Pick<BridgeRow, 'status'>): boolean => OPEN.includes(status);

/** Ends the bridge permanently; does nothing when it has already ended. */
export async function end(told: Change, row: BridgeRow, reason: BridgeEndReason): Promise<BridgeRow> {
  if (!isOpen(row)) return row;
  return change(told, row, {
    status: 'STOPPED',
    end_reason: reason,
    error: null,
    next_retry_at: null,
    stopped_at: told.now,
    node_id: null,
    lease_until: null,
  });
}
