import { constants, type Stats } from 'node:fs';
import {
  copyFile,
  type FileHandle,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  unlink,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BlobInfo, BlobStore, ByteSpan } from '../contract/index.ts';
import { openOutputFile } from '../ffmpeg/output.ts';
import { hasCode, makeFolder, orNull, syncFolder, writeAt } from './disk-files.ts';
import { createDiskPartials } from './disk-partials.ts';
import { checkFolder, checkKey, checkPrefix } from './keys.ts';
import { createTempDir } from './temp.ts';

/** Flags that follow no link in place of a file, and do not block on a pipe. */
const READ_HERE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Creates a store of files below `root`, under their keys. New content is written to `.tmp`, synced and
 * renamed, so a key never has partial content; received chunks wait in `.partial`. No key begins with a dot.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: an object of short methods around one folder.
export function createDiskStore(root: string): BlobStore {
  const pathOf = (key: string) => join(root, checkKey(key));
  const temp = createTempDir(join(root, '.tmp'));
  const partials = createDiskPartials({ dir: join(root, '.partial'), temp, publish, head });

  async function head(key: string): Promise<BlobInfo | null> {
    const found = await orNull(stat(pathOf(key)));
    return found?.isFile() ? infoOf(key, found) : null;
  }

  /** Publishes a synced file under its key. */
  async function publish(from: string, key: string): Promise<BlobInfo> {
    const path = pathOf(key);
    await makeFolder(dirname(path));
    await rename(from, path);
    await syncFolder(dirname(path));
    return infoOf(key, await stat(path));
  }

  async function withTemp(key: string, write: (file: FileHandle) => Promise<void>): Promise<BlobInfo> {
    checkKey(key);
    const path = await temp.name();
    try {
      await writeSynced(path, write);
      return await publish(path, key);
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  }

  return {
    partials,
    put: (key, content) =>
      withTemp(key, async (file) => {
        if (typeof content === 'string' || content instanceof Uint8Array) return file.writeFile(content);
        let position = 0;
        for await (const chunk of content) {
          const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
          await writeAt(file, bytes, position);
          position += bytes.length;
        }
      }),
    async putFile(key, path) {
      checkKey(key);
      const file = await openOutputFile(path, constants.O_RDWR);
      await file.sync().finally(() => file.close());
      try {
        return await publish(path, key);
      } catch (error) {
        if (!hasCode(error, 'EXDEV')) throw error;
      }
      const copy = await temp.name();
      await copyFile(path, copy, constants.COPYFILE_FICLONE);
      await writeSynced(copy, async () => {}, 'r+');
      const info = await publish(copy, key);
      await unlink(path);
      return info;
    },
    async open(key, span) {
      const file = await orNull(open(pathOf(key), READ_HERE));
      if (file === null) return null;
      try {
        return { ...infoOf(key, await file.stat()), body: file.createReadStream(range(span)) };
      } catch (error) {
        await file.close();
        throw error;
      }
    },
    read: (key) => orNull(readFile(pathOf(key), { flag: READ_HERE })),
    head,
    async *list(prefix) {
      yield* walk(root, prefix.slice(0, checkPrefix(prefix).lastIndexOf('/') + 1), prefix);
    },
    async delete(key) {
      await orNull(unlink(pathOf(key)));
    },
    async deletePrefix(prefix) {
      await rm(join(root, checkFolder(prefix)), { recursive: true, force: true });
      await partials.abortPrefix(prefix);
    },
    localPath: pathOf,
    async toLocalFile(key) {
      const path = pathOf(key);
      await stat(path);
      return path;
    },
    signedUrl: async () => null,
  };
}

async function writeSynced(
  path: string,
  write: (file: FileHandle) => Promise<void>,
  flags = 'wx',
): Promise<void> {
  const file = await open(path, flags);
  try {
    await write(file);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Every replacement is another inode, so the tag changes even within one tick of the file system's clock. */
function infoOf(key: string, { ino, size, mtimeMs }: Stats): BlobInfo {
  const etag = [ino, size, Math.round(mtimeMs)].map((value) => value.toString(36)).join('-');
  return { key, sizeBytes: size, etag };
}

function range(span: ByteSpan | undefined): { start?: number; end?: number } {
  return span === undefined ? {} : { start: span.start, end: span.end };
}

/** The files below `folder` whose key begins with `prefix`, in the order of their keys, as S3 lists them. */
async function* walk(root: string, folder: string, prefix: string): AsyncGenerator<BlobInfo> {
  const entries = await orNull(readdir(join(root, folder), { withFileTypes: true }));
  const keys = (entries ?? [])
    .filter(({ name }) => !name.startsWith('.'))
    .map((entry) => folder + entry.name + (entry.isDirectory() ? '/' : ''));
  for (const key of keys.sort()) {
    if (!key.startsWith(prefix) && !prefix.startsWith(key)) continue;
    if (key.endsWith('/')) {
      yield* walk(root, key, prefix);
      continue;
    }
    const found = await orNull(stat(join(root, key)));
    if (found !== null && key.startsWith(prefix)) yield infoOf(key, found);
  }
}
