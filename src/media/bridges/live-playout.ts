import type { FlvTag } from '../protocols/flv/reader.ts';
import { PushError } from '../restream/failure.ts';
import { createPlayoutTrack, type Playout, type PlayoutSegment, type PlayoutTrack } from './playout.ts';
import type { BeginPlayout } from './source.ts';

/** Burst a real-time source may send, such as the backlog a server sends to new clients. */
const AHEAD_MS = 10_000;
/** Media held beyond which reading from the connection pauses. */
const HELD_MS = 2000;
const SILENT_MS = 10_000;
const CHECK_MS = 1000;

/** Playout of a source that sends in real time; detects when it stops. */
export class LiveLane {
  /** Rejects when media has arrived, and then none for too long. */
  readonly silence: Promise<never>;
  readonly #playout: Playout;
  readonly #lane: PlayoutTrack = createPlayoutTrack();
  readonly #stretch: PlayoutSegment = { shift: null };
  readonly #timer: NodeJS.Timeout;
  /** null before the first frame: the bridge limits how long that may take. */
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
