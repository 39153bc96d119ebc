import type { Readable } from 'node:stream';

/** Body of a request that either side may abort. */
export interface RequestBody {
  /** Chunks; each is valid until the next one is requested. */
  chunks: AsyncIterable<Uint8Array>;
  /** Closes the connection; `chunks` fails. */
  abort(): void;
}

/** Bytes buffered for the consumer; the rest stays in the connection. */
const BATCH_BYTES = 2 ** 17;
/** Size of a batch plus one socket read that arrives when it is nearly full. */
const SLAB_BYTES = BATCH_BYTES + 2 ** 16;
/** Smaller buffers may share their memory with others. */
const OWN_MEMORY_BYTES = 2 ** 13;

/** Reads a body in large chunks: bytes that arrive during a write form the next chunk. */
export function toRequestBody(body: Readable): RequestBody {
  return { chunks: batches(body), abort: () => void body.destroy() };
}

async function* batches(body: Readable): AsyncGenerator<Uint8Array> {
  const slabs = new Slabs();
  let state: 'open' | 'ended' | 'broken' = 'open';
  let wake = () => {};
  const onData = (part: Buffer) => {
    if (!slabs.add(part)) body.pause();
    wake();
  };
  const onEnd = () => {
    state = 'ended';
    wake();
  };
  const onClose = () => {
    if (state === 'open') state = 'broken';
    wake();
  };
  body.on('data', onData).on('end', onEnd).on('error', onClose).on('close', onClose);
  if (body.destroyed) onClose();
  try {
    for (;;) {
      const batch = slabs.take();
      if (batch.length > 0) {
        body.resume();
        yield* batch;
      } else if (state === 'open') {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      } else {
        if (state === 'broken') throw new Error('the body was interrupted');
        return;
      }
    }
  } finally {
    body.pause();
    body.off('data', onData).off('end', onEnd).off('error', onClose).off('close', onClose);
  }
}

/** Two buffers for a whole body: one fills while the other is being written. */
class Slabs {
  #filling: Buffer | null = null;
  #spare: Buffer | null = null;
  #bytes = 0;
  #beside: Buffer[] = [];

  /** @returns false when the buffer is full for now. */
  add(part: Buffer): boolean {
    this.#filling ??= Buffer.allocUnsafeSlow(SLAB_BYTES);
    if (this.#beside.length === 0 && this.#bytes + part.length <= SLAB_BYTES) {
      part.copy(this.#filling, this.#bytes);
      this.#bytes += part.length;
      release(part);
    } else {
      this.#beside.push(part);
    }
    return this.#beside.length === 0 && this.#bytes < BATCH_BYTES;
  }

  /** Returns the buffered bytes, valid until the next call. */
  take(): Buffer[] {
    const slab = this.#filling;
    const batch = slab === null || this.#bytes === 0 ? [] : [slab.subarray(0, this.#bytes)];
    batch.push(...this.#beside);
    this.#filling = this.#spare;
    this.#spare = slab;
    this.#bytes = 0;
    this.#beside = [];
    return batch;
  }
}

/**
 * Frees the memory of a part immediately. Left to the garbage collector, the parts of one quick upload make
 * it walk the whole heap every 35 MB, which costs more than the rest of the upload.
 */
function release({ buffer, byteOffset, byteLength }: Buffer): void {
  if (byteLength < OWN_MEMORY_BYTES || byteOffset !== 0 || buffer.byteLength !== byteLength) return;
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}

interface Reading {
  /** Maximum number of bytes accepted. */
  room: number;
  /**
   * Reports whether the body may grow to `bytes`. Called before each chunk is passed on; false ends the read.
   */
  admits(bytes: number): Promise<boolean>;
  /** @param at of the chunk, counted from the start of the body. */
  onChunk(chunk: Uint8Array, at: number): void;
  /**
   * Called with true before each wait for bytes, and with false when some have arrived, or the body has
   * ended.
   */
  onWaiting(isWaiting: boolean): void;
  /** Callback that runs when `ms` passed between two chunks, before the second; its failure ends the read. */
  afterPause: { ms: number; run(): Promise<void> };
}

/** Time after which a body without new bytes is abandoned. */
const IDLE_MS = 60_000;

/** Reads the bytes of a body: it stops at the limit, and a long silence ends it. */
export function readIncoming(body: RequestBody, reading: Reading) {
  let hasOverflowed = false;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    let at = 0;
    let lastAt = performance.now();
    let isWaiting = false;
    const wait = (waits: boolean) => {
      isWaiting = waits;
      if (waits) idle.refresh();
      reading.onWaiting(waits);
    };
    const idle = setTimeout(() => {
      if (isWaiting) body.abort();
    }, IDLE_MS).unref();
    try {
      wait(true);
      for await (const chunk of body.chunks) {
        wait(false);
        if (performance.now() - lastAt > reading.afterPause.ms) await reading.afterPause.run();
        lastAt = performance.now();
        const fits = chunk.subarray(0, reading.room - at);
        if (!(await reading.admits(at + fits.length))) return;
        if (fits.length > 0) {
          reading.onChunk(fits, at);
          at += fits.length;
          yield fits;
        }
        if (fits.length < chunk.length) {
          hasOverflowed = true;
          return;
        }
        wait(true);
      }
    } finally {
      wait(false);
      clearTimeout(idle);
    }
  }
  return { chunks: chunks(), overflowed: () => hasOverflowed };
}
