import { MAX_FILE_BYTES } from '../../../kernel/plans.ts';
import { ImportFailure } from './rules.ts';

interface Watch {
  /** Where the first chunk belongs. */
  offset: number;
  /** So many bytes have been announced of the whole file; null when the server does not say. */
  total: number | null;
  /** Reserves before the file grows to so many bytes. */
  cover: (bytes: number) => Promise<void>;
  /** Asks whether the disk has room for so many bytes more. */
  admit: (bytes: number) => Promise<void>;
  /** Called when the stream has stood still for so long that the job may be somebody else's. */
  stillOurs: () => Promise<void>;
  /** `performance.now()` when the download has taken all the time that it may. */
  deadline: number;
  /** Ends the connection: what was read ahead of the failure is not waited for. */
  stop: (reason: unknown) => void;
}

/** Between two chunks; less than the time after which another worker takes the job. */
const STILL_MS = 5000;
/** Who sends less than `SLOW_BYTES` in `SLOW_MS` holds a place that others wait for. */
const SLOW_MS = 60_000;
const SLOW_BYTES = 256 * 1024;

/**
 * The chunks of an answer on their way to the store, which takes a break for an end: this one remembers which it
 * was.
 */
export class TrackedBody implements AsyncIterable<Uint8Array> {
  /** The body came to the end that the server meant. */
  isWhole = false;
  /** What ended it too soon; null while nothing has. */
  failure: unknown = null;
  readonly #body: AsyncIterable<Uint8Array>;
  readonly #watch: Watch;

  constructor(body: AsyncIterable<Uint8Array>, watch: Watch) {
    this.#body = body;
    this.#watch = watch;
  }

  /** The first failure counts. */
  fail(error: unknown): void {
    this.failure ??= error;
    this.#watch.stop(error);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const pace = new Pace();
    let at = this.#watch.offset;
    let seenAt = performance.now();
    try {
      for await (const chunk of this.#body) {
        if (performance.now() - seenAt > STILL_MS) await this.#watch.stillOurs();
        pace.add(chunk.length);
        if (performance.now() > this.#watch.deadline) throw tooSlow();
        at += chunk.length;
        if (at > MAX_FILE_BYTES) throw tooLarge();
        if (at > (this.#watch.total ?? at)) throw tooMuch();
        await this.#watch.cover(at);
        await this.#watch.admit(chunk.length);
        if (this.failure !== null) return;
        yield chunk;
        seenAt = performance.now();
      }
      this.isWhole = this.failure === null;
    } catch (error) {
      this.fail(error);
    }
  }
}

export function tooLarge(): ImportFailure {
  return new ImportFailure('SIZE_EXCEEDED', 'The file is larger than 100 GB.');
}

/** So slow that no other try would end sooner. */
function tooSlow(): ImportFailure {
  return new ImportFailure('SOURCE_UNREACHABLE', 'The download exceeded the 12-hour limit.');
}

function tooMuch(): ImportFailure {
  return new ImportFailure('SOURCE_UNREACHABLE', 'The server sent more data than announced.', true);
}

class Pace {
  #since = performance.now();
  #bytes = 0;

  /** @throws {ImportFailure} */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (performance.now() - this.#since < SLOW_MS) return;
    if (this.#bytes < SLOW_BYTES) {
      throw new ImportFailure('SOURCE_UNREACHABLE', 'The server sends data too slowly.', true);
    }
    this.#since = performance.now();
    this.#bytes = 0;
  }
}
