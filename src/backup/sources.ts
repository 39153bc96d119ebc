import { createReadStream, type Stats } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { BlobStore } from '../media/contract/index.ts';
import type { MediaFile } from './layout.ts';

/** A file as it is now. */
export interface Source extends Omit<MediaFile, 'sha256'> {
  /** @returns null when it has gone. */
  read(): Promise<NodeJS.ReadableStream | null>;
}

/** Everything that the platform stores lies below it (docs/decisions/storage-and-quota.md#keys). */
const STORED = 'w/';
/** Folders of open uploads and of the open recordings of the media processes. */
const FOLDERS = ['media/.partial', 'rec'];
const NODES = 'nodes';
const NODE_ID = 'node-id';
/** Paths in the data folder: open uploads, open recordings, and the node IDs of the media processes. */
const DATA_PATH =
  /^(media\/\.partial\/[\w~-][\w.~-]*|(nodes\/\d+\/)?(node-id|rec(\/[\w-][\w.-]*)*\/[\w~-][\w.~-]*))$/;

/** Reports whether a backup may contain a data-folder file with this path. */
export function isDataPath(path: string): boolean {
  return DATA_PATH.test(path);
}

/** All files of the platform, in no order that matters. */
export async function* sourcesOf(store: BlobStore, dataDir: string): AsyncGenerator<Source> {
  for await (const { key, sizeBytes, etag } of store.list(STORED)) {
    const read = async () => (await store.open(key))?.body ?? null;
    yield { place: 'STORE', key, sizeBytes, etag, read };
  }
  for (const folder of FOLDERS) yield* filesBelow(dataDir, folder);
  const nodeId = await dataFile(dataDir, NODE_ID);
  if (nodeId !== null) yield nodeId;
  for (const node of await readdir(join(dataDir, NODES)).catch(() => [])) {
    yield* filesBelow(dataDir, `${NODES}/${node}/rec`);
    const path = `${NODES}/${node}/${NODE_ID}`;
    const id = isDataPath(path) ? await dataFile(dataDir, path) : null;
    if (id !== null) yield id;
  }
}

async function* filesBelow(dataDir: string, folder: string): AsyncGenerator<Source> {
  const entries = await readdir(join(dataDir, folder), { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) yield* filesBelow(dataDir, path);
    else if (entry.isFile() && isDataPath(path)) {
      const found = await dataFile(dataDir, path);
      if (found !== null) yield found;
    }
  }
}

/** They grow while they are read: the backup has them as long as they were when they were found. */
async function dataFile(dataDir: string, key: string): Promise<Source | null> {
  const path = join(dataDir, key);
  const found: Stats | null = await stat(path).catch(() => null);
  if (found === null) return null;
  const { size: sizeBytes, mtimeMs, ino } = found;
  const etag = [ino, sizeBytes, Math.round(mtimeMs)].map((value) => value.toString(36)).join('-');
  const read = async () => {
    if (sizeBytes === 0) return Readable.from([]);
    const file = await open(path).catch(() => null);
    return file === null ? null : createReadStream('', { fd: file, end: sizeBytes - 1 });
  };
  return { place: 'DATA', key, sizeBytes, etag, read };
}
