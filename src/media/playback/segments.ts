import { createReadStream, type Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseRange } from './range.ts';
import {
  COMMON_HEADERS,
  isSafeName,
  matchesEtag,
  notFound,
  type PlaybackReply,
  type PlaybackRequest,
} from './reply.ts';

export interface SegmentRequest extends PlaybackRequest {
  streamId: string;
  epoch: string;
  rung: string;
  /** `init.mp4` or `s_<digits>.m4s`. */
  file: string;
  /**
   * Refuse what was finished before this (milliseconds since the Unix epoch) and is not in the playlist: file
   * names can be guessed from those that are, so hiding a segment there is not enough.
   */
  sinceMs?: number | undefined;
}

export interface SegmentReader {
  /** The caller has checked that the viewer may see the stream. */
  openSegment(request: SegmentRequest): Promise<PlaybackReply>;
}

export interface SegmentReaderOptions {
  liveDir: string;
  /** Recent segments kept in memory, in bytes; 0 streams everything from disk. */
  cacheBytes?: number;
}

/** Whether the rung's playlist shows a segment to viewers of a broadcast that began at `sinceMs`. */
export type ListedSince = (
  segment: { streamId: string; epoch: string; rung: string; file: string },
  sinceMs: number,
) => Promise<boolean>;

interface HeldFile {
  etag: string;
  mtimeMs: number;
  bytes: Buffer;
}

const CACHE_BYTES = 64 * 1024 * 1024;
/** A larger file is streamed, so that one stream cannot push all others out. */
const CACHED_FILE_BYTES = 8 * 1024 * 1024;
/** 2.5 times the throughput of the 64 kB default (`media.md` 7). */
const READ_CHUNK_BYTES = 512 * 1024;
const YEAR_SEC = 31_536_000;

/** Serves the segments that the packager wrote. Their names are unique for ever, so they never change. */
export function createSegmentReader(options: SegmentReaderOptions, listedSince: ListedSince): SegmentReader {
  const mayShow = async (request: SegmentRequest, mtimeMs: number): Promise<boolean> => {
    const { sinceMs, file } = request;
    if (sinceMs === undefined || mtimeMs > sinceMs || file === 'init.mp4') return true;
    return listedSince(request, sinceMs);
  };
  const cache = createCache(options.cacheBytes ?? CACHE_BYTES);
  return {
    openSegment: async (request) => {
      if (!isSegmentName(request)) return notFound();
      const path = join(options.liveDir, request.streamId, request.epoch, request.rung, request.file);
      const held = cache.get(path);
      if (held && !(await mayShow(request, held.mtimeMs))) return notFound();
      if (held) return fileReply(request, held.etag, held.bytes.length, held.bytes);
      const found = await statFile(path);
      if (!found || !(await mayShow(request, found.mtimeMs))) return notFound();
      const etag = `"${found.size.toString(16)}-${Math.trunc(found.mtimeMs).toString(16)}"`;
      if (found.size > CACHED_FILE_BYTES || options.cacheBytes === 0) {
        return fileReply(request, etag, found.size, path);
      }
      const bytes = await cache.load(path, etag, found.mtimeMs);
      return bytes ? fileReply(request, etag, bytes.length, bytes) : notFound();
    },
  };
}

function isSegmentName(request: SegmentRequest): boolean {
  const folders = [request.streamId, request.epoch, request.rung];
  return folders.every(isSafeName) && /^(?:s_\d{1,12}\.m4s|init\.mp4)$/.test(request.file);
}

function fileReply(
  request: SegmentRequest,
  etag: string,
  size: number,
  source: Buffer | string,
): PlaybackReply {
  const headers: Record<string, string> = {
    ...COMMON_HEADERS,
    'cache-control': `${request.isPrivate ? 'private' : 'public'}, max-age=${YEAR_SEC}, immutable`,
    'accept-ranges': 'bytes',
    etag,
  };
  if (matchesEtag(request.ifNoneMatch, etag)) return { status: 304, headers, body: null };
  // A range is for the version that the client holds a part of; of another one it needs everything.
  const wanted = request.ifRange === undefined || request.ifRange === etag ? request.range : undefined;
  const range = parseRange(wanted, size);
  if (range === 'unsatisfiable') {
    headers['content-range'] = `bytes */${size}`;
    headers['cache-control'] = 'no-store';
    headers['content-length'] = '0';
    return { status: 416, headers, body: null };
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  headers['content-type'] = request.file.endsWith('.m4s') ? 'video/iso.segment' : 'video/mp4';
  headers['content-length'] = String(end - start + 1);
  if (range) headers['content-range'] = `bytes ${start}-${end}/${size}`;
  const body = request.method === 'HEAD' ? null : openBody(source, start, end);
  return { status: range ? 206 : 200, headers, body };
}

function openBody(source: Buffer | string, start: number, end: number): PlaybackReply['body'] {
  if (typeof source !== 'string') return source.subarray(start, end + 1);
  if (end < start) return Buffer.alloc(0);
  return createReadStream(source, { start, end, highWaterMark: READ_CHUNK_BYTES });
}

async function statFile(path: string): Promise<Stats | null> {
  try {
    const found = await stat(path);
    return found.isFile() ? found : null;
  } catch {
    return null;
  }
}

/** Least recently used files by bytes. Many viewers ask for a new segment at once: it is read once. */
function createCache(limitBytes: number): {
  get(path: string): HeldFile | undefined;
  load(path: string, etag: string, mtimeMs: number): Promise<Buffer | null>;
} {
  const held = new Map<string, HeldFile>();
  const loading = new Map<string, Promise<Buffer | null>>();
  let total = 0;

  const keep = (path: string, file: HeldFile): void => {
    held.set(path, file);
    total += file.bytes.length;
    for (const [oldest, { bytes }] of held) {
      if (total <= limitBytes) break;
      held.delete(oldest);
      total -= bytes.length;
    }
  };

  const read = async (path: string, etag: string, mtimeMs: number): Promise<Buffer | null> => {
    try {
      const bytes = await readFile(path);
      keep(path, { etag, mtimeMs, bytes });
      return bytes;
    } catch {
      return null;
    } finally {
      loading.delete(path);
    }
  };

  return {
    get: (path) => {
      const file = held.get(path);
      if (!file) return undefined;
      held.delete(path);
      held.set(path, file);
      return file;
    },
    load: (path, etag, mtimeMs) => {
      const running = loading.get(path) ?? read(path, etag, mtimeMs);
      loading.set(path, running);
      return running;
    },
  };
}
