import { type AppendEvent, nextSequence } from '../../../events/index.ts';
import { diffFields } from '../../../kernel/diff.ts';
import type { Tx } from '../../../platform/db/index.ts';
import { streamCreated, streamRecordingReady, streamScheduled, streamUpdated } from './events.ts';
import { settingsOf } from './fields.ts';
import type { StreamRow } from './repository.ts';
import * as repository from './repository.ts';

/** Time between the announcement and the planned start (docs/concepts/events.md). */
export const SCHEDULE_NOTICE_MS = 15 * 60_000;

/** Emits the planned start. When it is due within the notice period, this event replaces the announcement. */
export async function emitScheduled(tx: Tx, append: AppendEvent, row: StreamRow, now: Date): Promise<void> {
  if (row.scheduled_start_at === null) return;
  if (row.scheduled_start_at.getTime() - now.getTime() <= SCHEDULE_NOTICE_MS) {
    await repository.updateStream(tx, row.id, { schedule_notified_for: row.scheduled_start_at });
  }
  await append(streamScheduled, row.workspace_id, {
    streamId: row.id,
    title: row.title,
    scheduledStartAt: row.scheduled_start_at.toISOString(),
    sequence: await nextSequence(tx, 'stream', row.id),
  });
}

/** @param row inserted with `event_sequence` 1. */
export async function emitCreated(tx: Tx, append: AppendEvent, row: StreamRow, now: Date): Promise<void> {
  const { id: streamId, title, visibility, event_sequence: sequence, workspace_id: workspaceId } = row;
  await append(streamCreated, workspaceId, { streamId, title, visibility, sequence });
  await emitScheduled(tx, append, row, now);
}

/** Emits the changed fields; emits no event when there are none. */
export async function emitUpdated(
  tx: Tx,
  append: AppendEvent,
  before: StreamRow,
  after: StreamRow,
  now: Date,
): Promise<void> {
  const changes = diffFields(settingsOf(before), settingsOf(after));
  if (Object.keys(changes).length === 0) return;
  const { id: streamId, title, visibility } = after;
  const sequence = await nextSequence(tx, 'stream', streamId);
  await append(streamUpdated, after.workspace_id, { streamId, title, visibility, changes, sequence });
  if ('scheduledStartAt' in changes) await emitScheduled(tx, append, after, now);
}

/** Emits that the recording of a broadcast is playable. */
export async function emitRecordingReady(
  tx: Tx,
  append: AppendEvent,
  { workspaceId, streamId, ...recording }: RecordingReady,
): Promise<void> {
  const sequence = await nextSequence(tx, 'stream', streamId);
  await append(streamRecordingReady, workspaceId, { streamId, ...recording, sequence });
}

interface RecordingReady {
  workspaceId: string;
  streamId: string;
  sessionId: string;
  videoId: string;
  durationSec: number | null;
}
