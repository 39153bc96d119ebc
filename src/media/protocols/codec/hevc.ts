import {
  BitReader,
  CodecError,
  checkedFormat,
  removeEmulationPrevention,
  type VideoFormat,
} from './bit-reader.ts';

const NAL_TYPE_SPS = 33;
const PROFILE_SPACES = ['', 'A', 'B', 'C'];

/**
 * Reads an HEVCDecoderConfigurationRecord (ISO/IEC 14496-15, 8.3.3.1); the codec string is that of its
 * annex E.3. The frame rate is left to be measured.
 * @throws CodecError
 */
export function parseHevcConfig(record: Buffer): VideoFormat & { codec: string } {
  if (record.length < 23) throw new CodecError('not an HEVC configuration');
  const sps = findSps(record);
  if (sps === null) throw new CodecError('no sequence parameter set');
  // general_progressive_source_flag and general_interlaced_source_flag.
  const isInterlaced = record.readUInt8(6) >> 6 === 1;
  return { codec: codecString(record), ...parseSps(sps), ...(isInterlaced ? { isInterlaced } : {}) };
}

function codecString(record: Buffer): string {
  const profile = record.readUInt8(1);
  const space = PROFILE_SPACES[profile >> 6] ?? '';
  const compatibility = reverseBits(record.readUInt32BE(2)).toString(16).toUpperCase();
  const tier = profile & 0x20 ? 'H' : 'L';
  const constraints = Array.from(record.subarray(6, 12));
  while (constraints.at(-1) === 0) constraints.pop();
  const head = `hvc1.${space}${profile & 0x1f}.${compatibility}.${tier}${record.readUInt8(12)}`;
  return [head, ...constraints.map(hexByte)].join('.');
}

const hexByte = (byte: number): string => byte.toString(16).padStart(2, '0').toUpperCase();

function reverseBits(value: number): number {
  let out = 0;
  for (let i = 0; i < 32; i++) out = out * 2 + ((value >>> i) & 1);
  return out;
}

function findSps(record: Buffer): Buffer | null {
  let at = 23;
  for (let arrays = record.readUInt8(22); arrays > 0 && at + 3 <= record.length; arrays--) {
    const type = record.readUInt8(at) & 0x3f;
    let count = record.readUInt16BE(at + 1);
    at += 3;
    for (; count > 0 && at + 2 <= record.length; count--) {
      const length = record.readUInt16BE(at);
      if (type === NAL_TYPE_SPS) return record.subarray(at + 2, at + 2 + length);
      at += 2 + length;
    }
  }
  return null;
}

/** Size after the conformance window (ITU-T H.265, 7.3.2.2). */
export function parseSps(nal: Uint8Array): VideoFormat {
  const reader = new BitReader(removeEmulationPrevention(nal.subarray(2)));
  reader.skip(4); // sps_video_parameter_set_id
  const subLayers = reader.bits(3);
  reader.skip(1);
  skipProfileTierLevel(reader, subLayers);
  reader.ue(); // sps_seq_parameter_set_id
  const chromaFormat = reader.ue();
  if (chromaFormat > 3) throw new CodecError('unknown chroma format');
  const separatePlanes = chromaFormat === 3 && reader.flag();
  const width = reader.ue();
  const height = reader.ue();
  const [left, right, top, bottom] = reader.flag()
    ? [reader.ue(), reader.ue(), reader.ue(), reader.ue()]
    : [0, 0, 0, 0];
  const unitX = !separatePlanes && (chromaFormat === 1 || chromaFormat === 2) ? 2 : 1;
  const unitY = !separatePlanes && chromaFormat === 1 ? 2 : 1;
  return checkedFormat(width - (left + right) * unitX, height - (top + bottom) * unitY, 0);
}

function skipProfileTierLevel(reader: BitReader, subLayers: number): void {
  reader.skip(88 + 8);
  const present: [boolean, boolean][] = [];
  for (let i = 0; i < subLayers; i++) present.push([reader.flag(), reader.flag()]);
  if (subLayers > 0) reader.skip(2 * (8 - subLayers));
  for (const [profile, level] of present) reader.skip((profile ? 88 : 0) + (level ? 8 : 0));
}
