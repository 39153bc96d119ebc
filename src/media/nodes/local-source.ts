import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../platform/logger.ts';
import { openOutput, UnsafeOutputError } from '../ffmpeg/output.ts';
import { UNFINISHED } from '../live/segment-writer.ts';
import { THUMBNAIL_FILE } from '../live/thumbnail.ts';
import { createFolderChanges } from './folder-changes.ts';
import type { CachedTextFile, LiveSource, SegmentLocation } from './live-source.ts';
import { openedFile } from './opened-file.ts';

export interface LocalSourceOptions {
  /** Streams live in `<liveDir>/<streamId>`. */
  liveDir: string;
  /** Logs rejected files; default: none. */
  log?: Logger | undefined;
}

/** The live streams of this machine's disk. */
export interface LocalSource extends LiveSource {
  /** Returns all texts of a stream, by name; concurrent callers share one read. */
  texts(streamId: string): Promise<ReadonlyMap<string, CachedTextFile>>;
}

const CACHE_FILES = 2000;
const TEXT_FILE = /^[a-z0-9_-]{1,128}\.m3u8$/;

export function createLocalSource({ liveDir, log }: LocalSourceOptions): LocalSource {
  const files = createTextFiles();
  const changes = createFolderChanges();
  const open = ({ streamId, epoch, rung, file }: SegmentLocation) =>
    openOutput(join(liveDir, streamId, epoch), `${rung}/${file}`).catch((error: unknown) => {
      if (error instanceof UnsafeOutputError) log?.error({ err: error }, 'a live segment is not a file');
      return null;
    });
  const text = (streamId: string, name: string) => files.read(join(liveDir, streamId, name));
  const looking = new Map<string, Promise<ReadonlyMap<string, CachedTextFile>>>();
  const look = async (streamId: string) => {
    const names = await readdir(join(liveDir, streamId)).catch(() => []);
    const found = new Map<string, CachedTextFile>();
    for (const name of names.filter((one) => TEXT_FILE.test(one))) {
      const one = await text(streamId, name);
      if (one !== null) found.set(name, one);
    }
    return found;
  };
  return {
    text,
    texts(streamId) {
      const running = looking.get(streamId) ?? look(streamId).finally(() => looking.delete(streamId));
      looking.set(streamId, running);
      return running;
    },
    next: (streamId) => changes.next(join(liveDir, streamId)),
    async part(place, { offset, bytes }) {
      const file = (await open({ ...place, file: place.file + UNFINISHED })) ?? (await open(place));
      if (file === null) return null;
      try {
        const buffer = Buffer.allocUnsafeSlow(bytes);
        const { bytesRead } = await file.read(buffer, 0, bytes, offset);
        return bytesRead === bytes ? buffer : null;
      } finally {
        await file.close();
      }
    },
    async open(place) {
      const file = await open(place);
      return file === null ? null : openedFile(file);
    },
    async picture(streamId) {
      const file = await openOutput(join(liveDir, streamId), THUMBNAIL_FILE).catch(() => null);
      if (file === null) return null;
      try {
        const { mtimeMs } = await file.stat();
        return { bytes: await file.readFile(), mtimeMs };
      } finally {
        await file.close();
      }
    },
  };
}

interface CacheEntry {
  version: string;
  value: CachedTextFile;
}

/** Caches the content of small files; concurrent callers share one `stat` that checks for changes. */
function createTextFiles(): { read(path: string): Promise<CachedTextFile | null> } {
  const held = new Map<string, CacheEntry>();
  const reading = new Map<string, Promise<CachedTextFile | null>>();
  const load = async (path: string): Promise<CachedTextFile | null> => {
    try {
      const { mtimeNs, size, ino } = await stat(path, { bigint: true });
      const version = `${mtimeNs}-${size}-${ino}`;
      const known = held.get(path);
      if (known?.version === version) return known.value;
      const value = { text: await readFile(path, 'utf8') };
      held.delete(path);
      held.set(path, { version, value });
      const oldest = held.keys().next();
      if (held.size > CACHE_FILES && !oldest.done) held.delete(oldest.value);
      return value;
    } catch (error) {
      held.delete(path);
      if (isMissing(error)) return null;
      throw error;
    } finally {
      reading.delete(path);
    }
  };
  return {
    read: (path) => {
      const running = reading.get(path) ?? load(path);
      reading.set(path, running);
      return running;
    },
  };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
