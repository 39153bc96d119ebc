import {
  BitReader,
  CodecError,
  type ColorCodes,
  checkedFormat,
  removeEmulationPrevention,
  type VideoFormat,
} from './bit-reader.ts';

/** Profiles whose SPS contains the chroma format (ITU-T H.264, 7.3.2.1.1). */
const HIGH_PROFILES = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]);
const EXTENDED_SAR = 255;

/**
 * Reads an AVCDecoderConfigurationRecord (ISO/IEC 14496-15, 5.3.3.1), the payload of an AVC sequence header.
 * @throws CodecError
 */
export function parseAvcConfig(record: Buffer): VideoFormat & { codec: string } {
  if (record.length < 8 || record[0] !== 1) throw new CodecError('not an AVC configuration');
  const codec = `avc1.${record.toString('hex', 1, 4)}`;
  const spsCount = record.readUInt8(5) & 0x1f;
  const spsLength = record.readUInt16BE(6);
  const sps = record.subarray(8, 8 + spsLength);
  if (spsCount < 1 || sps.length < spsLength) throw new CodecError('no sequence parameter set');
  return { codec, ...parseSps(sps) };
}

/** Parses the frame size after cropping, and the frame rate when the VUI has one. @throws CodecError */
export function parseSps(nal: Uint8Array): VideoFormat {
  const reader = new BitReader(removeEmulationPrevention(nal.subarray(1)));
  const profile = reader.bits(8);
  reader.skip(16); // constraint flags, level
  reader.ue(); // seq_parameter_set_id
  const chromaFormat = HIGH_PROFILES.has(profile) ? readChroma(reader) : 1;
  reader.ue(); // log2_max_frame_num_minus4
  skipPictureOrderCount(reader);
  reader.ue(); // max_num_ref_frames
  reader.skip(1); // gaps_in_frame_num_value_allowed_flag
  const codedWidth = (reader.ue() + 1) * 16;
  const mapUnits = reader.ue() + 1;
  const framesOnly = reader.flag();
  const codedHeight = mapUnits * 16 * (framesOnly ? 1 : 2);
  if (!framesOnly) reader.skip(1); // mb_adaptive_frame_field_flag
  reader.skip(1); // direct_8x8_inference_flag
  const [left, right, top, bottom] = reader.flag()
    ? [reader.ue(), reader.ue(), reader.ue(), reader.ue()]
    : [0, 0, 0, 0];
  const unitX = chromaFormat === 1 || chromaFormat === 2 ? 2 : 1;
  const unitY = (chromaFormat === 1 ? 2 : 1) * (framesOnly ? 1 : 2);
  const { fps, color } = reader.flag() ? readVui(reader) : { fps: 0 };
  return {
    ...checkedFormat(codedWidth - (left + right) * unitX, codedHeight - (top + bottom) * unitY, fps),
    ...(framesOnly ? {} : { isInterlaced: true }),
    ...(color === undefined ? {} : { color }),
  };
}

/**
 * Reads chroma_format_idc; returns 0 also for separate color planes, whose crop units equal those of
 * monochrome.
 */
function readChroma(reader: BitReader): number {
  const format = reader.ue();
  if (format > 3) throw new CodecError('unknown chroma format');
  const separatePlanes = format === 3 && reader.flag();
  reader.ue(); // bit_depth_luma_minus8
  reader.ue(); // bit_depth_chroma_minus8
  reader.skip(1); // qpprime_y_zero_transform_bypass_flag
  if (reader.flag()) {
    for (let list = 0; list < (format === 3 ? 12 : 8); list++) {
      if (reader.flag()) skipScalingList(reader, list < 6 ? 16 : 64);
    }
  }
  return separatePlanes ? 0 : format;
}

function skipScalingList(reader: BitReader, size: number): void {
  let last = 8;
  let next = 8;
  for (let i = 0; i < size && next !== 0; i++) {
    next = (last + reader.se() + 256) % 256;
    if (next !== 0) last = next;
  }
}

function skipPictureOrderCount(reader: BitReader): void {
  const type = reader.ue();
  if (type === 0) reader.ue();
  if (type !== 1) return;
  reader.skip(1);
  reader.se();
  reader.se();
  const cycle = reader.ue();
  if (cycle > 255) throw new CodecError('picture order count cycle too long');
  for (let i = 0; i < cycle; i++) reader.se();
}

/** Reads colors and frames per second of the VUI (Annex E); 0 when it has no timing. A tick is a field. */
function readVui(reader: BitReader): { fps: number; color?: ColorCodes } {
  if (reader.flag() && reader.bits(8) === EXTENDED_SAR) reader.skip(32);
  if (reader.flag()) reader.skip(1); // overscan
  let color: { color?: ColorCodes } = {};
  if (reader.flag()) {
    reader.skip(4); // video_format, video_full_range_flag
    if (reader.flag()) {
      color = { color: { primaries: reader.bits(8), transfer: reader.bits(8), matrix: reader.bits(8) } };
    }
  }
  if (reader.flag()) {
    reader.ue(); // chroma_sample_loc_type_top_field
    reader.ue();
  }
  if (!reader.flag()) return { ...color, fps: 0 };
  const unitsInTick = reader.bits(32);
  const timeScale = reader.bits(32);
  return { ...color, fps: unitsInTick === 0 ? 0 : timeScale / unitsInTick / 2 };
}
