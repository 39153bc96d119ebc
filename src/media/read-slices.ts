import { recordRead } from './longest-read.ts';

/** Longest that one reader holds the event loop in one iteration, and most steps that it takes. */
const MAX_SLICE_MS = 4;
const MAX_SLICE_STEPS = 128;

/**
 * Shares the event loop between the readers of untrusted input: each reads for a slice per iteration, so a peer that
 * sends a million items in one packet delays others by one slice and not by all of them.
 */
export class ReadSlices {
  readonly #reader: () => string;
  readonly #resume: () => void;
  #isArmed = false;
  #isInterrupted = false;
  #steps = 0;
  #usedMs = 0;

  /**
   * @param reader names whose input is read, for the log.
   * @param resume continues reading after an interruption; must not throw.
   */
  constructor(reader: () => string, resume: () => void) {
    this.#reader = reader;
    this.#resume = resume;
  }

  /** Whether input is left for the next iteration. */
  get isInterrupted(): boolean {
    return this.#isInterrupted;
  }

  /**
   * Calls `step` until it returns false or the slice of this iteration is used up. In the second case `resume` is
   * called in the next iteration, and until then no step is taken.
   *
   * @returns false when input is left.
   */
  run(step: () => boolean): boolean {
    if (this.#isInterrupted) return false;
    this.#arm();
    const startedMs = performance.now();
    try {
      while (this.#steps < MAX_SLICE_STEPS && this.#usedMs + performance.now() - startedMs < MAX_SLICE_MS) {
        this.#steps += 1;
        if (!step()) return true;
      }
      this.#isInterrupted = true;
      return false;
    } finally {
      const ms = performance.now() - startedMs;
      this.#usedMs += ms;
      recordRead(this.#reader, ms);
    }
  }

  /** One socket may be read many times in one iteration: all of it is one slice. */
  #arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    setImmediate(() => {
      this.#isArmed = false;
      this.#steps = 0;
      this.#usedMs = 0;
      if (!this.#isInterrupted) return;
      this.#isInterrupted = false;
      this.#resume();
    });
  }
}
