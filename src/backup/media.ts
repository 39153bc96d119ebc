import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress } from 'node:zlib';
import type { BlobStore } from '../media/contract/index.ts';
import { forEachConcurrent } from './for-each-concurrent.ts';
import {
  blobKey,
  createHashingStream,
  type HashingStream,
  MEDIA,
  type MediaFile,
  mediaListKey,
} from './layout.ts';
import { discardStream, readMediaList } from './read-backup.ts';
import { type Source, sourcesOf } from './sources.ts';

const PARALLEL = 4;
/** Maximum reads of a file that is rewritten under its name during the copy. */
const TRIES = 5;
const BLOB = 'application/octet-stream';

/** Copies new files to a backup's target. */
export interface MediaCopy {
  /** One look at all files. What a later look does not find in the store stays in the list. */
  pass(): Promise<void>;
  /** Writes the list of all that were found. */
  writeList(): Promise<{ files: number; sizeBytes: number; listBytes: number; sha256: string }>;
  readonly copied: { files: number; sizeBytes: number };
}

interface Deps {
  id: string;
  store: BlobStore;
  dataDir: string;
  target: BlobStore;
  /** ID of the previous backup, which has the hashes of unchanged files; null when there is none. */
  before: string | null;
}

export async function createMediaCopy({ id, store, dataDir, target, before }: Deps): Promise<MediaCopy> {
  const nameOf = ({ place, key }: Pick<MediaFile, 'place' | 'key'>) => `${place} ${key}`;
  const blobs = await blobsOf(target);
  const known = new Map<string, MediaFile>();
  if (before !== null) {
    for await (const file of readMediaList(target, before)) known.set(nameOf(file), file);
  }
  const found = new Map<string, MediaFile>();
  const copied = { files: 0, sizeBytes: 0 };

  async function take(source: Source): Promise<void> {
    const name = nameOf(source);
    const same = [found.get(name), known.get(name)].find(
      (file) => file?.etag === source.etag && file.sizeBytes === source.sizeBytes && blobs.has(file.sha256),
    );
    const file = same ?? (await copy(source));
    if (file !== null) found.set(name, file);
  }

  /** Copies a file in two reads, because the hash is the name: one for the hash, and one for new content. */
  async function copy(source: Source): Promise<MediaFile | null> {
    const { place, key, etag } = source;
    for (let tries = 0; tries < TRIES; tries++) {
      const first = await readThrough(source);
      if (first === null) return null;
      const file = { place, key, etag, sizeBytes: first.sizeBytes, sha256: first.digest() };
      if (blobs.has(file.sha256)) return file;
      const content = await source.read();
      if (content === null) return null;
      const second = createHashingStream();
      const passed = pipeline(content, second);
      await Promise.all([target.put(blobKey(file.sha256), second, BLOB), passed]);
      if (second.digest() !== file.sha256) {
        await target.delete(blobKey(file.sha256));
        continue;
      }
      blobs.add(file.sha256);
      copied.files += 1;
      copied.sizeBytes += file.sizeBytes;
      return file;
    }
    throw new Error(`${key} changes faster than it can be copied`);
  }

  return {
    copied,
    async pass() {
      for (const [name, file] of found) {
        if (file.place !== 'DATA') continue;
        // A finished upload or recording is complete in the store, so its partial file is not needed.
        known.set(name, file);
        found.delete(name);
      }
      await forEachConcurrent(sourcesOf(store, dataDir), PARALLEL, take);
    },
    async writeList() {
      const measured = createHashingStream();
      const lines = function* () {
        for (const file of found.values()) yield `${JSON.stringify(file)}\n`;
      };
      const written = pipeline(Readable.from(lines()), createZstdCompress(), measured);
      await Promise.all([target.put(mediaListKey(id), measured, BLOB), written]);
      const sizeBytes = [...found.values()].reduce((sum, file) => sum + file.sizeBytes, 0);
      return {
        files: found.size,
        sizeBytes,
        listBytes: measured.sizeBytes,
        sha256: measured.digest(),
      };
    },
  };
}

async function blobsOf(target: BlobStore): Promise<Set<string>> {
  const blobs = new Set<string>();
  for await (const { key } of target.list(MEDIA)) blobs.add(key.slice(key.lastIndexOf('/') + 1));
  return blobs;
}

async function readThrough(source: Source): Promise<HashingStream | null> {
  const content = await source.read();
  if (content === null) return null;
  const measured = createHashingStream();
  await pipeline(content, measured, discardStream());
  return measured;
}
