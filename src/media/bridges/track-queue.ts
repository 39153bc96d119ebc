import { READ_BUDGETS, ReadMeter } from '../read-budget.ts';

/** A message that waits for its time, in milliseconds of the playout. */
export interface QueuedMessage {
  type: number;
  placed: number;
  payload: Buffer;
}

interface Entry {
  message: QueuedMessage;
  next: Entry | null;
}

/**
 * Tolerated backward step: a frame that is further back is dropped, others are sent with the previous frame.
 */
const JITTER_MS = 100;

/** Messages of one track in the order they arrive, which is the order of decoding. Every operation is constant in time. */
export class TrackQueue {
  readonly meter = new ReadMeter(READ_BUDGETS.playoutTrack);
  #first: Entry | null = null;
  #last: Entry | null = null;
  /** Describes the frames that follow, and is sent with the next one. */
  #header: QueuedMessage | null = null;
  /** Time of the last message that was taken out. */
  #playedMs = Number.NEGATIVE_INFINITY;

  get head(): QueuedMessage | null {
    return this.#first?.message ?? null;
  }

  /** Replaces a header that was not used yet. */
  setHeader(header: QueuedMessage): void {
    this.#header = header;
  }

  /**
   * Appends a frame behind its header. @returns the appended messages; none when the frame is older than the
   * head.
   */
  push(frame: QueuedMessage): QueuedMessage[] {
    if (frame.placed < (this.head?.placed ?? this.#playedMs) - JITTER_MS) return [];
    const placed = Math.max(frame.placed, this.#last?.message.placed ?? this.#playedMs);
    const added = [...(this.#header === null ? [] : [this.#header]), frame];
    this.#header = null;
    return added.map((one) => this.#append({ ...one, placed }));
  }

  shift(): QueuedMessage | null {
    const first = this.#first;
    if (first === null) return null;
    this.#first = first.next;
    if (first.next === null) this.#last = null;
    this.#playedMs = first.message.placed;
    return first.message;
  }

  clear(): void {
    this.#first = null;
    this.#last = null;
    this.#header = null;
  }

  #append(message: QueuedMessage): QueuedMessage {
    const entry = { message, next: null };
    if (this.#last === null) this.#first = entry;
    else this.#last.next = entry;
    this.#last = entry;
    return message;
  }
}
