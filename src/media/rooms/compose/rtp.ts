/** RTP packet (RFC 3550, section 5.1). */
export interface RtpPacket {
  payloadType: number;
  isMarked: boolean;
  /** 16 bits. */
  sequence: number;
  /** 32 bits. */
  timestamp: number;
  ssrc: number;
  /** Header extensions of the one-byte form (RFC 8285, section 4.2), by their IDs. */
  extensions: ReadonlyMap<number, Buffer> | null;
  payload: Buffer;
}

const FIXED_BYTES = 12;
const ONE_BYTE_PROFILE = 0xbede;
/** Ends a list of extensions (RFC 8285, section 4.2). */
const STOP_ID = 15;

/** @returns null for data that is not an RTP packet with a payload. */
export function parseRtp(data: Buffer): RtpPacket | null {
  if (data.length < FIXED_BYTES) return null;
  const [first, second] = [data.readUInt8(0), data.readUInt8(1)];
  if (first >> 6 !== 2) return null;
  let start = FIXED_BYTES + (first & 0x0f) * 4;
  let extensions: Map<number, Buffer> | null = null;
  if ((first & 0x10) !== 0) {
    if (data.length < start + 4) return null;
    const end = start + 4 + data.readUInt16BE(start + 2) * 4;
    if (end > data.length) return null;
    if (data.readUInt16BE(start) === ONE_BYTE_PROFILE)
      extensions = readExtensions(data.subarray(start + 4, end));
    start = end;
  }
  const padding = (first & 0x20) === 0 ? 0 : data.readUInt8(data.length - 1);
  const end = data.length - padding;
  if (start >= end) return null;
  return {
    payloadType: second & 0x7f,
    isMarked: (second & 0x80) !== 0,
    sequence: data.readUInt16BE(2),
    timestamp: data.readUInt32BE(4),
    ssrc: data.readUInt32BE(8),
    extensions,
    payload: data.subarray(start, end),
  };
}

function readExtensions(bytes: Buffer): Map<number, Buffer> {
  const found = new Map<number, Buffer>();
  for (let at = 0; at < bytes.length; ) {
    const head = bytes.readUInt8(at);
    const id = head >> 4;
    if (id === STOP_ID) break;
    const size = id === 0 ? 0 : (head & 0x0f) + 1;
    if (size > 0 && at + 1 + size <= bytes.length) found.set(id, bytes.subarray(at + 1, at + 1 + size));
    at += 1 + size;
  }
  return found;
}

/**
 * Returns the signed distance from `previous` to `next` for numbers that wrap after `bits` bits; negative
 * when `next` comes before.
 */
export function wrappedDistance(previous: number, next: number, bits: 16 | 32): number {
  const span = 2 ** bits;
  const distance = (((next - previous) % span) + span) % span;
  return distance >= span / 2 ? distance - span : distance;
}

/** Returns the primary part of a redundant packet (RFC 2198, section 3); null when it is truncated. */
export function primaryOfRed(payload: Buffer): Buffer | null {
  let [at, older] = [0, 0];
  while (at < payload.length && (payload.readUInt8(at) & 0x80) !== 0) {
    if (at + 4 > payload.length) return null;
    older += payload.readUInt16BE(at + 2) & 0x03ff;
    at += 4;
  }
  const start = at + 1 + older;
  return start < payload.length ? payload.subarray(start) : null;
}
