import { isDeepStrictEqual } from 'node:util';
import { appendToLog } from '../../../events/stream-log.ts';
import type { Tx } from '../../../platform/db/index.ts';
import type { StreamHealth } from '../../../platform/db/json-columns.ts';
import type { StreamRow } from './repository.ts';
import { deriveStatus, type StreamStatus, visibleHealth } from './rules.ts';

/**
 * Status of a stream, as `GET /streams/{id}/status` and its tail return it (docs/concepts/tails.md#status).
 */
export interface Status {
  streamId: string;
  hasSignal: boolean;
  isLive: boolean;
  status: StreamStatus;
  /** ISO 8601. */
  startedAt: string | null;
  endedAt: string | null;
  health: Required<StreamHealth> | null;
}

type StatusRow = Pick<
  StreamRow,
  'id' | 'has_signal' | 'is_live' | 'enabled' | 'started_at' | 'ended_at' | 'health'
>;

export function statusOf(row: StatusRow): Status {
  return {
    streamId: row.id,
    hasSignal: row.has_signal,
    isLive: row.is_live,
    status: deriveStatus({ hasSignal: row.has_signal, isLive: row.is_live, enabled: row.enabled }),
    startedAt: row.started_at?.toISOString() ?? null,
    endedAt: row.ended_at?.toISOString() ?? null,
    health: visibleHealth(row),
  };
}

/**
 * Returns the status without bitrate and similar values, which differ in every measurement and are no change.
 */
function comparable({ health, ...rest }: Status): Record<string, unknown> {
  if (health === null) return { ...rest, health };
  const { width, height, codec, issues } = health;
  return { ...rest, health: { width, height, codec, issues } };
}

/** Returns the changed fields of the status. */
export function changedFields(before: StatusRow, after: StatusRow): string[] {
  const old = comparable(statusOf(before));
  return Object.entries(comparable(statusOf(after)))
    .filter(([name, value]) => !isDeepStrictEqual(old[name], value))
    .map(([name]) => name);
}

/** Appends a changed status to the log for the tails, under the lock of the stream. */
export async function logStatus(tx: Tx, before: StatusRow, after: StatusRow, now: Date): Promise<void> {
  const changed = changedFields(before, after);
  if (changed.length === 0) return;
  const body = { ...statusOf(after), changed, at: now.toISOString() };
  await appendToLog(tx, { streamId: after.id, tail: 'STATUS' }, 'status', { body: () => body, at: now });
}

type ChatRow = Pick<StreamRow, 'id' | 'chat_enabled' | 'chat_mode' | 'slow_mode_sec'>;

/** Returns the chat settings of a stream as its tails send them (docs/concepts/chat.md#settings). */
function chatSettings(row: ChatRow) {
  return { chatMode: row.chat_enabled ? row.chat_mode : 'OFF', slowModeSec: row.slow_mode_sec };
}

/** Appends changed chat settings to the log for the tails, under the lock of the stream. */
export async function logChatSettings(tx: Tx, before: ChatRow, after: ChatRow, now: Date): Promise<void> {
  const body = chatSettings(after);
  if (isDeepStrictEqual(chatSettings(before), body)) return;
  await appendToLog(tx, { streamId: after.id, tail: 'CHAT' }, 'settings', { body: () => body, at: now });
}
