/** A codec header that cannot be read; nothing else is thrown by the parsers of this folder. */
export class CodecError extends Error {
  override name = 'CodecError';
}

/** Reads a bit string from its most significant bit on; running over the end is a CodecError. */
export class BitReader {
  #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  bit(): number {
    const byte = this.#bytes[this.#at >> 3];
    if (byte === undefined) throw new CodecError('header cut short');
    const bit = (byte >> (7 - (this.#at & 7))) & 1;
    this.#at++;
    return bit;
  }

  flag(): boolean {
    return this.bit() === 1;
  }

  /** An unsigned number of up to 32 bits. */
  bits(count: number): number {
    let value = 0;
    for (let i = 0; i < count; i++) value = value * 2 + this.bit();
    return value;
  }

  skip(count: number): void {
    if (this.#at + count > this.#bytes.length * 8) throw new CodecError('header cut short');
    this.#at += count;
  }

  /** ue(v): unsigned Exp-Golomb (ITU-T H.264, 9.1). */
  ue(): number {
    let zeros = 0;
    while (this.bit() === 0) if (++zeros > 31) throw new CodecError('Exp-Golomb code too long');
    return 2 ** zeros - 1 + this.bits(zeros);
  }

  /** se(v): signed Exp-Golomb. */
  se(): number {
    const code = this.ue();
    return code % 2 === 1 ? (code + 1) / 2 : -code / 2;
  }
}

/** The raw byte sequence payload of a NAL unit: the emulation prevention bytes (00 00 03) are removed. */
export function removeEmulationPrevention(nal: Uint8Array): Uint8Array {
  const out = new Uint8Array(nal.length);
  let length = 0;
  let zeros = 0;
  for (const byte of nal) {
    if (zeros >= 2 && byte === 3) {
      zeros = 0;
      continue;
    }
    out[length++] = byte;
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return out.subarray(0, length);
}

/** Fields of a sequence header; 0 where absent. */
export interface VideoFormat {
  width: number;
  height: number;
  fps: number;
  /** Frames may be two fields of different times. */
  isInterlaced?: true;
  /** Color description of the header; absent without one. */
  color?: ColorCodes;
}

/** Numbers of ITU-T H.273. */
export interface ColorCodes {
  primaries: number;
  transfer: number;
  matrix: number;
}

const DIMENSION_MAX = 16384;

/** @throws CodecError when the size is not a valid frame size. */
export function checkedFormat(width: number, height: number, fps: number): VideoFormat {
  const valid = width > 0 && height > 0 && width <= DIMENSION_MAX && height <= DIMENSION_MAX;
  if (!valid) throw new CodecError('frame size out of range');
  return { width, height, fps: Number.isFinite(fps) && fps > 0 && fps <= 1000 ? fps : 0 };
}
