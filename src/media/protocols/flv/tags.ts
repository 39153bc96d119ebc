/** FLV as ffmpeg reads it (Adobe FLV 10.1, annex E). One write of one buffer serves every reader. */
export const FlvTagType = { audio: 8, video: 9, script: 18 } as const;

const TAG_HEADER_BYTES = 11;
const BACK_POINTER_BYTES = 4;

/**
 * Builds the file header. The flags must be exact: for a stream that is announced and missing, ffmpeg probes
 * until its limits.
 */
export function flvHeader(has: { audio: boolean; video: boolean }): Buffer {
  const flags = (has.audio ? 4 : 0) | (has.video ? 1 : 0);
  return Buffer.of(0x46, 0x4c, 0x56, 1, flags, 0, 0, 0, 9, 0, 0, 0, 0);
}

/** Bytes of a tag with everything around it. */
export const flvTagBytes = (payload: Buffer): number =>
  TAG_HEADER_BYTES + payload.length + BACK_POINTER_BYTES;

/** Builds a tag and the size that follows it; `timestamp` is in milliseconds and truncated to 32 bits. */
export function flvTag(type: number, timestamp: number, payload: Buffer): Buffer {
  const tag = Buffer.allocUnsafe(flvTagBytes(payload));
  writeFlvTag(tag, type, timestamp, payload);
  return tag;
}

/** Writes a tag into a buffer of `flvTagBytes(payload)` bytes. */
export function writeFlvTag(tag: Buffer, type: number, timestamp: number, payload: Buffer): void {
  const size = TAG_HEADER_BYTES + payload.length;
  tag[0] = type;
  tag.writeUIntBE(payload.length, 1, 3);
  tag.writeUIntBE(timestamp & 0xffffff, 4, 3);
  tag[7] = timestamp >>> 24;
  tag.fill(0, 8, TAG_HEADER_BYTES);
  payload.copy(tag, TAG_HEADER_BYTES);
  tag.writeUInt32BE(size, size);
}

/** Two tags with the same content, whatever their timestamps. */
export function samePayload(a: Buffer, b: Buffer): boolean {
  return a.subarray(TAG_HEADER_BYTES).equals(b.subarray(TAG_HEADER_BYTES));
}
