import type { FlvTag } from '../protocols/flv/reader.ts';
import { PushError } from '../restream/failure.ts';
import { createPlayoutTrack, type Playout, type PlayoutSegment, type PlayoutTrack } from './playout.ts';
import type { BeginPlayout } from './source.ts';

/** A source in real time may bring so much at once, such as what a server keeps for those who come. */
const AHEAD_MS = 10_000;
/** What is beyond that makes the connection wait. */
const HELD_MS = 2000;
const SILENT_MS = 10_000;
const CHECK_MS = 1000;

/** A source that sends in real time, and tells when it does no more. */
export class LiveLane {
  /** Rejects when something has come, and then nothing for too long. */
  readonly silence: Promise<never>;
  readonly #playout: Playout;
  readonly #lane: PlayoutTrack = createPlayoutTrack();
  readonly #stretch: PlayoutSegment = { shift: null };
  readonly #timer: NodeJS.Timeout;
  /** null before the first: how long that may take is the bridge's to say. */
  #lastMs: number | null = null;
  #isWaiting = false;

  constructor(begin: BeginPlayout) {
    this.#playout = begin({ aheadMs: AHEAD_MS, tracks: 1 });
    const { promise, reject } = Promise.withResolvers<never>();
    this.silence = promise;
    promise.catch(() => {});
    this.#timer = setInterval(() => {
      if (this.#lastMs === null || performance.now() - this.#lastMs < SILENT_MS) return;
      reject(new PushError('normal', 'The source stopped sending.'));
    }, CHECK_MS);
  }

  tag(tag: FlvTag): void {
    this.#lastMs = performance.now();
    this.#playout.tag(this.#lane, this.#stretch, tag);
  }

  /** After a portion. */
  flush(): void {
    this.#playout.flush();
  }

  /** Resolves when the source, which is ahead of time, may continue. null when it is not ahead or already waited for. */
  wait(): Promise<void> | null {
    if (this.#isWaiting || this.#playout.heldOf(this.#lane) <= 2 * HELD_MS) return null;
    this.#isWaiting = true;
    return this.#playout.room(this.#lane, HELD_MS).then(() => {
      this.#isWaiting = false;
      this.#lastMs = performance.now();
    });
  }

  end(): void {
    clearInterval(this.#timer);
  }
}
