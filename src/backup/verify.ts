import type { BlobStore } from '../media/contract/index.ts';
import { blobKey, type Manifest } from './layout.ts';
import {
  DamagedError,
  discardStream,
  type ExpectedFile,
  mediaListOf,
  readMediaList,
  readVerified,
  tableOf,
} from './read-backup.ts';

/** Reads a whole backup. @returns descriptions of missing or damaged parts; empty when it can be restored. */
export async function verifyBackup(target: BlobStore, manifest: Manifest): Promise<string[]> {
  const problems: string[] = [];
  const check = async (expected: ExpectedFile) => {
    try {
      await readVerified(target, expected, discardStream());
      return true;
    } catch (error) {
      if (!(error instanceof DamagedError)) throw error;
      problems.push(error.message);
      return false;
    }
  };
  for (const { name } of manifest.tables) await check(tableOf(manifest, name));
  if (!(await check(mediaListOf(manifest)))) return problems;
  const seen = new Set<string>();
  for await (const { key, sizeBytes, sha256 } of readMediaList(target, manifest.id)) {
    if (seen.has(sha256)) continue;
    seen.add(sha256);
    const blob = { key: blobKey(sha256), sizeBytes, sha256, isCompressed: false };
    if (!(await check(blob))) problems.push(`${key} of the media cannot be restored`);
  }
  return problems;
}
