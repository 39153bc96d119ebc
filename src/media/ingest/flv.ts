/**
 * FLV as ffmpeg reads it over HTTP (Adobe FLV 10.1, annex E). What is made here is an HTTP chunk already
 * (RFC 9112, 7.1): one write of one buffer then serves every reader, and a clean end can be told from a
 * broken connection.
 */
export const FlvTagType = { audio: 8, video: 9, script: 18 } as const;

/** Eight hexadecimal digits and CRLF. */
const CHUNK_HEAD_BYTES = 10;
const CHUNK_TAIL = Buffer.from('\r\n');
const TAG_HEADER_BYTES = 11;
const BACK_POINTER_BYTES = 4;
const PAYLOAD_AT = CHUNK_HEAD_BYTES + TAG_HEADER_BYTES;

/**
 * The file header. The flags must be exact: for a stream that is announced and never comes, ffmpeg probes to
 * the end of its patience.
 */
export function flvHeader(has: { audio: boolean; video: boolean }): Buffer {
  const flags = (has.audio ? 4 : 0) | (has.video ? 1 : 0);
  const header = Buffer.of(0x46, 0x4c, 0x56, 1, flags, 0, 0, 0, 9, 0, 0, 0, 0);
  return Buffer.concat([Buffer.from(chunkHead(header.length)), header, CHUNK_TAIL]);
}

/** Bytes of a tag with everything around it. */
export const flvTagBytes = (payload: Buffer): number =>
  PAYLOAD_AT + payload.length + BACK_POINTER_BYTES + CHUNK_TAIL.length;

/** One tag with the size that follows it; `timestamp` in milliseconds, of which 32 bits are kept. */
export function flvTag(type: number, timestamp: number, payload: Buffer): Buffer {
  const tag = Buffer.allocUnsafe(flvTagBytes(payload));
  writeFlvTag(tag, type, timestamp, payload);
  return tag;
}

/** The same into a buffer of `flvTagBytes(payload)` bytes. */
export function writeFlvTag(tag: Buffer, type: number, timestamp: number, payload: Buffer): void {
  const size = TAG_HEADER_BYTES + payload.length;
  tag.write(chunkHead(size + BACK_POINTER_BYTES), 'latin1');
  tag[CHUNK_HEAD_BYTES] = type;
  tag.writeUIntBE(payload.length, CHUNK_HEAD_BYTES + 1, 3);
  tag.writeUIntBE(timestamp & 0xffffff, CHUNK_HEAD_BYTES + 4, 3);
  tag[CHUNK_HEAD_BYTES + 7] = timestamp >>> 24;
  tag.fill(0, CHUNK_HEAD_BYTES + 8, PAYLOAD_AT);
  payload.copy(tag, PAYLOAD_AT);
  tag.writeUInt32BE(size, PAYLOAD_AT + payload.length);
  CHUNK_TAIL.copy(tag, PAYLOAD_AT + payload.length + BACK_POINTER_BYTES);
}

/** Two tags with the same content, whatever their timestamps. */
export function samePayload(a: Buffer, b: Buffer): boolean {
  return a.subarray(PAYLOAD_AT).equals(b.subarray(PAYLOAD_AT));
}

const chunkHead = (bytes: number): string => `${bytes.toString(16).padStart(8, '0')}\r\n`;
