import type { MediaMessage } from '../contract/index.ts';
import { readAudioPacket } from '../protocols/codec/flv-audio.ts';
import { readVideoPacket } from '../protocols/codec/flv-video.ts';
import type { FlvTag } from '../protocols/flv/reader.ts';
import { FlvTagType } from '../protocols/flv/tags.ts';
import { READ_BUDGETS } from '../read-budget.ts';
import { PushError } from '../restream/failure.ts';
import { type QueuedMessage, TrackQueue } from './track-queue.ts';

export interface PlayoutOptions {
  /** How far ahead of its time a frame may go out, in milliseconds: 0 plays at the pace of the media. */
  aheadMs: number;
  /** Number of tracks that must have sent a frame before playout begins. */
  tracks: number;
  out(message: MediaMessage): void;
  /** The source exceeds a budget. */
  fail(failure: PushError): void;
}

/** Frames within one stretch of the source, whose times follow each other. */
export interface PlayoutSegment {
  /** Offset added to its timestamps; null before its first frame. */
  shift: number | null;
}

/** Frames of one reader, from one track or several. */
export interface PlayoutTrack {
  /** The times of its last frames in the source, by track. */
  readonly times: Map<number, number>;
  /** Frames waiting to be sent, by track. */
  readonly queues: Map<number, TrackQueue>;
  /** Placed time of its last frame; null before the first. */
  last: number | null;
}

export const createPlayoutTrack = (): PlayoutTrack => ({ times: new Map(), queues: new Map(), last: null });

/** Approximate memory of an item in addition to its payload: there may be millions of empty ones. */
const ITEM_BYTES = 256;
/** Delay from which all following frames are shifted, instead of being sent faster to catch up. */
const LATE_MS = 1000;
/** A step between two frames of a track that is no step, but another time. */
const JUMP_AHEAD_MS = 3000;
const JUMP_BACK_MS = 2000;
const FRAME_MS = 33;
/** Maximum wait for an announced track. */
const TRACK_WAIT_MS = 5000;
const MIN_TICK_MS = 5;
/** Messages sent before other connections get their turn. */
const MAX_SLICE_MESSAGES = 256;

/**
 * Plays media at the pace of an encoder, however irregularly it arrives: timestamps stay continuous over all
 * segments, jumps and stalls of the source.
 */
export class Playout {
  readonly #options: PlayoutOptions;
  /** Queues of all lanes. */
  readonly #queues: TrackQueue[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #seen = new Set<number>();
  readonly #bornMs = performance.now();
  #heldItems = 0;
  #heldBytes = 0;
  #last = 0;
  #hasBegun = false;
  /** Clock time of media time 0; null before the first frame is sent. */
  #originMs: number | null = null;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: PlayoutOptions) {
    this.#options = options;
  }

  /**
   * Queues a tag, and ignores it after the end.
   *
   * @throws {PushError} when the source exceeds a budget, which ends the playout. It is thrown so that the loop that
   *   reads the source ends with it.
   */
  tag(lane: PlayoutTrack, stretch: PlayoutSegment, { type, timestamp, payload }: FlvTag): void {
    if (this.#stopped) return;
    const isFrame = isFrameOf(type, payload);
    if (isFrame === null) return;
    const queue = this.#queueOf(lane, type);
    if (queue.meter.add(1, payload.length) > 0) this.#fail('sends more frames per second than supported');
    if (isFrame || type === FlvTagType.script) {
      const placed = isFrame ? this.#place(lane, stretch, type, timestamp) : this.#last;
      this.#hold(queue.push({ type, placed, payload }));
    } else queue.setHeader({ type, placed: 0, payload });
  }

  /** Sends the frames that are due, after a portion was added. */
  flush(): void {
    if (!this.#stopped) this.#play();
  }

  /** Returns the milliseconds of media of the lane that wait to be sent. */
  heldOf({ last }: PlayoutTrack): number {
    const first = this.#earliest()?.head ?? null;
    return first === null || last === null ? 0 : last - first.placed;
  }

  /** Resolves when the lane holds at most the given milliseconds, or immediately when stopped. */
  async room(lane: PlayoutTrack, heldMs: number): Promise<void> {
    while (!this.#stopped && this.heldOf(lane) > heldMs) await this.#change();
  }

  /** Resolves when everything has been sent. */
  async drained(): Promise<void> {
    while (!this.#stopped && this.#heldItems > 0) await this.#change();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    for (const queue of this.#queues) queue.clear();
    this.#wake();
  }

  /** @param words what the source does, as the end of a sentence. */
  #fail(words: string): never {
    const failure = new PushError('normal', `The source ${words}.`);
    this.stop();
    this.#options.fail(failure);
    throw failure;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  #queueOf(lane: PlayoutTrack, type: number): TrackQueue {
    const known = lane.queues.get(type);
    if (known !== undefined) return known;
    const queue = new TrackQueue();
    lane.queues.set(type, queue);
    this.#queues.push(queue);
    return queue;
  }

  #place(lane: PlayoutTrack, stretch: PlayoutSegment, type: number, timestamp: number): number {
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

  #hold(added: readonly QueuedMessage[]): void {
    this.#heldItems += added.length;
    for (const { payload } of added) this.#heldBytes += payload.length + ITEM_BYTES;
    const { items, bytes, ms } = READ_BUDGETS.playoutQueue;
    const isFar = (added.at(-1)?.placed ?? 0) - this.#clockMs() > ms;
    if (this.#heldItems > items || this.#heldBytes > bytes || isFar) {
      this.#fail('sends more than can be buffered');
    }
  }

  /** Time of the media that is due now. */
  #clockMs(): number {
    return this.#originMs === null
      ? (this.#earliest()?.head?.placed ?? 0)
      : performance.now() - this.#originMs;
  }

  /** Returns the queue whose first message is sent next. */
  #earliest(): TrackQueue | null {
    let earliest: TrackQueue | null = null;
    for (const queue of this.#queues) {
      if (queue.head !== null && queue.head.placed < (earliest?.head?.placed ?? Number.POSITIVE_INFINITY)) {
        earliest = queue;
      }
    }
    return earliest;
  }

  #play(): void {
    clearTimeout(this.#timer);
    const now = performance.now();
    if (!this.#isReady(now)) {
      this.#timer = setTimeout(() => this.#play(), 100);
      return;
    }
    const due = this.#takeDue(now);
    for (const { type, placed, payload } of due) {
      this.#options.out({ type, streamId: 1, timestamp: Math.round(placed) >>> 0, payload });
    }
    const next = this.#earliest()?.head ?? null;
    if (next !== null && this.#originMs !== null && !this.#stopped) {
      const waitMs = this.#originMs + next.placed - this.#options.aheadMs - performance.now();
      this.#timer = setTimeout(() => this.#play(), Math.max(MIN_TICK_MS, waitMs));
    }
    if (due.length > 0) this.#wake();
  }

  /** Takes out the frames due now, at most one slice. */
  #takeDue(now: number): QueuedMessage[] {
    const due: QueuedMessage[] = [];
    while (due.length < MAX_SLICE_MESSAGES) {
      const queue = this.#earliest();
      const placed = queue?.head?.placed ?? null;
      if (queue === null || placed === null) break;
      this.#originMs ??= now - placed;
      const dueMs = this.#originMs + placed;
      if (dueMs - now > this.#options.aheadMs) break;
      if (now - dueMs > LATE_MS) this.#originMs = now - placed;
      const message = queue.shift();
      if (message === null) break;
      this.#heldItems -= 1;
      this.#heldBytes -= message.payload.length + ITEM_BYTES;
      due.push(message);
    }
    return due;
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

/** Returns null for a message that is neither a frame nor a codec header. */
function isFrameOf(type: number, payload: Buffer): boolean | null {
  if (type === FlvTagType.script) return false;
  if (type !== FlvTagType.video && type !== FlvTagType.audio) return null;
  const { kind } = type === FlvTagType.video ? readVideoPacket(payload) : readAudioPacket(payload);
  return kind === 'other' ? null : kind === 'frame';
}
