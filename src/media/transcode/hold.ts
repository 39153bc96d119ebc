import { boxInside, type Span } from '../protocols/fmp4/boxes.ts';

const TFHD_DURATION = 0x8;
const TFHD_FIELDS_BEFORE_DURATION: readonly [flag: number, bytes: number][] = [
  [0x1, 8],
  [0x2, 4],
];
const TRUN_FIRST_FLAGS = 0x4;
const TRUN_DURATION = 0x100;
/** Flags of the sample fields after the duration: size, flags and time offset. */
const TRUN_OTHERS = [0x200, 0x400, 0x800];
/** Size of version and flags, count, data offset. */
const TRUN_HEAD_BYTES = 12;

/**
 * Extends the last sample of a segment (ISO/IEC 14496-12 8.8.8); ffmpeg 5.1 writes a common duration for all
 * samples. The segment must be as ffmpeg writes it: an index (`sidx`) and one `moof` with one track.
 *
 * @returns null for any other segment.
 */
export function withLongerLast(segment: Buffer, moreSec: number): Buffer | null {
  const all: Span = { start: 0, end: segment.length };
  const sidx = boxInside(segment, all, 'sidx');
  const parents = [boxInside(segment, all, 'moof'), boxInside(segment, all, 'moof', 'traf')];
  const trun = boxInside(segment, all, 'moof', 'traf', 'trun');
  const tfhd = boxInside(segment, all, 'moof', 'traf', 'tfhd');
  if (sidx === null || trun === null || tfhd === null || parents.includes(null)) return null;
  const moreTicks = Math.round(moreSec * segment.readUInt32BE(sidx.start + 8));
  const flags = segment.readUIntBE(trun.start + 1, 3);
  const count = segment.readUInt32BE(trun.start + 4);
  const first = trun.start + TRUN_HEAD_BYTES + ((flags & TRUN_FIRST_FLAGS) === 0 ? 0 : 4);
  const defaultTicks = defaultDuration(segment, tfhd);
  const hasDurations = (flags & TRUN_DURATION) !== 0;
  if (count === 0 || (!hasDurations && defaultTicks === null)) return null;
  const others = TRUN_OTHERS.filter((flag) => (flags & flag) !== 0).length * 4;
  const samples = Array.from({ length: count }, (_, index) => {
    const at = first + index * (others + (hasDurations ? 4 : 0));
    const ticks = hasDurations ? segment.readUInt32BE(at) : (defaultTicks ?? 0);
    const duration = Buffer.alloc(4);
    duration.writeUInt32BE(ticks + (index === count - 1 ? moreTicks : 0));
    const rest = at + (hasDurations ? 4 : 0);
    return [duration, segment.subarray(rest, rest + others)];
  });
  const made = Buffer.concat([segment.subarray(0, first), ...samples.flat(), segment.subarray(trun.end)]);
  const addedBytes = made.length - segment.length;
  made.writeUIntBE(flags | TRUN_DURATION, trun.start + 1, 3);
  made.writeInt32BE(made.readInt32BE(trun.start + 8) + addedBytes, trun.start + 8);
  for (const box of [...parents, trun])
    if (box !== null) made.writeUInt32BE(box.end - box.head + addedBytes, box.head);
  // The single reference of the index: its size and its duration.
  const reference = sidx.start + (made[sidx.start] === 0 ? 24 : 32);
  made.writeUInt32BE(made.readUInt32BE(reference) + addedBytes, reference);
  made.writeUInt32BE(made.readUInt32BE(reference + 4) + moreTicks, reference + 4);
  return made;
}

function defaultDuration(segment: Buffer, tfhd: Span): number | null {
  const flags = segment.readUIntBE(tfhd.start + 1, 3);
  if ((flags & TFHD_DURATION) === 0) return null;
  const before = TFHD_FIELDS_BEFORE_DURATION.filter(([flag]) => (flags & flag) !== 0);
  return segment.readUInt32BE(tfhd.start + 8 + before.reduce((sum, [, bytes]) => sum + bytes, 0));
}
