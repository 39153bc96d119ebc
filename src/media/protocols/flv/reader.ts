/** One tag of a file (Adobe FLV 10.1, annex E); its payload shares memory with the input. */
export interface FlvTag {
  type: number;
  /** Milliseconds. */
  timestamp: number;
  payload: Buffer;
}

const FILE_HEADER_BYTES = 13;
const TAG_HEADER_BYTES = 11;
const BACK_POINTER_BYTES = 4;
const F = 0x46;

/**
 * Cuts files that follow each other into tags. Where a tag could begin, a file header begins the next file: no type of
 * tag has its first byte.
 */
export class FlvReader {
  readonly #onFile: () => void;
  readonly #onTag: (tag: FlvTag) => void;
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** Length of the incomplete element; 0 while unknown. */
  #needed = 0;

  constructor(onFile: () => void, onTag: (tag: FlvTag) => void) {
    this.#onFile = onFile;
    this.#onTag = onTag;
  }

  /**
   * @param isLent the bytes may change after the call: incomplete elements are copied, and payloads are valid
   *   only during `onTag`.
   */
  push(chunk: Buffer, isLent = false): void {
    const kept = (bytes: Buffer) => (isLent ? Buffer.from(bytes) : bytes);
    this.#heldBytes += chunk.length;
    // A large tag arrives in many chunks: they are joined once.
    if (this.#heldBytes < this.#needed) {
      this.#held.push(kept(chunk));
      return;
    }
    const input = this.#held.length === 0 ? chunk : Buffer.concat([...this.#held, chunk]);
    const rest = input.subarray(this.#read(input));
    this.#held = rest.length === 0 ? [] : [kept(rest)];
    this.#heldBytes = rest.length;
  }

  /** @returns the number of consumed bytes. */
  #read(input: Buffer): number {
    let at = 0;
    for (;;) {
      const left = input.length - at;
      const isFile = input[at] === F;
      const head = isFile ? FILE_HEADER_BYTES : TAG_HEADER_BYTES;
      if (left < head) {
        this.#needed = head;
        return at;
      }
      const size = isFile ? head : head + input.readUIntBE(at + 1, 3) + BACK_POINTER_BYTES;
      if (left < size) {
        this.#needed = size;
        return at;
      }
      if (isFile) this.#onFile();
      else this.#onTag(tagAt(input, at, size));
      at += size;
    }
  }
}

function tagAt(input: Buffer, at: number, size: number): FlvTag {
  return {
    type: input.readUInt8(at) & 0x1f,
    timestamp: input.readUIntBE(at + 4, 3) + input.readUInt8(at + 7) * 2 ** 24,
    payload: input.subarray(at + TAG_HEADER_BYTES, at + size - BACK_POINTER_BYTES),
  };
}
