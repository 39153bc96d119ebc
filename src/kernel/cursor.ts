import { createHmac, timingSafeEqual } from 'node:crypto';
import { memoize } from './cache.ts';

/**
 * Opaque list positions (docs/concepts/conventions.md#lists): the id of the last row and a fingerprint of the list
 * it belongs to, sealed with an HMAC, so that a cursor of another list, account or filter is refused.
 */
export interface CursorCodec {
  encode(id: string, list: string): string;
  /** @returns the id, or null when the cursor is not one of ours for this list. */
  decode(cursor: string, list: string): string | null;
}

const TAG_BYTES = 12;
/** Cached tags of recent cursors: the cursor of a page returns with the next request. */
const TAGS = 5000;

export function createCursorCodec(key: Uint8Array): CursorCodec {
  // Cached as text: a small buffer would retain the whole pool that it is allocated from.
  const tagOf = memoize(TAGS, (text) => createHmac('sha256', key).update(text).digest('base64url'));
  const tag = (id: string, list: string) =>
    Buffer.from(tagOf(`${list}\n${id}`), 'base64url').subarray(0, TAG_BYTES);
  return {
    encode: (id, list) => Buffer.concat([tag(id, list), Buffer.from(id)]).toString('base64url'),
    decode(cursor, list) {
      const bytes = Buffer.from(cursor, 'base64url');
      if (bytes.length <= TAG_BYTES || bytes.length > 256) return null;
      // Several texts decode to the same bytes; one of them is ours.
      if (bytes.toString('base64url') !== cursor) return null;
      const id = bytes.subarray(TAG_BYTES).toString();
      return timingSafeEqual(bytes.subarray(0, TAG_BYTES), tag(id, list)) ? id : null;
    },
  };
}
