import type { MediaMessage } from '../contract/index.ts';
import { readAudioPacket } from '../ingest/codec/flv-audio.ts';
import { readVideoPacket } from '../ingest/codec/flv-video.ts';
import { FlvTagType } from '../ingest/flv.ts';
import { PushFailure } from '../restream/failure.ts';
import type { FlvTag } from '../restream/flv-reader.ts';

export interface PlayoutOptions {
  /** How far ahead of its time a frame may go out, in milliseconds: 0 plays at the pace of the media. */
  aheadMs: number;
  /** It begins when so many tracks have sent a frame. */
  tracks: number;
  out(message: MediaMessage): void;
  /** More comes than can be held. */
  fail(failure: PushFailure): void;
}

/** Frames within one stretch of the source, whose times follow each other. */
export interface Stretch {
  /** What is added to its times; null before its first frame. */
  shift: number | null;
}

/** What one reader brings, of one track or several. */
export interface Lane {
  /** The times of its last frames in the source, by track. */
  readonly times: Map<number, number>;
  /** Where its last frame was placed; null before the first. */
  last: number | null;
}

export const newLane = (): Lane => ({ times: new Map(), last: null });

interface Item {
  type: number;
  placed: number;
  payload: Buffer;
}

const MAX_HELD_BYTES = 128 * 2 ** 20;
/** What an item takes beside its payload, about: there may be millions without one. */
const ITEM_BYTES = 256;
/** What comes so late moves all that follows, instead of being hurried after. */
const LATE_MS = 1000;
/** A step between two frames of a track that is no step, but another time. */
const JUMP_AHEAD_MS = 3000;
const JUMP_BACK_MS = 2000;
const FRAME_MS = 33;
/** A track that is announced and does not come is not waited for any longer. */
const TRACK_WAIT_MS = 5000;
const MIN_TICK_MS = 5;

/**
 * Plays what a source brings, in whichever portions, at the pace of an encoder: the times go on over all stretches,
 * jumps and stalls of the source.
 */
export class Playout {
  readonly #options: PlayoutOptions;
  readonly #queue: Item[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #seen = new Set<number>();
  readonly #bornMs = performance.now();
  #heldBytes = 0;
  #last = 0;
  #hasBegun = false;
  /** The moment of the media's time 0; null before the first frame goes out. */
  #originMs: number | null = null;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: PlayoutOptions) {
    this.#options = options;
  }

  tag(lane: Lane, stretch: Stretch, { type, timestamp, payload }: FlvTag): void {
    const isFrame = isFrameOf(type, payload);
    if (isFrame === null || this.#stopped) return;
    const placed = isFrame ? this.#place(lane, stretch, type, timestamp) : this.#last;
    this.#insert({ type, placed, payload });
    this.#heldBytes += payload.length + ITEM_BYTES;
    if (this.#heldBytes > MAX_HELD_BYTES) {
      this.#options.fail(new PushFailure('normal', 'The source sends more than can be held.'));
    }
  }

  /** After a portion: sends what is due. */
  flush(): void {
    if (!this.#stopped) this.#play();
  }

  /** How much of the lane waits to go out, in milliseconds of media. */
  heldOf({ last }: Lane): number {
    const first = this.#queue[0];
    return first === undefined || last === null ? 0 : last - first.placed;
  }

  /** Resolves when at most so many milliseconds of the lane are held; at once when it is stopped. */
  async room(lane: Lane, heldMs: number): Promise<void> {
    while (!this.#stopped && this.heldOf(lane) > heldMs) await this.#change();
  }

  /** Resolves when all has gone out. */
  async drained(): Promise<void> {
    while (!this.#stopped && this.#queue.length > 0) await this.#change();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#queue.length = 0;
    this.#wake();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  #place(lane: Lane, stretch: Stretch, type: number, timestamp: number): number {
    this.#seen.add(type);
    const before = lane.times.get(type);
    const step = before === undefined ? 0 : (timestamp - before) | 0;
    lane.times.set(type, timestamp);
    const isJump = step > JUMP_AHEAD_MS || step < -JUMP_BACK_MS;
    if (stretch.shift === null || (isJump && !this.#isNear(timestamp + stretch.shift))) {
      stretch.shift = (this.#hasBegun ? this.#last + FRAME_MS : 0) - timestamp;
    }
    this.#hasBegun = true;
    const placed = Math.max(0, timestamp + stretch.shift);
    this.#last = Math.max(this.#last, placed);
    lane.last = Math.max(lane.last ?? 0, placed);
    return placed;
  }

  /** Another track has jumped there already. */
  #isNear(placed: number): boolean {
    return placed > this.#last - JUMP_BACK_MS && placed < this.#last + JUMP_AHEAD_MS;
  }

  #insert(item: Item): void {
    let at = this.#queue.length;
    for (let before = this.#queue[at - 1]; before !== undefined && before.placed > item.placed; ) {
      at -= 1;
      before = this.#queue[at - 1];
    }
    this.#queue.splice(at, 0, item);
  }

  #play(): void {
    clearTimeout(this.#timer);
    const now = performance.now();
    if (!this.#isReady(now)) {
      this.#timer = setTimeout(() => this.#play(), 100);
      return;
    }
    let count = 0;
    for (const item of this.#queue) {
      this.#originMs ??= now - item.placed;
      const dueMs = this.#originMs + item.placed;
      if (dueMs - now > this.#options.aheadMs) break;
      if (now - dueMs > LATE_MS) this.#originMs = now - item.placed;
      count += 1;
    }
    for (const { type, placed, payload } of this.#queue.splice(0, count)) {
      this.#heldBytes -= payload.length + ITEM_BYTES;
      this.#options.out({ type, streamId: 1, timestamp: Math.round(placed) >>> 0, payload });
    }
    const next = this.#queue[0];
    if (next !== undefined && this.#originMs !== null && !this.#stopped) {
      const waitMs = this.#originMs + next.placed - this.#options.aheadMs - performance.now();
      this.#timer = setTimeout(() => this.#play(), Math.max(MIN_TICK_MS, waitMs));
    }
    if (count > 0) this.#wake();
  }

  #isReady(now: number): boolean {
    return (
      this.#originMs !== null ||
      this.#seen.size >= this.#options.tracks ||
      (this.#seen.size > 0 && now - this.#bornMs > TRACK_WAIT_MS)
    );
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }
}

/** null for what is neither a frame nor says how frames are coded. */
function isFrameOf(type: number, payload: Buffer): boolean | null {
  if (type === FlvTagType.script) return false;
  if (type !== FlvTagType.video && type !== FlvTagType.audio) return null;
  const { kind } = type === FlvTagType.video ? readVideoPacket(payload) : readAudioPacket(payload);
  return kind === 'other' ? null : kind === 'frame';
}
