/** Range of a box's content: start, and end (exclusive). */
export interface Span {
  start: number;
  end: number;
}

export interface Box extends Span {
  type: string;
  /** Offset of the box's header. */
  head: number;
}

const HEADER_BYTES = 8;
const LARGE_HEADER_BYTES = 16;

/** Lists the boxes in a range (ISO/IEC 14496-12 4.2), up to the first invalid one. */
export function boxesIn(bytes: Buffer, { start, end }: Span = { start: 0, end: bytes.length }): Box[] {
  const boxes: Box[] = [];
  for (let at = start; at + HEADER_BYTES <= end; ) {
    const box = boxAt(bytes, at);
    if (box === null || box.end > end) break;
    boxes.push(box);
    at = box.end;
  }
  return boxes;
}

/** Returns the box whose header begins at the offset; it may end after the bytes. null when there is none. */
export function boxAt(bytes: Buffer, at: number): Box | null {
  if (at + HEADER_BYTES > bytes.length) return null;
  const short = bytes.readUInt32BE(at);
  const isLarge = short === 1 && at + LARGE_HEADER_BYTES <= bytes.length;
  const length = isLarge ? Number(bytes.readBigUInt64BE(at + HEADER_BYTES)) : short;
  const start = at + (isLarge ? LARGE_HEADER_BYTES : HEADER_BYTES);
  if (at + length < start) return null;
  const type = bytes.toString('latin1', at + 4, at + HEADER_BYTES);
  return { type, head: at, start, end: at + length };
}

/** The first box of each type inside the one before it. */
export function boxInside(bytes: Buffer, parent: Span, ...types: readonly string[]): Box | null {
  let found: Span = parent;
  let last: Box | null = null;
  for (const type of types) {
    last = boxesIn(bytes, found).find((child) => child.type === type) ?? null;
    if (last === null) return null;
    found = last;
  }
  return last;
}

/** Reads the ticks per second of `mvhd` or `mdhd`: version 1 has times of eight bytes. */
export function timescaleOf(bytes: Buffer, header: Box): number {
  return bytes.readUInt32BE(header.start + (bytes[header.start] === 1 ? 20 : 12));
}
