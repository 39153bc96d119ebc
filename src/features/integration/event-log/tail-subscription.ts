import type { TailEvent, TailPosition } from '../../../events/event-store.ts';

/** An item queued for a tail. */
export type PendingItem =
  | { kind: 'event'; row: TailEvent; place: TailPosition }
  /** A triggered sample. */
  | { kind: 'sample'; body: string };

/** Rows are shared by all seats of a workspace; this is how many may wait in one. */
const MAX_EVENTS = 256;
const MAX_SAMPLES = 100;

/**
 * Where one tail waits for what the reader of all finds. A tail that is slower than its workspace loses its seat: it
 * reads on by itself from `place`, and joins again.
 */
export class TailSubscription {
  readonly #wants: (type: string) => boolean;
  readonly #signal: AbortSignal;
  #waiting: PendingItem[] = [];
  #samples = 0;
  #from: string | null = null;
  #place: TailPosition | null = null;
  #isFull = false;
  #wake: () => void = () => {};

  constructor(wants: (type: string) => boolean, signal: AbortSignal) {
    this.#wants = wants;
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort);
  }

  readonly #onAbort = () => this.#wake();

  /** The snapshot from which on it is offered everything; null before the reader has looked. */
  get from(): string | null {
    return this.#from;
  }

  /** Position up to which everything since `from` was offered. */
  get place(): TailPosition | null {
    return this.#place;
  }

  /** Whether the queue overflowed and events after `place` were lost. */
  get isFull(): boolean {
    return this.#isFull;
  }

  begin(now: string): void {
    this.#from = now;
    this.#place = { before: now, now, seq: '0' };
    this.#wake();
  }

  /** @returns false when there is no room: it is offered nothing more. */
  offer(row: TailEvent, place: TailPosition): boolean {
    if (this.#wants(row.type)) {
      if (this.#waiting.length >= MAX_EVENTS) {
        this.#isFull = true;
        this.#wake();
        return false;
      }
      this.#waiting.push({ kind: 'event', row, place });
      this.#wake();
    }
    this.#place = place;
    return true;
  }

  show(type: string, body: string): void {
    if (!this.#wants(type) || this.#samples >= MAX_SAMPLES) return;
    this.#samples += 1;
    this.#waiting.push({ kind: 'sample', body });
    this.#wake();
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
  }

  /**
   * Returns the items since the last call; waits for an item, for the first position, or for the end of the
   * tail.
   */
  async take(): Promise<PendingItem[]> {
    if (this.#waiting.length === 0 && !this.#isFull && !this.#signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const taken = this.#waiting;
    this.#waiting = [];
    this.#samples = 0;
    return taken;
  }
}
