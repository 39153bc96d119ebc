import type { FeedItem } from './feed-item.ts';

const FIRST_BYTES = 2 * 2 ** 20;
const MOST_BYTES = 12 * 2 ** 20;
const MOST_ITEMS = 16_384;

/** Items since the last keyframe, in one reused buffer instead of an object for each frame. */
export class Gop {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #used = 0;
  #count = 0;
  readonly #ends: number[] = [];
  readonly #types: number[] = [];
  readonly #times: number[] = [];

  get length(): number {
    return this.#count;
  }

  /** Its first time; null while it is empty. */
  get begin(): number | null {
    return this.#count === 0 ? null : (this.#times[0] ?? null);
  }

  clear(): void {
    this.#used = 0;
    this.#count = 0;
  }

  /** Adds a frame, the first of which is a keyframe. A frame beyond the limits clears the GOP. */
  add({ type, timestamp, payload }: FeedItem): void {
    const end = this.#used + payload.length;
    if (end > MOST_BYTES || this.#count === MOST_ITEMS) {
      this.clear();
      return;
    }
    if (end > this.#bytes.length) this.#grow(end);
    payload.copy(this.#bytes, this.#used);
    this.#types[this.#count] = type;
    this.#times[this.#count] = timestamp;
    this.#ends[this.#count] = end;
    this.#used = end;
    this.#count += 1;
  }

  /** Returns all items, in memory that does not change. */
  items(): FeedItem[] {
    const bytes = Buffer.from(this.#bytes.subarray(0, this.#used));
    return Array.from({ length: this.#count }, (_, index) => ({
      type: this.#types[index] ?? 0,
      timestamp: this.#times[index] ?? 0,
      payload: bytes.subarray(index === 0 ? 0 : this.#ends[index - 1], this.#ends[index]),
      kind: 'frame',
      isKeyframe: index === 0,
    }));
  }

  #grow(end: number): void {
    const wider = Buffer.allocUnsafeSlow(Math.min(MOST_BYTES, Math.max(end, 2 * this.#bytes.length)));
    this.#bytes.copy(wider, 0, 0, this.#used);
    this.#bytes = wider;
  }
}
