import { join } from 'node:path';
import type { Logger } from '../../platform/logger.ts';
import type { LiveFiles, SegmentRequest } from '../contract/index.ts';
import { openOutput, UnsafeOutput } from '../ffmpeg/output.ts';
import { createFileReader } from './files.ts';
import { isSafeName, notFound } from './reply.ts';

export interface SegmentReaderOptions {
  liveDir: string;
  /** Recent segments kept in memory, in bytes; 0 streams everything from disk. */
  cacheBytes?: number;
  /** Told of files that are refused; default: nobody. */
  log?: Logger;
}

/** Whether the rung's playlist shows a segment to viewers of a broadcast. */
export type IsListed = (
  segment: { streamId: string; epoch: string; rung: string; file: string },
  broadcast: { sinceMs: number | undefined; untilMs: number | undefined },
) => Promise<boolean>;

const CACHE_BYTES = 64 * 1024 * 1024;
const CACHED_FILE_BYTES = 8 * 1024 * 1024;
/** Longer than any player takes to come back for a segment, so that caches in front carry the audience. */
const MAX_AGE_SEC = 60;

/** Serves the segments that the packager wrote. Their names are unique for ever, so they never change. */
export function createSegmentReader(
  options: SegmentReaderOptions,
  isListed: IsListed,
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
  return {
    openSegment: async (request) => {
      if (!isSegmentName(request)) return notFound();
      const { streamId, epoch, rung, file } = request;
      const folder = join(options.liveDir, streamId, epoch);
      return files.open(
        {
          path: join(folder, rung, file),
          open: () => openSegment(folder, `${rung}/${file}`),
          contentType: file.endsWith('.m4s') ? 'video/iso.segment' : 'video/mp4',
          mayShow: (mtimeMs) => mayShow(request, mtimeMs),
        },
        request,
      );
    },
  };
}

function isSegmentName(request: SegmentRequest): boolean {
  const folders = [request.streamId, request.epoch, request.rung];
  return folders.every(isSafeName) && /^(?:s_\d{1,12}\.m4s|init\.mp4)$/.test(request.file);
}
