import { encodeAmf0 } from '../../src/media/protocols/rtmp/amf0.ts';

/** Configuration records as x264, x265 and ffmpeg's AAC encoder wrote them. */
export const AVC_360P30 = '0142c01effe100196742c01eda0280bfe5c044000003000400000300f23c58ba8001000468ce0fc8';
export const AVC_1080P60 = '0142c02affe100186742c02ada01e0089f970110000003001000000780f1832a01000468ce0fc8';
export const AAC_48K_STEREO = '119056e500';

/** An AVC sequence header as RTMP carries it. */
export const videoHeader = (record: string): Buffer => Buffer.from(`1700000000${record}`, 'hex');

/** An AAC sequence header. */
export const audioHeader = (config: string): Buffer => Buffer.from(`af00${config}`, 'hex');

/** Returns an AVC frame of `bytes` bytes in all; it cannot be decoded. */
export function videoFrame(keyframe: boolean, bytes = 100): Buffer {
  const frame = Buffer.alloc(Math.max(9, bytes));
  frame.set([keyframe ? 0x17 : 0x27, 1, 0, 0, 0]);
  frame.writeUInt32BE(frame.length - 9, 5);
  return frame;
}

export const audioFrame = (bytes = 50): Buffer => Buffer.concat([Buffer.of(0xaf, 1), Buffer.alloc(bytes)]);

export const metadata = (properties: Record<string, number>): Buffer =>
  encodeAmf0(['@setDataFrame', 'onMetaData', properties]);

export interface FlvTag {
  type: number;
  timestamp: number;
  payload: Buffer;
}

/** Reads an FLV file; a tag that is cut short at the end is left out. */
export function parseFlv(bytes: Buffer): { flags: number; tags: FlvTag[] } {
  if (bytes.toString('latin1', 0, 3) !== 'FLV') throw new Error('not FLV');
  const tags: FlvTag[] = [];
  for (let at = 13; at + 15 <= bytes.length; ) {
    const length = bytes.readUIntBE(at + 1, 3);
    const end = at + 11 + length;
    if (end + 4 > bytes.length) break;
    if (bytes.readUInt32BE(end) !== 11 + length) throw new Error('broken FLV back pointer');
    const timestamp = bytes.readUIntBE(at + 4, 3) + bytes.readUInt8(at + 7) * 2 ** 24;
    tags.push({ type: bytes.readUInt8(at), timestamp, payload: bytes.subarray(at + 11, end) });
    at = end + 4;
  }
  return { flags: bytes.readUInt8(4), tags };
}
