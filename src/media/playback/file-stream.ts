import { read } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';

/** 2.5 times the throughput of the 64 kB default (docs/decisions/playback-and-tokens.md#serving-files). */
const CHUNK_BYTES = 512 * 1024;
/** Buffers kept for the next file: touching fresh memory costs as much as the read. */
const MAX_SPARE_BUFFERS = 32;
const IDLE = Symbol('idle');
const spare: Buffer[] = [];

/**
 * Bytes of an open file from `start` to `end` (inclusive), which it closes. Piped into a response it reads
 * into one buffer, again each time the last chunk was sent: a slow reader holds half a megabyte, and nothing
 * is allocated.
 */
export class FileStream extends Readable {
  readonly #file: FileHandle;
  readonly #end: number;
  #position: number;
  /** Closing the file has to wait for it. */
  #isReading = false;

  constructor(file: FileHandle, start: number, end: number) {
    super({ highWaterMark: CHUNK_BYTES });
    this.#file = file;
    this.#position = start;
    this.#end = end;
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
    const end = () => done(error);
    const finish = () => void this.#file.close().then(end, end);
    if (this.#isReading) this.once(IDLE, finish);
    else finish();
  }

  override pipe<T extends NodeJS.WritableStream>(destination: T): T {
    const buffer = spare.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES);
    const release = () => {
      if (spare.length < MAX_SPARE_BUFFERS) spare.push(buffer);
    };
    const next = () => {
      if (this.destroyed) return release();
      this.#fill(
        buffer,
        (bytes) => {
          if (bytes !== null) return void destination.write(bytes, written);
          release();
          destination.end();
          // The stream itself is not read, but ends only after it has been read.
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
    next();
    return destination;
  }

  /**
   * Reads the next chunk; null at the end. A file shorter than announced is an error. Once the stream is
   * destroyed, `dropped` is called instead of `done`.
   */
  #fill(buffer: Buffer, done: (bytes: Buffer | null) => void, dropped: () => void): void {
    const length = Math.min(buffer.length, this.#end + 1 - this.#position);
    if (length === 0) {
      done(null);
      return;
    }
    this.#isReading = true;
    read(this.#file.fd, buffer, 0, length, this.#position, (error, count) => {
      this.#isReading = false;
      this.emit(IDLE);
      if (error !== null || count === 0) this.destroy(error ?? new Error('the file is too short'));
      if (this.destroyed) return dropped();
      this.#position += count;
      done(buffer.subarray(0, count));
    });
  }
}
