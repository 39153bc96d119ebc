/** Part of a VP8 frame in one RTP packet (RFC 7741, section 4.2). */
export interface Vp8Part {
  /** The frame begins in this packet. */
  isStart: boolean;
  data: Buffer;
}

export interface Vp8Size {
  width: number;
  height: number;
}

const KEY_HEAD_BYTES = 10;
const START_CODE = 0x9d012a;
const SIZE_MASK = 0x3fff;

/** @returns null for data that is not VP8. */
export function parseVp8Payload(payload: Buffer): Vp8Part | null {
  const first = payload.readUInt8(0);
  let at = 1;
  if ((first & 0x80) !== 0) {
    if (at >= payload.length) return null;
    const flags = payload.readUInt8(at);
    at += 1;
    if ((flags & 0x80) !== 0) {
      if (at >= payload.length) return null;
      // The first bit marks a PictureID of two bytes.
      at += (payload.readUInt8(at) & 0x80) === 0 ? 1 : 2;
    }
    if ((flags & 0x40) !== 0) at += 1;
    if ((flags & 0x30) !== 0) at += 1;
  }
  if (at >= payload.length) return null;
  return { isStart: (first & 0x10) !== 0 && (first & 0x07) === 0, data: payload.subarray(at) };
}

/** Returns the resolution of a key frame (RFC 6386, section 9.1); null for any other frame. */
export function keyFrameSize(frame: Buffer): Vp8Size | null {
  if (frame.length < KEY_HEAD_BYTES || (frame.readUInt8(0) & 1) !== 0) return null;
  if (frame.readUIntBE(3, 3) !== START_CODE) return null;
  const [width, height] = [frame.readUInt16LE(6) & SIZE_MASK, frame.readUInt16LE(8) & SIZE_MASK];
  return width > 0 && height > 0 ? { width, height } : null;
}

export function isKeyFrame(frame: Buffer): boolean {
  return keyFrameSize(frame) !== null;
}
