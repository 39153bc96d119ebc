import type { LiveFiles } from '../contract/index.ts';
import { isSafeName, type LiveSource } from '../nodes/live-source.ts';
import { fileReply } from './files.ts';
import { notFound } from './reply.ts';

/** It is replaced every 30 seconds. */
const MAX_AGE_SEC = 10;

/** Serves the latest thumbnail of a stream. */
export function createThumbnailReader(source: LiveSource): Pick<LiveFiles, 'openThumbnail'> {
  return {
    async openThumbnail(request) {
      const { streamId, sinceMs } = request;
      if (!isSafeName(streamId)) return notFound();
      const picture = await source.picture(streamId).catch(() => null);
      if (picture === null || (sinceMs !== undefined && picture.mtimeMs < sinceMs)) return notFound();
      const { bytes, mtimeMs } = picture;
      const etag = `"${bytes.length.toString(16)}-${Math.trunc(mtimeMs).toString(16)}"`;
      const facts = { contentType: 'image/jpeg', etag, size: bytes.length, maxAgeSec: MAX_AGE_SEC };
      return fileReply(request, facts, (start, end) => bytes.subarray(start, end + 1));
    },
  };
}
