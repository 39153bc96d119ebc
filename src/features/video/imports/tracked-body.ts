import { MAX_FILE_BYTES } from '../../../kernel/plans.ts';
import { ImportFailure } from './rules.ts';

interface Watch {
  /** Position of the first chunk in the file. */
  offset: number;
  /** Announced size of the whole file; null when the server does not send it. */
  total: number | null;
  /** Reserves storage before the file grows to `bytes`. */
  cover: (bytes: number) => Promise<void>;
  /** Checks whether the disk has room for another `bytes`. */
  admit: (bytes: number) => Promise<void>;
  /** Called when the stream has stalled long enough that another worker may own the job. */
  stillOurs: () => Promise<void>;
  /** `performance.now()` at which the download must have ended. */
  deadline: number;
  /** Closes the connection; bytes buffered before the failure are dropped. */
  stop: (reason: unknown) => void;
}

/**
 * Pause between two chunks that triggers a check; less than the time after which another worker takes the
 * job.
 */
const STILL_MS = 5000;
/** Window in which a source must send `SLOW_BYTES`; slower ones occupy a slot that others wait for. */
const SLOW_MS = 60_000;
const SLOW_BYTES = 256 * 1024;

/**
 * The chunks of an answer on their way to the store, which takes a break for an end: this one remembers which it
 * was.
 */
export class TrackedBody implements AsyncIterable<Uint8Array> {
  /** Whether the body ended as the server intended. */
  isWhole = false;
  /** Failure that ended the body early; null when there was none. */
  failure: unknown = null;
  readonly #body: AsyncIterable<Uint8Array>;
  readonly #watch: Watch;

  constructor(body: AsyncIterable<Uint8Array>, watch: Watch) {
    this.#body = body;
    this.#watch = watch;
  }

  /** Records the first failure. */
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

/** Creates the permanent failure of a download that no retry would finish sooner. */
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
