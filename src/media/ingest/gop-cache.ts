import { flvTag, flvTagBytes, writeFlvTag } from '../protocols/flv/tags.ts';

export interface GopLimits {
  bytes: number;
  tags: number;
}

/** Below what a reader may have queued, so that the burst at its start never counts as slowness. */
const DEFAULT_LIMITS: GopLimits = { bytes: 6 * 1024 * 1024, tags: 4096 };
const FIRST_BYTES = 16 * 1024;
const NO_BYTES = Buffer.alloc(0);

/**
 * Tags since the last keyframe, so that a new reader can decode a frame immediately.
 *
 * Tags are written into one buffer, which is reused for the next group when possible. A buffer for every tag
 * would be less code, but the garbage then requires a full collection several times a second, which takes
 * more processor time than the rest of the ingest.
 */
export class GopCache {
  #limits: GopLimits;
  #buffer = NO_BYTES;
  #bytes = 0;
  #tags = 0;

  constructor(limits: GopLimits = DEFAULT_LIMITS) {
    this.#limits = limits;
  }

  /**
   * Returns all tags, concatenated; empty before the first keyframe, and when the group is too large to
   * cache.
   */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#bytes);
  }

  get empty(): boolean {
    return this.#tags === 0;
  }

  /**
   * Builds a tag, and stores it when a group has begun with a keyframe. `mayReuse` reports whether all
   * readers are done with the tags of earlier groups; it is called only at keyframes.
   */
  add(type: number, timestamp: number, payload: Buffer, keyframe: boolean, mayReuse: () => boolean): Buffer {
    if (keyframe) {
      // As large as the last group was: memory for a large one at every keyframe would be an attack.
      if (!mayReuse()) this.#buffer = Buffer.allocUnsafeSlow(this.#bytes);
      this.clear();
    }
    const size = flvTagBytes(payload);
    const belongs = keyframe || !this.empty;
    if (!belongs || this.#bytes + size > this.#limits.bytes || this.#tags >= this.#limits.tags) {
      this.clear();
      return flvTag(type, timestamp, payload);
    }
    this.#reserve(this.#bytes + size);
    const tag = this.#buffer.subarray(this.#bytes, this.#bytes + size);
    writeFlvTag(tag, type, timestamp, payload);
    this.#bytes += size;
    this.#tags++;
    return tag;
  }

  clear(): void {
    this.#tags = 0;
    this.#bytes = 0;
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(bytes, FIRST_BYTES, 2 * this.#buffer.length));
    this.bytes.copy(grown);
    this.#buffer = grown;
  }
}
