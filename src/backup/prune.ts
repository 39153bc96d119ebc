import type { BlobStore } from '../media/contract/index.ts';
import { blobKey, folderOf, listBackups, MEDIA, removeManifest } from './layout.ts';
import { readMediaList } from './read-backup.ts';

/**
 * Removes all but the newest backups, what was broken off, and the media that none of those that stay has. A backup
 * loses its manifest first: killed meanwhile, it is one that was broken off, and the next call goes on.
 *
 * @param keep default: all that are whole. @returns the ids of whole ones that were removed.
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
