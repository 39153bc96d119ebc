/** Annex A, table A-1 of H.264: macroblocks per frame and per second of each level. */
const LEVELS = [
  { level: '2.1', frame: 792, second: 19_800 },
  { level: '3.0', frame: 1620, second: 40_500 },
  { level: '3.1', frame: 3600, second: 108_000 },
  { level: '3.2', frame: 5120, second: 216_000 },
  { level: '4.0', frame: 8192, second: 245_760 },
  { level: '4.2', frame: 8704, second: 522_240 },
  { level: '5.0', frame: 22_080, second: 589_824 },
  { level: '5.1', frame: 36_864, second: 983_040 },
  { level: '5.2', frame: 36_864, second: 2_073_600 },
] as const;

/** Returns the lowest H.264 level for this resolution and frame rate; `5.2` when none fits. */
export function h264Level(width: number, height: number, fps: number): string {
  const frame = Math.ceil(width / 16) * Math.ceil(height / 16);
  const fits = LEVELS.find((entry) => frame <= entry.frame && frame * fps <= entry.second);
  return fits?.level ?? '5.2';
}

/** RFC 6381 string of what x264 writes: profile_idc, constraint flags (set1 for Main), level_idc. */
export function h264Codec(profile: 'main', level: string): string {
  const idc = Math.round(Number(level) * 10);
  const prefix = { main: '4d40' }[profile];
  return `avc1.${prefix}${idc.toString(16).padStart(2, '0')}`;
}

/**
 * Reads the `avc1.PPCCLL` string from an init segment: the three bytes after configurationVersion of the
 * AVCDecoderConfigurationRecord (ISO/IEC 14496-15 5.3.3). null when there is no avcC box.
 */
export function codecOfInitSegment(init: Uint8Array): string | null {
  const bytes = Buffer.from(init.buffer, init.byteOffset, init.byteLength);
  const at = bytes.indexOf('avcC', 0, 'latin1');
  if (at < 0 || at + 8 > bytes.length || bytes[at + 4] !== 1) return null;
  return `avc1.${bytes.subarray(at + 5, at + 8).toString('hex')}`;
}
