import { createHash, type Hash } from 'node:crypto';
import { originalKey } from '../../../kernel/media-keys.ts';
import type { PartialState } from '../../../media/contract/index.ts';
import type { UploadRow } from './repository.ts';

/**
 * Returns the key under which the original of an upload is stored (docs/decisions/storage-and-quota.md#keys).
 */
export function keyOf({ id, workspace_id, video_id }: UploadRow): string {
  return originalKey({ workspace_id, id: video_id }, id);
}

/** Returns the holder of the upload's storage: the video or its replacement. */
export function heldBy({ id, workspace_id: workspaceId, video_id: videoId, replaces }: UploadRow) {
  return { workspaceId, videoId, ...(replaces && { uploadId: id }) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Returns the last state of the received bytes reported by the store; null while there are none. */
export function partialOf(row: UploadRow): PartialState | null {
  if (!('driver' in row.storage_state) || !isRecord(row.storage_state.driver)) return null;
  return { sizeBytes: row.received_bytes, driver: row.storage_state.driver };
}

/** Returns the columns that hold the state reported by the store. */
export function stored(state: PartialState): { received_bytes: number; storage_state: object } {
  return { received_bytes: state.sizeBytes, storage_state: { driver: state.driver } };
}

const MOST = 1000;

/** SHA-256 of uploads in transfer through this process, so that their files need not be read again. */
export interface Hashes {
  /** Adds `bytes` to the digest when all previous bytes were added; otherwise drops the upload. */
  update(id: string, offset: number, bytes: Uint8Array): void;
  /** Returns the digest of exactly `size` bytes, once; null when it was not computed from the start. */
  take(id: string, size: number): Buffer | null;
  forget(id: string): void;
}

export function createHashes(): Hashes {
  const followed = new Map<string, { hash: Hash; offset: number }>();
  const start = (id: string) => {
    if (followed.size >= MOST) followed.clear();
    const fresh = { hash: createHash('sha256'), offset: 0 };
    followed.set(id, fresh);
    return fresh;
  };
  return {
    update(id, offset, bytes) {
      const entry = offset === 0 ? start(id) : followed.get(id);
      if (entry === undefined) return;
      if (entry.offset !== offset) return void followed.delete(id);
      entry.hash.update(bytes);
      entry.offset += bytes.length;
    },
    take(id, size) {
      const entry = followed.get(id);
      followed.delete(id);
      return entry?.offset === size ? entry.hash.digest() : null;
    },
    forget: (id) => void followed.delete(id),
  };
}
