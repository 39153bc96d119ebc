/** A box (ISO/IEC 14496-12 4.2) of a file, with and without its head. */
interface ParsedBox {
  type: string;
  bytes: Buffer;
  content: Buffer;
}

const HEAD_BYTES = 8;
const LONG_HEAD_BYTES = 16;

/** Parses the consecutive boxes of a buffer, up to the first invalid one. */
export function boxesOf(buffer: Buffer): ParsedBox[] {
  const found: ParsedBox[] = [];
  for (let at = 0; at + HEAD_BYTES <= buffer.length; ) {
    const size = buffer.readUInt32BE(at);
    if (size < HEAD_BYTES || at + size > buffer.length) break;
    const bytes = buffer.subarray(at, at + size);
    found.push({ type: typeOf(bytes), bytes, content: bytes.subarray(HEAD_BYTES) });
    at += size;
  }
  return found;
}

/** Numbers of a fragment in the file it is joined into. */
export interface Place {
  trackId: number;
  /** Sequence number among the fragments of the whole file, from 1. */
  sequence?: number;
}

const PARENTS = ['moov', 'trak', 'mvex', 'moof', 'traf'];
/** Offset of the track number in each box. */
const TRACK_AT: Readonly<Record<string, number>> = { tfhd: 12, trex: 12 };
const SEQUENCE_AT = 12;
const BASE_DATA_OFFSET = 1;

/** A copy that is of this track. Lengths stay, so that what points to something in it still does. */
export function ofTrack(buffer: Buffer, place: Place): Buffer {
  const copy = Buffer.from(buffer);
  rename(copy, place);
  return copy;
}

function rename(boxes: Buffer, place: Place): void {
  for (const { type, bytes, content } of boxesOf(boxes)) {
    if (PARENTS.includes(type)) rename(content, place);
    if (type === 'tfhd' && ((bytes[11] ?? 0) & BASE_DATA_OFFSET) !== 0) {
      throw new Error('a fragment counts from the start of its own file');
    }
    const at = type === 'tkhd' ? (bytes[HEAD_BYTES] === 0 ? 20 : 28) : TRACK_AT[type];
    if (at !== undefined) bytes.writeUInt32BE(place.trackId, at);
    if (type === 'mfhd' && place.sequence !== undefined) bytes.writeUInt32BE(place.sequence, SEQUENCE_AT);
    // An index of one segment would be mistaken for that of the whole file.
    if (type === 'sidx') bytes.write('free', 4, 'latin1');
  }
}

function typeOf(head: Buffer): string {
  return head.toString('latin1', 4, HEAD_BYTES);
}

const REWRITTEN = ['moof', 'sidx'];
const MAX_HELD_BYTES = 16 * 2 ** 20;

/** Rewriter of a segment's track and sequence numbers; media data is passed through as it arrives. */
export class BoxRewriter {
  readonly #place: Place;
  #held: Buffer = Buffer.alloc(0);
  /** Remaining bytes of a box that is passed through unchanged. */
  #passing = 0;

  constructor(place: Place) {
    this.#place = place;
  }

  *push(chunk: Buffer): Generator<Buffer> {
    let data = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    while (data.length > 0) {
      if (this.#passing > 0) {
        const part = data.subarray(0, this.#passing);
        this.#passing -= part.length;
        data = data.subarray(part.length);
        yield part;
        continue;
      }
      if (data.length < LONG_HEAD_BYTES) break;
      const size = sizeOf(data);
      if (!REWRITTEN.includes(typeOf(data)) || size > MAX_HELD_BYTES) {
        this.#passing = size;
        continue;
      }
      if (data.length < size) break;
      yield ofTrack(data.subarray(0, size), this.#place);
      data = data.subarray(size);
    }
    this.#held = data;
  }

  /** Returns the bytes still buffered after the last input. */
  rest(): Buffer {
    return this.#held;
  }
}

/** Returns the size of a box; infinite for one that extends to the end of the file. */
function sizeOf(head: Buffer): number {
  const short = head.readUInt32BE(0);
  const size = short === 1 ? Number(head.readBigUInt64BE(HEAD_BYTES)) : short;
  return size < HEAD_BYTES ? Number.POSITIVE_INFINITY : size;
}
