import type { Hdr10 } from '../contract/index.ts';
import { box, u16, u32 } from '../protocols/fmp4/box.ts';
import { boxesIn, boxInside, type Span } from '../protocols/fmp4/boxes.ts';

/** Path of the boxes that contain the entry of a track. */
const PATH = ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd'] as const;
/** Size of version, flags and entry count. */
const STSD_BYTES = 8;
/** Size of the fields of a VisualSampleEntry (ISO/IEC 14496-12 12.1.3). */
const ENTRY_BYTES = 78;

/**
 * Adds `mdcv` and `clli` (ISO/IEC 14496-12 12.1.6 and 12.1.7) to an initialization segment, for players that
 * set up the display before they decode. Existing boxes stay, and so does a segment that cannot be parsed.
 */
export function withHdr10Boxes(init: Buffer, { mastering, light }: Hdr10): Buffer {
  const parents = PATH.map((_, index) =>
    boxInside(init, { start: 0, end: init.length }, ...PATH.slice(0, index + 1)),
  );
  const stsd = parents.at(-1) ?? null;
  if (stsd === null) return init;
  const [entry] = boxesIn(init, { start: stsd.start + STSD_BYTES, end: stsd.end });
  if (entry === undefined) return init;
  const inside: Span = { start: entry.start + ENTRY_BYTES, end: entry.end };
  const there = boxesIn(init, inside).map(({ type }) => type);
  const added: Buffer[] = [];
  if (mastering !== null && !there.includes('mdcv')) {
    const { red, green, blue, white, max, min } = mastering;
    added.push(box('mdcv', u16(...green, ...blue, ...red, ...white), u32(max, min)));
  }
  if (light !== null && !there.includes('clli')) {
    added.push(box('clli', u16(light.maxContent, light.maxAverage)));
  }
  const more = Buffer.concat(added);
  const made = Buffer.concat([init.subarray(0, entry.end), more, init.subarray(entry.end)]);
  for (const parent of [...parents, entry]) {
    if (parent !== null) made.writeUInt32BE(parent.end - parent.head + more.length, parent.head);
  }
  return made;
}
