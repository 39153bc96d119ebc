import { join } from 'node:path';
import type { Logger } from '../../platform/logger.ts';
import type { FileReply, LiveFiles, LiveHistory, SegmentRequest, VideoFiles } from '../contract/index.ts';
import { openOutput, UnsafeOutput } from '../ffmpeg/output.ts';
import { type PublicPart, segmentOfPart } from '../live/playlist.ts';
import { UNFINISHED } from '../live/segment-writer.ts';
import { createLoadingCache } from './cache.ts';
import { createFileReader, fileReply } from './files.ts';
import type { PlaylistReader } from './playlists.ts';
import { isSafeName, notFound } from './reply.ts';

export interface SegmentReaderOptions {
  liveDir: string;
  /** Recent segments kept in memory, in bytes; 0 streams everything from disk. */
  cacheBytes?: number;
  /** Told of files that are refused; default: nobody. */
  log?: Logger;
  /** What has left the live window, and how it is read; nothing when absent. */
  kept?: { history: LiveHistory; openFile: VideoFiles['openFile'] };
}

const CACHE_BYTES = 64 * 1024 * 1024;
const SEGMENT_TYPE = 'video/iso.segment';
const CACHED_FILE_BYTES = 8 * 1024 * 1024;
/** Longer than any player takes to come back for a segment, so that caches in front carry the audience. */
const MAX_AGE_SEC = 60;
/** The parts that players ask for now. */
const PARTS_BYTES = 32 * 1024 * 1024;

/** Serves the segments that the packager wrote. Their names are unique for ever, so they never change. */
export function createSegmentReader(
  options: SegmentReaderOptions,
  { isListed, findPart }: Pick<PlaylistReader, 'isListed' | 'findPart'>,
): Pick<LiveFiles, 'openSegment'> {
  const mayShow = async (request: SegmentRequest, mtimeMs: number): Promise<boolean> => {
    const { sinceMs, untilMs, file } = request;
    // Written when it was complete: it began before that.
    const isWithin =
      (sinceMs === undefined || mtimeMs > sinceMs) && (untilMs === undefined || mtimeMs <= untilMs);
    return isWithin || file === 'init.mp4' || isListed(request, { sinceMs, untilMs });
  };
  const files = createFileReader({
    cacheBytes: options.cacheBytes ?? CACHE_BYTES,
    cachedFileBytes: CACHED_FILE_BYTES,
    maxAgeSec: MAX_AGE_SEC,
  });
  const openSegment = (folder: string, name: string) =>
    openOutput(folder, name).catch((error: unknown) => {
      if (error instanceof UnsafeOutput) options.log?.error({ err: error }, 'a live segment is no file');
      throw error;
    });
  const parts = createLoadingCache<Buffer>(PARTS_BYTES, ({ length }) => length);
  const readPart = async (folder: string, name: string, { offset, bytes }: PublicPart) => {
    const file = await openSegment(folder, name + UNFINISHED).catch(() => openSegment(folder, name));
    try {
      const buffer = Buffer.allocUnsafeSlow(bytes);
      const { bytesRead } = await file.read(buffer, 0, bytes, offset);
      return bytesRead === bytes ? buffer : null;
    } finally {
      await file.close();
    }
  };
  const openPart = async (request: SegmentRequest, folder: string, part: { file: string; index: number }) => {
    const { rung, sinceMs, untilMs, waitMs = 0 } = request;
    const place = await findPart({ ...request, file: part.file }, part.index, { sinceMs, untilMs, waitMs });
    if (place === null) return notFound();
    const name = `${rung}/${part.file}`;
    const key = `${folder}/${name}/${place.offset}`;
    const load = () => readPart(folder, name, place).catch(() => null);
    const bytes = parts.get(key) ?? (await parts.load(key, load));
    if (bytes === null) return notFound();
    const etag = `"${place.offset.toString(16)}-${place.bytes.toString(16)}"`;
    const facts = { contentType: SEGMENT_TYPE, etag, size: bytes.length, maxAgeSec: MAX_AGE_SEC };
    return fileReply(request, facts, (start, end) => bytes.subarray(start, end + 1));
  };
  return {
    openSegment: async (request) => {
      if (!isSegmentName(request)) return notFound();
      const { streamId, epoch, rung, file } = request;
      const folder = join(options.liveDir, streamId, epoch);
      const part = segmentOfPart(file);
      if (part !== null) return openPart(request, folder, part);
      const reply = await files.open(
        {
          path: join(folder, rung, file),
          open: () => openSegment(folder, `${rung}/${file}`),
          contentType: file.endsWith('.m4s') ? SEGMENT_TYPE : 'video/mp4',
          mayShow: (mtimeMs) => mayShow(request, mtimeMs),
        },
        request,
      );
      return reply.status === 404 && request.isKept ? openKept(options, request) : reply;
    },
  };
}

async function openKept({ kept }: SegmentReaderOptions, request: SegmentRequest): Promise<FileReply> {
  const found = await kept?.history.keyOf(request);
  if (!kept || !found) return notFound();
  const { sinceMs = 0, untilMs = Number.POSITIVE_INFINITY } = request;
  const isWithin = found.endMs > sinceMs && found.startMs < untilMs;
  return isWithin ? kept.openFile({ ...request, key: found.key }) : notFound();
}

function isSegmentName(request: SegmentRequest): boolean {
  const folders = [request.streamId, request.epoch, request.rung];
  return folders.every(isSafeName) && /^(?:s_\d{1,12}(?:\.\d{1,6})?\.m4s|init\.mp4)$/.test(request.file);
}
