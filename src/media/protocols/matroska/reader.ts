/** A frame of one of the tracks of a file. */
export interface WebmFrame {
  /** Track number in the file, from 1. */
  track: number;
  ms: number;
  isKey: boolean;
  /** Data in memory of its own. */
  data: Buffer;
}

const SEGMENT = 0x18538067;
const CLUSTER = 0x1f43b675;
const CLUSTER_TIME = 0xe7;
const SIMPLE_BLOCK = 0xa3;
const BLOCK_GROUP = 0xa0;
const BLOCK = 0xa1;
const KEY_FLAG = 0x80;
/** Maximum buffered bytes: our files have no larger frame. */
const MAX_HELD = 16 * 2 ** 20;
/** An id and a size. */
const MAX_HEAD = 16;

/** Reader of the frames of our own Matroska files as they arrive (RFC 9559), one block for each. */
export class WebmReader {
  readonly #onFrame: (frame: WebmFrame) => void;
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** Length of the incomplete element: input is joined only when it is complete. */
  #neededBytes = 1;
  /** Remaining bytes of an element that is skipped. */
  #skip = 0;
  #clusterMs = 0;

  constructor(onFrame: (frame: WebmFrame) => void) {
    this.#onFrame = onFrame;
  }

  /** @throws {RangeError} for another file format. */
  push(chunk: Buffer): void {
    const skipped = Math.min(this.#skip, chunk.length);
    this.#skip -= skipped;
    this.#held.push(chunk.subarray(skipped));
    this.#heldBytes += chunk.length - skipped;
    if (this.#heldBytes < this.#neededBytes) return;
    const input = Buffer.concat(this.#held);
    const rest = input.subarray(this.#read(input));
    this.#held = rest.length === 0 ? [] : [rest];
    this.#heldBytes = rest.length;
  }

  #read(input: Buffer): number {
    for (let at = 0; ; ) {
      const head = elementAt(input, at);
      if (head === null && input.length - at >= MAX_HEAD)
        throw new RangeError('the file has no valid element at this position');
      if (head === null) return this.#wait(at, input.length + 1);
      const { id, size, body } = head;
      if (id === SEGMENT || id === CLUSTER || id === BLOCK_GROUP) {
        at = body;
        continue;
      }
      const end = body + size;
      if (id === SIMPLE_BLOCK || id === BLOCK || id === CLUSTER_TIME) {
        if (end > input.length) return this.#wait(at, end);
        if (id === CLUSTER_TIME) this.#clusterMs = input.readUIntBE(body, size);
        else this.#block(input.subarray(body, end));
        at = end;
        continue;
      }
      this.#skip = Math.max(0, end - input.length);
      at = Math.min(end, input.length);
    }
  }

  /** @returns the offset of the incomplete element. */
  #wait(at: number, end: number): number {
    this.#neededBytes = end - at;
    if (this.#neededBytes > MAX_HELD) throw new RangeError('an element of the file is too large');
    return at;
  }

  #block(block: Buffer): void {
    const track = block.readUInt8(0) & 0x7f;
    const ms = this.#clusterMs + block.readInt16BE(1);
    const isKey = (block.readUInt8(3) & KEY_FLAG) !== 0;
    this.#onFrame({ track, ms, isKey, data: Buffer.from(block.subarray(4)) });
  }
}

/** Parses an element header; null while it is incomplete. */
function elementAt(input: Buffer, at: number): { id: number; size: number; body: number } | null {
  const idBytes = lengthOf(input[at]);
  const sizeBytes = lengthOf(input[at + idBytes]);
  const body = at + idBytes + sizeBytes;
  if (idBytes === 0 || sizeBytes === 0 || body > input.length) return null;
  const id = input.readUIntBE(at, idBytes);
  const mask = 2 ** (7 * sizeBytes) - 1;
  const low = Math.min(sizeBytes, 6);
  const size = input.readUIntBE(body - low, low) % (mask + 1);
  return { id, size, body };
}

/** Returns the byte length of a variable-length number, from its first byte. */
function lengthOf(first: number | undefined): number {
  return first === undefined || first === 0 ? 0 : Math.clz32(first) - 23;
}
