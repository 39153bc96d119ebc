import { type AppendEvent, nextSequence } from '../../../events/index.ts';
import { diffFields } from '../../../kernel/diff.ts';
import type { Tx } from '../../../platform/db/index.ts';
import { videoCreated, videoUpdated } from './events.ts';
import { settingsOf } from './fields.ts';
import type { VideoRow } from './repository.ts';

function described(row: VideoRow) {
  const { title, status, visibility, external_id: externalId, source } = row;
  return { title, status, visibility, externalId, source };
}

/** @param row inserted with `event_sequence` 1. */
export async function emitCreated(append: AppendEvent, row: VideoRow): Promise<void> {
  const data = { videoId: row.id, ...described(row), sequence: row.event_sequence };
  await append(videoCreated, row.workspace_id, data);
}

/** Returns the changed settings with their old and new values. */
function changesOf(before: VideoRow, after: VideoRow) {
  return diffFields(changeable(before), changeable(after));
}

function changeable(row: VideoRow) {
  return { ...settingsOf(row), chapters: row.chapters, publishAt: row.publish_at?.toISOString() ?? null };
}

export function hasChanged(before: VideoRow, after: VideoRow): boolean {
  return Object.keys(changesOf(before, after)).length > 0;
}

/** Emits the changed fields; emits no event when there are none. */
export async function emitUpdated(tx: Tx, append: AppendEvent, before: VideoRow, after: VideoRow) {
  const changes = changesOf(before, after);
  if (Object.keys(changes).length === 0) return;
  const sequence = await nextSequence(tx, 'video', after.id);
  const data = { videoId: after.id, ...described(after), changes, sequence };
  await append(videoUpdated, after.workspace_id, data);
}

/** Emits the event of additional codecs that were added to a READY video. */
export async function emitRenditions(
  tx: Tx,
  append: AppendEvent,
  row: VideoRow,
  renditions: { from: readonly string[]; to: readonly string[] },
): Promise<void> {
  const sequence = await nextSequence(tx, 'video', row.id);
  const data = { videoId: row.id, ...described(row), changes: { renditions }, sequence };
  await append(videoUpdated, row.workspace_id, data);
}
