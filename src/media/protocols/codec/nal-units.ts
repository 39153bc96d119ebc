import { BitReader, CodecError, type VideoFormat } from './bit-reader.ts';
import { parseSps as parseAvcSps } from './h264.ts';
import { parseSps as parseHevcSps } from './hevc.ts';

interface NalCodec {
  type(firstByte: number): number;
  sps: number;
  /**
   * Reports whether decoding can start at a unit of this type; for HEVC this includes clean and broken random
   * access.
   */
  isAccessPoint(type: number): boolean;
  isOtherPicture(type: number): boolean;
  /** Reports whether a slice of another frame has no references. */
  isIntraSlice(nal: Uint8Array): boolean;
  parseSps(nal: Uint8Array): VideoFormat;
}

const AVC: NalCodec = {
  type: (byte) => byte & 0x1f,
  sps: 7,
  isAccessPoint: (type) => type === 5,
  isOtherPicture: (type) => type === 1,
  isIntraSlice: isIntraAvcSlice,
  parseSps: parseAvcSps,
};
const HEVC: NalCodec = {
  type: (byte) => (byte >> 1) & 0x3f,
  sps: 33,
  isAccessPoint: (type) => type >= 16 && type <= 23,
  isOtherPicture: (type) => type < 10,
  // The first frames of an open GOP are access points here (CRA).
  isIntraSlice: () => false,
  parseSps: parseHevcSps,
};

/** Information from the NAL units of one frame; null for codecs without them. */
export interface FrameInfo {
  hasAccessPoint: boolean;
  hasOtherPicture: boolean;
  /** A slice of such a frame has no references, as at the start of an open GOP. */
  hasIntraSlice: boolean;
  /** Largest size of the readable parameter sets in the frame. */
  picture: { width: number; height: number } | null;
}

/**
 * Returns the length size of a header's configuration record (ISO/IEC 14496-15, 5.3.3.1 and 8.3.3.1); four
 * without one.
 */
export function lengthBytesOf({ codec, config }: { codec: string; config: Buffer }): number {
  const byte = codec === 'avc1' ? config[4] : config[21];
  return byte === undefined ? LENGTH_BYTES : (byte & 3) + 1;
}

/** Units read of a frame: a frame has few, and one made of many tiny ones is not read to its end. */
const UNITS_MAX = 512;
/** Bytes of a parameter set that are parsed: the longest one a decoder reads is below 5 kB. */
const SET_MAX_BYTES = 8192;
const LENGTH_BYTES = 4;
/** Holds the two first fields of a slice header, which have at most 65 bits. */
const SLICE_HEAD_BYTES = 16;

/**
 * Reads the units of a frame, each preceded by its length (ISO/IEC 14496-15, 5.3.4.2).
 *
 * @param lengthBytes of each length; encoders write four.
 */
export function readFrame(codec: string, frame: Buffer, lengthBytes = LENGTH_BYTES): FrameInfo | null {
  const kind = codec.startsWith('avc') ? AVC : /^h(vc|ev)1/.test(codec) ? HEVC : null;
  if (kind === null) return null;
  const facts: FrameInfo = {
    hasAccessPoint: false,
    hasOtherPicture: false,
    hasIntraSlice: false,
    picture: null,
  };
  let at = 0;
  for (let units = 0; units < UNITS_MAX && at + lengthBytes < frame.length; units += 1) {
    const length = frame.readUIntBE(at, lengthBytes);
    at += lengthBytes;
    const type = kind.type(frame.readUInt8(at));
    if (kind.isAccessPoint(type)) facts.hasAccessPoint = true;
    if (kind.isOtherPicture(type) && at + length <= frame.length) {
      facts.hasOtherPicture = true;
      facts.hasIntraSlice ||= kind.isIntraSlice(frame.subarray(at, at + Math.min(length, SLICE_HEAD_BYTES)));
    }
    if (type === kind.sps) {
      facts.picture = larger(facts.picture, frame.subarray(at, at + Math.min(length, SET_MAX_BYTES)), kind);
    }
    at += length;
  }
  return facts;
}

/** Reads `slice_type` (ITU-T H.264, 7.4.3). */
function isIntraAvcSlice(nal: Uint8Array): boolean {
  try {
    const reader = new BitReader(nal.subarray(1));
    reader.ue(); // first_mb_in_slice
    const type = reader.ue();
    return type === 2 || type === 7;
  } catch (error) {
    if (error instanceof CodecError) return false;
    throw error;
  }
}

function larger(known: FrameInfo['picture'], nal: Buffer, kind: NalCodec): FrameInfo['picture'] {
  try {
    const { width, height } = kind.parseSps(nal);
    return known !== null && known.width * known.height >= width * height ? known : { width, height };
  } catch (error) {
    if (error instanceof CodecError) return known;
    throw error;
  }
}
