import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileReply, FileRequest } from '../contract/index.ts';
import type { OpenedFile } from '../nodes/live-source.ts';
import { openedFile } from '../nodes/opened-file.ts';
import { createLoadingCache } from './cache.ts';
import { parseRange } from './range.ts';
import { COMMON_HEADERS, matchesEtag, notFound } from './reply.ts';

export interface ServedFile {
  /** Path of the file, or its cache key. */
  path: string;
  /**
   * Opens it, when it is not local or an untrusted program may still write near it; default: opens the path.
   */
  open?: () => Promise<OpenedFile | null>;
  contentType: string;
  /** Called with the file's modification time before it is sent; false means 404. */
  mayShow?: (mtimeMs: number) => boolean | Promise<boolean>;
}

export interface FileReader {
  /** Opens a file whose name is permanently unique, so that its content never changes. */
  open(file: ServedFile, request: FileRequest): Promise<FileReply>;
}

export interface FileReaderOptions {
  /** Recent files kept in memory, in bytes; 0 streams everything from disk. */
  cacheBytes: number;
  /**
   * Maximum size of a cached file. Larger ones are streamed: one must not evict all others, nor slow readers
   * hold many in memory.
   */
  cachedFileBytes: number;
  /**
   * Seconds for which clients and shared caches reuse a file without revalidation, and so how long it
   * outlives its withdrawal.
   */
  maxAgeSec: number;
}

type Body = NonNullable<FileReply['body']>;

interface HeldFile {
  etag: string;
  mtimeMs: number;
  bytes: Buffer;
}

/** Serves files of this machine's disk, with ranges and validators. */
export function createFileReader(options: FileReaderOptions): FileReader {
  const { cacheBytes, cachedFileBytes, maxAgeSec } = options;
  const cache = createLoadingCache<HeldFile>(cacheBytes, ({ bytes }) => bytes.length);
  return {
    open: async (served, request) => {
      const { path, contentType, mayShow } = served;
      const held = cache.get(path);
      if (held && mayShow && !(await mayShow(held.mtimeMs))) return notFound();
      if (held) return heldReply(request, held, { contentType, maxAgeSec });
      const file = await (served.open ?? (() => openHere(path)))();
      if (file === null) return notFound();
      const { size, mtimeMs } = file;
      let isHandedOn = false;
      try {
        if (mayShow && !(await mayShow(mtimeMs))) return notFound();
        const etag = `"${size.toString(16)}-${Math.trunc(mtimeMs).toString(16)}"`;
        if (size > cachedFileBytes || cacheBytes === 0) {
          return await fileReply(request, { contentType, etag, size, maxAgeSec }, (start, end) => {
            isHandedOn = true;
            return file.send(start, end);
          });
        }
        const loaded = await cache.load(path, async () => {
          const bytes = await file.read();
          return bytes && { etag, mtimeMs, bytes };
        });
        return loaded ? heldReply(request, loaded, { contentType, maxAgeSec }) : notFound();
      } finally {
        if (!isHandedOn) await file.close();
      }
    },
  };
}

/**
 * Builds `cache-control`, never `immutable`: a changed file has another name, but a file may be withdrawn,
 * which revalidation detects.
 */
export function cacheFor(maxAgeSec: number, isPrivate: boolean | undefined): string {
  return `${isPrivate ? 'private' : 'public'}, max-age=${maxAgeSec}, must-revalidate`;
}

function heldReply(
  request: FileRequest,
  { etag, bytes }: HeldFile,
  rest: Pick<FileFacts, 'contentType' | 'maxAgeSec'>,
) {
  return fileReply(request, { ...rest, etag, size: bytes.length }, (start, end) =>
    bytes.subarray(start, end + 1),
  );
}

interface FileFacts {
  contentType: string;
  etag: string;
  size: number;
  maxAgeSec: number;
}

/**
 * Sends the whole file or the requested range (RFC 9110 13, 14).
 *
 * @param openBody called once, if bytes are sent at all; `end` is inclusive.
 */
export async function fileReply(
  request: FileRequest,
  { contentType, etag, size, maxAgeSec }: FileFacts,
  openBody: (start: number, end: number) => Body | Promise<Body>,
): Promise<FileReply> {
  const headers: Record<string, string> = {
    ...COMMON_HEADERS,
    'cache-control': cacheFor(maxAgeSec, request.isPrivate),
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
  headers['content-type'] = contentType;
  headers['content-length'] = String(end - start + 1);
  if (range) headers['content-range'] = `bytes ${start}-${end}/${size}`;
  const status = range ? 206 : 200;
  if (request.method === 'HEAD') return { status, headers, body: null };
  return { status, headers, body: size === 0 ? Buffer.alloc(0) : await openBody(start, end) };
}

/** Flags that follow no link, and do not block on a pipe. */
const HERE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

async function openHere(path: string): Promise<OpenedFile | null> {
  const file = await open(path, HERE).catch(() => null);
  return file === null ? null : openedFile(file);
}
