import { originalKey } from '../../../kernel/media-keys.ts';
import type { BlobStore, PartialState } from '../../../media/contract/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { ImportRow } from './repository.ts';

interface Target {
  id: string;
  workspace_id: string;
  video_id: string;
  replaces: boolean;
}

type Stored = Pick<ImportRow, 'id' | 'workspace_id' | 'video_id' | 'bytes_received' | 'storage_state'>;

/**
 * Returns the key under which the original of an import is stored (docs/decisions/storage-and-quota.md#keys).
 */
export function keyOf({ id, workspace_id, video_id }: Stored): string {
  return originalKey({ workspace_id, id: `${video_id}` }, id);
}

/** Returns the target of an import's file: a video, or a replacement of a video's file. */
export function targetOf({ id, workspace_id: workspaceId, video_id: videoId, replaces }: Target) {
  return { workspaceId, videoId, ...(replaces && { importId: id }) };
}

/** Returns the last state reported by the store; null while nothing was received. */
export function partialOf({ bytes_received: sizeBytes, storage_state: driver }: Stored): PartialState | null {
  return driver === null ? null : { sizeBytes, driver };
}

/** Removes the bytes of an abandoned download; the purge of the video removes anything left here. */
export async function discardPartial(
  { store, log }: { store: BlobStore; log: Logger },
  key: string,
  state: PartialState | null,
): Promise<void> {
  try {
    if (state !== null) await store.partials.abort(key, state);
    await store.delete(key);
  } catch (error) {
    log.warn({ err: error, key }, 'the bytes of an import that has ended were not removed');
  }
}
