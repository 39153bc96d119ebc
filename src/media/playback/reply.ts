import { createHash } from 'node:crypto';
import type { FileReply, FileRequest } from '../contract/index.ts';

export const PLAYLIST_TYPE = 'application/vnd.apple.mpegurl';

/** Headers of every response, errors too. */
export const COMMON_HEADERS: Readonly<Record<string, string>> = { 'x-content-type-options': 'nosniff' };

/** Returns a 404 with `no-store`, so that a start, a new segment or a stop is visible immediately. */
export function notFound(): FileReply {
  const headers = { ...COMMON_HEADERS, 'cache-control': 'no-store', 'content-length': '0' };
  return { status: 404, headers, body: null };
}

/** Builds a response of a small generated text, such as a playlist. A hash of its bytes is its `ETag`. */
export function textReply(
  request: FileRequest,
  text: string,
  { type, cacheControl }: { type: string; cacheControl: string },
): FileReply {
  const headers: Record<string, string> = { ...COMMON_HEADERS, 'cache-control': cacheControl };
  if (cacheControl !== 'no-store') {
    headers.etag = `"${createHash('sha1').update(text).digest('base64url')}"`;
    if (matchesEtag(request.ifNoneMatch, headers.etag)) return { status: 304, headers, body: null };
  }
  headers['content-type'] = type;
  headers['content-length'] = String(Buffer.byteLength(text));
  return { status: 200, headers, body: request.method === 'HEAD' ? null : text };
}

/** RFC 9110 13.1.2: a list of tags or `*`; weak tags match here. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
