import {
  type FileReply,
  type LiveFiles,
  type LiveHistory,
  MediaNodeUnavailableError,
  type SegmentRequest,
  type VideoFiles,
} from '../contract/index.ts';
import { segmentOfPart } from '../live/playlist.ts';
import { isLivePlace, type LiveSource, type SegmentLocation } from '../nodes/live-source.ts';
import { createLoadingCache } from './cache.ts';
import { createFileReader, fileReply } from './files.ts';
import type { PlaylistReader } from './playlists.ts';
import { notFound } from './reply.ts';

export interface SegmentReaderOptions {
  source: LiveSource;
  /** Recent segments kept in memory, in bytes; 0 streams everything from disk. */
  cacheBytes?: number;
  /** Segments that have left the live window, and their reader; absent when there are none. */
  kept?: { history: LiveHistory; openFile: VideoFiles['openFile'] };
}

const CACHE_BYTES = 64 * 1024 * 1024;
const SEGMENT_TYPE = 'video/iso.segment';
const CACHED_FILE_BYTES = 8 * 1024 * 1024;
/** Longer than any player takes to request a segment, so that caches in front serve the audience. */
const MAX_AGE_SEC = 60;
/** The parts that players ask for now. */
const PARTS_BYTES = 32 * 1024 * 1024;

/** Serves the segments written by the packager. Their names are permanently unique, so they never change. */
export function createSegmentReader(
  options: SegmentReaderOptions,
  { isListed, findPart }: Pick<PlaylistReader, 'isListed' | 'findPart'>,
): Pick<LiveFiles, 'openSegment'> {
  const { source } = options;
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
  const parts = createLoadingCache<Buffer>(PARTS_BYTES, ({ length }) => length);
  const openPart = async (request: SegmentRequest, part: { file: string; index: number }) => {
    const { streamId, epoch, rung, sinceMs, untilMs, waitMs = 0 } = request;
    const place = { streamId, epoch, rung, file: part.file };
    const range = await findPart(place, part.index, { sinceMs, untilMs, waitMs });
    if (range === null) return notFound();
    const key = `${pathOf(place)}/${range.offset}`;
    const bytes = parts.get(key) ?? (await parts.load(key, () => source.part(place, range)));
    if (bytes === null) return notFound();
    const etag = `"${range.offset.toString(16)}-${range.bytes.toString(16)}"`;
    const facts = { contentType: SEGMENT_TYPE, etag, size: bytes.length, maxAgeSec: MAX_AGE_SEC };
    return fileReply(request, facts, (start, end) => bytes.subarray(start, end + 1));
  };
  const openWhole = (request: SegmentRequest) => {
    const { streamId, epoch, rung, file } = request;
    const place = { streamId, epoch, rung, file };
    const served = {
      path: pathOf(place),
      open: () => source.open(place),
      contentType: file.endsWith('.m4s') ? SEGMENT_TYPE : 'video/mp4',
      mayShow: (mtimeMs: number) => mayShow(request, mtimeMs),
    };
    return files.open(served, request);
  };
  return {
    openSegment: async (request) => {
      const part = segmentOfPart(request.file);
      if (!isLivePlace(part === null ? request : { ...request, file: part.file })) return notFound();
      if (part !== null) return openPart(request, part);
      if (!request.isKept) return openWhole(request);
      try {
        const reply = await openWhole(request);
        return reply.status === 404 ? await openStored(options, request) : reply;
      } catch (error) {
        if (!(error instanceof MediaNodeUnavailableError)) throw error;
        const kept = await openStored(options, request);
        if (kept.status === 404) throw error;
        return kept;
      }
    },
  };
}

function pathOf({ streamId, epoch, rung, file }: SegmentLocation): string {
  return `${streamId}/${epoch}/${rung}/${file}`;
}

async function openStored({ kept }: SegmentReaderOptions, request: SegmentRequest): Promise<FileReply> {
  const found = await kept?.history.keyOf(request);
  if (!kept || !found) return notFound();
  const { sinceMs = 0, untilMs = Number.POSITIVE_INFINITY } = request;
  const isWithin = found.endMs > sinceMs && found.startMs < untilMs;
  return isWithin ? kept.openFile({ ...request, key: found.key }) : notFound();
}
