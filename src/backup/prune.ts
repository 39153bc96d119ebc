import type { BlobStore } from '../media/contract/index.ts';
import { blobKey, folderOf, listBackups, MEDIA, removeManifest } from './layout.ts';
import { readMediaList } from './read-backup.ts';

/**
 * Removes all but the newest backups, interrupted ones, and media that no remaining backup uses. A backup
 * loses its manifest first: if the process is killed then, it counts as interrupted, and the next call
 * continues.
 *
 * @param keep default: all complete backups. @returns the IDs of removed complete backups.
 */
export async function prune(target: BlobStore, keep: number | undefined): Promise<string[]> {
  const { whole, broken } = await listBackups(target);
  const old = keep === undefined ? [] : whole.slice(0, -keep);
  for (const id of old) await removeManifest(target, id);
  for (const id of [...broken, ...old]) await target.deletePrefix(folderOf(id));
  if (old.length + broken.length > 0) await removeUnused(target, whole.slice(old.length));
  return old;
}

async function removeUnused(target: BlobStore, kept: readonly string[]): Promise<void> {
  const used = new Set<string>();
  for (const id of kept) {
    for await (const { sha256 } of readMediaList(target, id)) used.add(blobKey(sha256));
  }
  for await (const { key } of target.list(MEDIA)) if (!used.has(key)) await target.delete(key);
}
