import { Readable } from 'node:stream';
import type { BlobStore, FileReply, FileRequest } from '../contract/index.ts';
import { cacheFor, fileReply } from './files.ts';
import { COMMON_HEADERS, notFound } from './reply.ts';

/** Seconds for which withdrawn content may stay in caches (docs/decisions/playback-and-tokens.md#caches). */
export const MAX_AGE_SEC = 300;
/** Seconds for which clients cache a redirect to the store. */
export const REDIRECT_SEC = 300;

/** To the store, which sends the file itself. */
export function redirect(location: string, { isPrivate }: FileRequest): FileReply {
  const cacheControl = `${isPrivate ? 'private' : 'public'}, max-age=${REDIRECT_SEC}`;
  const headers = { ...COMMON_HEADERS, location, 'cache-control': cacheControl, 'content-length': '0' };
  return { status: 302, headers, body: null };
}

/** To the server in front, which sends the file itself. @param location its internal address. */
export function accelRedirect(location: string, contentType: string, { isPrivate }: FileRequest): FileReply {
  const headers = {
    ...COMMON_HEADERS,
    'x-accel-redirect': location,
    'content-type': contentType,
    'cache-control': cacheFor(MAX_AGE_SEC, isPrivate),
  };
  return { status: 200, headers, body: null };
}

/** For a store that clients cannot reach: through this process, as little as that is wanted. */
export async function relay(
  store: BlobStore,
  key: string,
  contentType: string,
  request: FileRequest,
): Promise<FileReply> {
  const found = await store.head(key);
  if (found === null) return notFound();
  const { etag, sizeBytes } = found;
  const facts = { contentType, etag: `"${etag}"`, size: sizeBytes, maxAgeSec: MAX_AGE_SEC };
  return fileReply(request, facts, async (start, end) => {
    const blob = await store.open(key, { start, end });
    if (blob === null) throw new Error(`${key} was removed while it was sent`);
    return blob.body instanceof Readable ? blob.body : Readable.from(blob.body);
  });
}
