import { isDeepStrictEqual } from 'node:util';
import type { AppendEvent } from '../../events/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import type { VideoRow } from './repository.ts';
import * as repository from './repository.ts';

/** The events of a video that is there already, and what their data has beside its id and their number. */
interface VideoEventData {
  'video.updated': ReturnType<typeof described> & { changes: Changes };
  'video.deleted': { deletedAt: string };
  'video.published': { visibility: string; publishedAt: string };
  'video.unpublished': { visibility: string; publishedAt: string | null };
  'video.caption.ready': { language: string; isAuto: boolean };
  'video.upload.completed': { uploadId: string; sizeBytes: number };
  'video.processing.started': { attempt: number };
  'video.processing.completed': {
    title: string;
    status: 'READY';
    durationSec: number | null;
    width: number | null;
    height: number | null;
    renditions: string[];
    playbackUrl: string | null;
    thumbnailUrl: string | null;
    externalId: string | null;
    completedAt: string;
  };
  'video.processing.failed': {
    error: { code: string; message: string };
    attempt: number;
    failedAt: string;
  };
}

type Changes = Record<string, { from: unknown; to: unknown }>;

/** Appends an event about the video with its next number; under the lock of the video. */
export async function say<T extends keyof VideoEventData>(
  tx: Tx,
  append: AppendEvent,
  row: Pick<VideoRow, 'id' | 'workspace_id'>,
  type: T,
  data: VideoEventData[T],
): Promise<void> {
  const sequence = await repository.nextSequence(tx, row.id);
  await append({ workspaceId: row.workspace_id, type, data: { videoId: row.id, ...data, sequence } });
}

function described(row: VideoRow) {
  const { title, status, visibility, external_id: externalId, source } = row;
  return { title, status, visibility, externalId, source };
}

/** @param row inserted with `event_sequence` 1. */
export async function sayCreated(append: AppendEvent, row: VideoRow): Promise<void> {
  const data = { videoId: row.id, ...described(row), sequence: row.event_sequence };
  await append({ workspaceId: row.workspace_id, type: 'video.created', data });
}

/** Settings as the API names them. */
function settingsOf(row: VideoRow) {
  return {
    title: row.title,
    description: row.description,
    visibility: row.visibility,
    tierIds: row.tier_ids,
    priceCents: row.price_cents,
    currency: row.currency,
    tags: row.tags,
    metadata: row.metadata,
    externalId: row.external_id,
    chapters: row.chapters,
    publishAt: row.publish_at?.toISOString() ?? null,
  };
}

/** The settings that differ, each with its old and new value. */
function changesOf(before: VideoRow, after: VideoRow): Changes {
  const old = new Map<string, unknown>(Object.entries(settingsOf(before)));
  return Object.fromEntries(
    Object.entries(settingsOf(after))
      .filter(([name, to]) => !isDeepStrictEqual(old.get(name), to))
      .map(([name, to]) => [name, { from: old.get(name), to }]),
  );
}

export function differs(before: VideoRow, after: VideoRow): boolean {
  return Object.keys(changesOf(before, after)).length > 0;
}

/** Nothing is said when nothing differs. */
export async function sayUpdated(tx: Tx, append: AppendEvent, before: VideoRow, after: VideoRow) {
  const changes = changesOf(before, after);
  if (Object.keys(changes).length === 0) return;
  await say(tx, append, after, 'video.updated', { ...described(after), changes });
}
