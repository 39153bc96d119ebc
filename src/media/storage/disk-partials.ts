import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobInfo, PartialFiles, PartialState } from '../contract/index.ts';
import { makeFolder, orNull, syncFolder, writeAt } from './disk-files.ts';
import { checkKey } from './keys.ts';
import { untilError } from './resumable-source.ts';
import { spoolVerified } from './spool.ts';
import type { TempDir } from './temp.ts';

/** Maximum interval between progress reports; each costs one `fdatasync`, concurrent with the writes. */
const SYNC_MS = 2000;
const SYNC_BYTES = 64 * 2 ** 20;

interface Parts {
  /** Folder of the partial files; each has one flat name, so that deleting it leaves nothing behind. */
  dir: string;
  temp: TempDir;
  publish(from: string, key: string): Promise<BlobInfo>;
  /** Returns the complete file, once it exists. */
  head(key: string): Promise<BlobInfo | null>;
}

/** Files in pieces on a disk. The length of the file is the truth: it only grows, by bytes that were written. */
export function createDiskPartials({ dir, temp, publish, head }: Parts): PartialFiles & {
  abortPrefix(prefix: string): Promise<void>;
} {
  const nameOf = (key: string) => key.replaceAll('/', '~');
  const pathOf = (key: string) => join(dir, nameOf(checkKey(key)));

  return {
    async create(key) {
      await makeFolder(dir);
      const file = await open(pathOf(key), 'a');
      await file.sync().finally(() => file.close());
      await syncFolder(dir);
      return stateOf(0);
    },
    async inspect(key, state) {
      const file = await orNull(open(pathOf(key), 'r+'));
      if (file === null) return stateOf((await head(key))?.sizeBytes ?? 0);
      try {
        const { size } = await file.stat();
        // Bytes of a killed process may be only in the page cache.
        if (size !== state.sizeBytes) await file.datasync();
        return stateOf(size);
      } finally {
        await file.close();
      }
    },
    async append(key, _state, offset, content, options = {}) {
      const file = await open(pathOf(key), 'r+');
      try {
        const { size } = await file.stat();
        if (size !== offset) throw new Error(`${key} has ${size} bytes and not ${offset}`);
        const { digest } = options;
        const source = digest === undefined ? untilError(content) : spoolVerified(content, digest, temp);
        return stateOf(await write(file, offset, source, (bytes) => options.onDurable?.(stateOf(bytes))));
      } finally {
        await file.close();
      }
    },
    async complete(key) {
      const made = (await orNull(publish(pathOf(key), key))) ?? (await head(key));
      if (made === null) throw new Error(`nothing was received for ${key}`);
      return made;
    },
    async abort(key) {
      await rm(pathOf(key), { force: true });
    },
    async abortPrefix(prefix) {
      const names = (await orNull(readdir(dir))) ?? [];
      const gone = names.filter((name) => name.startsWith(nameOf(prefix)));
      await Promise.all(gone.map((name) => rm(join(dir, name), { force: true })));
    },
  };
}

function stateOf(sizeBytes: number): PartialState {
  return { sizeBytes, driver: {} };
}

/**
 * Appends the source and syncs; intermediate syncs run concurrently with the writes. @returns the durable
 * length.
 */
async function write(
  file: FileHandle,
  offset: number,
  source: AsyncIterable<Uint8Array>,
  onDurable: (bytes: number) => void,
): Promise<number> {
  let position = offset;
  let synced = offset;
  let syncedAt = performance.now();
  let sync: Promise<void> | null = null;
  let failure: unknown = null;
  const startSync = () => {
    const reached = position;
    synced = reached;
    syncedAt = performance.now();
    sync = file
      .datasync()
      .then(() => onDurable(reached))
      .catch((error: unknown) => {
        failure = error;
      })
      .finally(() => {
        sync = null;
      });
  };
  try {
    for await (const chunk of source) {
      if (failure !== null) throw failure;
      await writeAt(file, chunk, position);
      position += chunk.length;
      const isDue = position - synced >= SYNC_BYTES || performance.now() - syncedAt >= SYNC_MS;
      if (isDue && sync === null) startSync();
    }
  } finally {
    await sync;
  }
  if (failure !== null) throw failure;
  await file.datasync();
  return position;
}
