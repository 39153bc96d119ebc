import { createHash, timingSafeEqual } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { type ContentDigest, DigestMismatchError } from '../contract/index.ts';
import { writeAt } from './disk-files.ts';
import { untilError } from './resumable-source.ts';
import type { TempDir } from './temp.ts';

/**
 * Yields the content once its digest is verified: it is buffered in a local file, never in memory.
 *
 * @throws {DigestMismatchError} before the first chunk; also when the source broke off, since its digest then
 *   differs.
 */
export async function* spoolVerified(
  content: AsyncIterable<Uint8Array | string>,
  { algorithm, value }: ContentDigest,
  temp: TempDir,
): AsyncGenerator<Uint8Array> {
  const path = await temp.name();
  const file = await open(path, 'wx+');
  try {
    // An unlinked file disappears with the process, however that ends.
    await rm(path);
    const hash = createHash(algorithm);
    let length = 0;
    for await (const chunk of untilError(content)) {
      hash.update(chunk);
      await writeAt(file, chunk, length);
      length += chunk.length;
    }
    const digest = hash.digest();
    if (digest.length !== value.length || !timingSafeEqual(digest, value)) throw new DigestMismatchError();
    for await (const chunk of file.createReadStream({ start: 0, autoClose: false })) yield chunk;
  } finally {
    await file.close();
  }
}
