import { isDeepStrictEqual } from 'node:util';
import type { AppendEvent } from '../../events/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import type { StreamRow } from './repository.ts';
import * as repository from './repository.ts';
import { settingsOf } from './settings.ts';

/** The events of a stream that is there already, and what their data has beside its id and their number. */
interface ResourceData {
  'stream.updated': { title: string; visibility: string; changes: Changes };
  'stream.deleted': { deletedAt: string };
  'stream.scheduled': { title: string; scheduledStartAt: string };
  'stream.key_rotated': { rotatedAt: string };
  'stream.health_changed': { healthy: boolean; issues: string[] };
  'stream.recording_ready': { sessionId: string; videoId: string; durationSec: number | null };
}

export type Changes = Record<string, { from: unknown; to: unknown }>;

/** Appends an event about the stream with its next number; under the lock of the stream. */
export async function say<T extends keyof ResourceData>(
  tx: Tx,
  append: AppendEvent,
  row: Pick<StreamRow, 'id' | 'workspace_id'>,
  type: T,
  data: ResourceData[T],
): Promise<void> {
  const sequence = await repository.nextSequence(tx, row.id);
  await append({ workspaceId: row.workspace_id, type, data: { streamId: row.id, ...data, sequence } });
}

/** The settings that differ, each with its old and new value. */
export function changesOf(before: StreamRow, after: StreamRow): Changes {
  const old = new Map<string, unknown>(Object.entries(settingsOf(before)));
  return Object.fromEntries(
    Object.entries(settingsOf(after))
      .filter(([name, to]) => !isDeepStrictEqual(old.get(name), to))
      .map(([name, to]) => [name, { from: old.get(name), to }]),
  );
}

/** A planned start is announced so long before it (`api.md` C9). */
export const ANNOUNCED_MS = 15 * 60_000;

/** The planned start. Said that late, it is its own announcement. */
export async function sayScheduled(tx: Tx, append: AppendEvent, row: StreamRow, now: Date): Promise<void> {
  if (row.scheduled_start_at === null) return;
  if (row.scheduled_start_at.getTime() - now.getTime() <= ANNOUNCED_MS) {
    await repository.updateStream(tx, row.id, { schedule_said_for: row.scheduled_start_at });
  }
  const scheduledStartAt = row.scheduled_start_at.toISOString();
  await say(tx, append, row, 'stream.scheduled', { title: row.title, scheduledStartAt });
}

/** @param row inserted with `event_sequence` 1. */
export async function sayCreated(tx: Tx, append: AppendEvent, row: StreamRow, now: Date): Promise<void> {
  const { id: streamId, title, visibility, event_sequence: sequence, workspace_id: workspaceId } = row;
  await append({ workspaceId, type: 'stream.created', data: { streamId, title, visibility, sequence } });
  await sayScheduled(tx, append, row, now);
}

/** Nothing is said when nothing differs. */
export async function sayUpdated(
  tx: Tx,
  append: AppendEvent,
  before: StreamRow,
  after: StreamRow,
  now: Date,
): Promise<void> {
  const changes = changesOf(before, after);
  if (Object.keys(changes).length === 0) return;
  const { title, visibility } = after;
  await say(tx, append, after, 'stream.updated', { title, visibility, changes });
  if ('scheduledStartAt' in changes) await sayScheduled(tx, append, after, now);
}

/** The recording of a broadcast of the stream can be played. */
export function sayRecordingReady(
  tx: Tx,
  append: AppendEvent,
  { workspaceId, streamId, ...data }: RecordingReady,
): Promise<void> {
  return say(tx, append, { id: streamId, workspace_id: workspaceId }, 'stream.recording_ready', data);
}

interface RecordingReady {
  workspaceId: string;
  streamId: string;
  sessionId: string;
  videoId: string;
  durationSec: number | null;
}
