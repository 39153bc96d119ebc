import { type Box, boxesIn, boxInside, timescaleOf } from '../protocols/fmp4/boxes.ts';

/**
 * Rebases the media times of segments (`tfdt`, ISO/IEC 14496-12 8.8.12) to 0 at the first of them: programs
 * that join files take the end time of a file for its duration.
 *
 * @returns a function that rebases a segment; segments are passed in order, and modified.
 */
export function createRebase(init: Buffer): (segment: Buffer) => Buffer {
  const timescales = timescalesOf(init);
  let baseSec: number | null = null;
  return (segment) => {
    const times = timesIn(segment);
    const secondsOf = ({ track, ticks }: Time) => ticks / (timescales.get(track) ?? 1);
    baseSec ??= Math.min(...times.map(secondsOf));
    for (const { track, ticks, at, isLarge } of times) {
      const moved = Math.max(0, ticks - Math.round(baseSec * (timescales.get(track) ?? 1)));
      if (isLarge) segment.writeBigUInt64BE(BigInt(moved), at);
      else segment.writeUInt32BE(moved, at);
    }
    // A segment index contains times of its own.
    const media = boxesIn(segment).filter(({ type }) => type === 'moof' || type === 'mdat');
    return Buffer.concat(media.map((box) => segment.subarray(box.head, box.end)));
  };
}

function timescalesOf(init: Buffer): Map<number, number> {
  const found = new Map<number, number>();
  const moov = boxesIn(init).find(({ type }) => type === 'moov');
  for (const trak of moov === undefined ? [] : boxesIn(init, moov)) {
    if (trak.type !== 'trak') continue;
    const [tkhd, mdhd] = [boxInside(init, trak, 'tkhd'), boxInside(init, trak, 'mdia', 'mdhd')];
    if (tkhd !== null && mdhd !== null) found.set(trackOf(init, tkhd), timescaleOf(init, mdhd));
  }
  return found;
}

/** Where its number stands in `tkhd`: as that of the ticks does in the other headers. */
function trackOf(init: Buffer, tkhd: Box): number {
  return timescaleOf(init, tkhd);
}

interface Time {
  track: number;
  ticks: number;
  /** Offset in the segment. */
  at: number;
  isLarge: boolean;
}

function timesIn(segment: Buffer): Time[] {
  const times: Time[] = [];
  for (const moof of boxesIn(segment)) {
    if (moof.type !== 'moof') continue;
    for (const traf of boxesIn(segment, moof)) {
      if (traf.type !== 'traf') continue;
      const [tfhd, tfdt] = [boxInside(segment, traf, 'tfhd'), boxInside(segment, traf, 'tfdt')];
      if (tfhd === null || tfdt === null) continue;
      const isLarge = segment[tfdt.start] === 1;
      const at = tfdt.start + 4;
      const ticks = isLarge ? Number(segment.readBigUInt64BE(at)) : segment.readUInt32BE(at);
      times.push({ track: segment.readUInt32BE(tfhd.start + 4), ticks, at, isLarge });
    }
  }
  return times;
}
