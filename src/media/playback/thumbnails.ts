import { join } from 'node:path';
import type { LiveFiles } from '../contract/index.ts';
import { openOutput } from '../ffmpeg/output.ts';
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
      const picture = await read(join(liveDir, streamId)).catch(() => null);
      if (picture === null || (sinceMs !== undefined && picture.mtimeMs < sinceMs)) return notFound();
      const { bytes, mtimeMs } = picture;
      const etag = `"${bytes.length.toString(16)}-${Math.trunc(mtimeMs).toString(16)}"`;
      const facts = { contentType: 'image/jpeg', etag, size: bytes.length, maxAgeSec: MAX_AGE_SEC };
      return fileReply(request, facts, (start, end) => bytes.subarray(start, end + 1));
    },
  };
}

async function read(folder: string): Promise<{ bytes: Buffer; mtimeMs: number }> {
  const file = await openOutput(folder, THUMBNAIL_FILE);
  try {
    const { mtimeMs } = await file.stat();
    return { bytes: await file.readFile(), mtimeMs };
  } finally {
    await file.close();
  }
}
