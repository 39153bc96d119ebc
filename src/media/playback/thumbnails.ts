import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LiveFiles } from '../contract/index.ts';
import { THUMBNAIL_FILE } from '../live/thumbnail.ts';
import { fileReply } from './files.ts';
import { isSafeName, notFound } from './reply.ts';

/** It is replaced every 30 seconds. */
const MAX_AGE_SEC = 10;

/** Serves the latest picture of a stream. */
export function createThumbnailReader(liveDir: string): Pick<LiveFiles, 'openThumbnail'> {
  return {
    async openThumbnail(request) {
      const { streamId, sinceMs } = request;
      if (!isSafeName(streamId)) return notFound();
      const path = join(liveDir, streamId, THUMBNAIL_FILE);
      const found = await stat(path).catch(() => null);
      if (found === null || (sinceMs !== undefined && found.mtimeMs < sinceMs)) return notFound();
      const bytes = await readFile(path).catch(() => null);
      if (bytes === null) return notFound();
      const etag = `"${bytes.length.toString(16)}-${Math.trunc(found.mtimeMs).toString(16)}"`;
      const facts = { contentType: 'image/jpeg', etag, size: bytes.length, maxAgeSec: MAX_AGE_SEC };
      return fileReply(request, facts, (start, end) => bytes.subarray(start, end + 1));
    },
  };
}
