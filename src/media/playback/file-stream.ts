import { close, open, read } from 'node:fs';
import { Readable } from 'node:stream';

/** 2.5 times the throughput of the 64 kB default (docs/decisions/playback-and-tokens.md#serving-files). */
const CHUNK_BYTES = 512 * 1024;
/** Buffers kept for the next file: touching fresh memory costs as much as the read. */
const KEPT = 32;
const IDLE = Symbol('idle');
const spare: Buffer[] = [];

/**
 * The bytes of a file from `start` to `end` (inclusive). Piped into a response it reads into one buffer, again each
 * time when the last piece has left: a slow reader holds half a megabyte, and nothing is allocated.
 */
export class FileStream extends Readable {
  readonly #path: string;
  readonly #end: number;
  #position: number;
  #fd: number | null = null;
  /** Closing the file has to wait for it. */
  #isReading = false;

  constructor(path: string, start: number, end: number) {
    super({ highWaterMark: CHUNK_BYTES });
    this.#path = path;
    this.#position = start;
    this.#end = end;
  }

  override _construct(done: (error?: Error | null) => void): void {
    open(this.#path, 'r', (error, fd) => {
      if (error === null) this.#fd = fd;
      done(error);
      if (error === null) this.emit('open');
    });
  }

  override _read(): void {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, this.#end + 1 - this.#position));
    this.#fill(
      buffer,
      (bytes) => this.push(bytes),
      () => {},
    );
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const fd = this.#fd;
    const finish = () => (fd === null ? done(error) : close(fd, () => done(error)));
    if (this.#isReading) this.once(IDLE, finish);
    else finish();
  }

  override pipe<T extends NodeJS.WritableStream>(destination: T): T {
    const buffer = spare.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES);
    const release = () => {
      if (spare.length < KEPT) spare.push(buffer);
    };
    const next = () => {
      if (this.destroyed) return release();
      this.#fill(
        buffer,
        (bytes) => {
          if (bytes !== null) return void destination.write(bytes, written);
          release();
          destination.end();
          // Nobody reads from here, and it ends only when it has been read.
          this.push(null);
          this.resume();
        },
        release,
      );
    };
    const written = (error?: Error | null) => {
      if (!error) return next();
      release();
      this.destroy();
    };
    if (this.#fd === null) this.once('open', next);
    else next();
    return destination;
  }

  /**
   * Reads the next piece; null at the end. A file that turns out shorter than was promised is an error. Once the
   * stream is destroyed, `done` is not called but `dropped` is.
   */
  #fill(buffer: Buffer, done: (bytes: Buffer | null) => void, dropped: () => void): void {
    const length = Math.min(buffer.length, this.#end + 1 - this.#position);
    if (length === 0 || this.#fd === null) {
      done(null);
      return;
    }
    this.#isReading = true;
    read(this.#fd, buffer, 0, length, this.#position, (error, count) => {
      this.#isReading = false;
      this.emit(IDLE);
      if (error !== null || count === 0) this.destroy(error ?? new Error(`${this.#path} is too short`));
      if (this.destroyed) return dropped();
      this.#position += count;
      done(buffer.subarray(0, count));
    });
  }
}
