import type { Tx } from '../../../../platform/db/index.ts';
import type { StorageReservation } from '../intake/storage-reservation.service.ts';
import { updateVideo, type VideoRow } from '../repository.ts';
import type { ReplacementRow } from './repository.ts';
import * as repository from './repository.ts';

/** A stored file counts until it is removed. */
export async function releaseUnusedReservation(
  tx: Tx,
  hold: StorageReservation,
  workspaceId: string,
  replacement: ReplacementRow,
): Promise<void> {
  const { video_id: videoId, original_key: original } = replacement;
  const source = repository.sourceOf(replacement);
  if (original === null) await hold.release(tx, { workspaceId, videoId, ...source });
}

/** Ends the replacements of a deleted video; their files are removed with those of the video. */
export async function takeOverReplacements(
  tx: Tx,
  hold: StorageReservation,
  row: VideoRow,
  now: Date,
): Promise<void> {
  const open = await repository.openReplacement(tx, row.id);
  if (open !== undefined) await releaseUnusedReservation(tx, hold, row.workspace_id, open);
  const bytes = await repository.replacementBytes(tx, row.id);
  await repository.endReplacements(tx, row.id, now);
  if (bytes > 0) await updateVideo(tx, row.id, { storage_bytes: row.storage_bytes + bytes });
}
