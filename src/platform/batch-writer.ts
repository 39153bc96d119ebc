import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { isTransientError, sqlState } from './db/index.ts';
import type { Logger } from './logger.ts';

const CLOSE_MS = 5000;

export interface BatchWriterOptions<Row> {
  /** May be repeated with the same rows after a lost connection. */
  write(rows: readonly Row[]): Promise<void>;
  /** Rows of one write: as soon as they are there, it begins. */
  batch: number;
  /** Maximum rows buffered while the database is slow or unavailable. */
  maxQueuedRows: number;
  /** Between writes of fewer rows. */
  pauseMs: number;
  log: Pick<Logger, 'warn'>;
  /** Warning logged once per database outage. */
  warning: string;
  /** Hook called with the number of rows that were dropped. */
  onRowsDropped(count: number): void;
}

/**
 * Buffers rows and inserts them in batches, outside the operations that produce them: the first row
 * immediately, later ones after a pause.
 */
export class BatchWriter<Row> {
  readonly #options: BatchWriterOptions<Row>;
  /** A batch belongs to no request, so it runs in no transaction of one. */
  readonly #outside = AsyncLocalStorage.snapshot();
  #waiting: Row[] = [];
  #timer: NodeJS.Timeout | undefined;
  #nextMs = 0;
  #writing: Promise<void> | null = null;
  #isFailing = false;
  #isClosed = false;

  constructor(options: BatchWriterOptions<Row>) {
    this.#options = options;
  }

  /** Never waits and never fails: what there is no room for is counted and dropped. */
  add(row: Row): void {
    if (this.#waiting.length >= this.#options.maxQueuedRows) {
      this.#options.onRowsDropped(1);
      return;
    }
    this.#waiting.push(row);
    // While the database is away, the timer tries again and not every row.
    if (this.#waiting.length >= this.#options.batch && !this.#isFailing) void this.#write();
    else this.#schedule();
  }

  /** Writes pending rows, for at most 5 seconds. */
  async close(): Promise<void> {
    await Promise.race([this.#close(), sleep(CLOSE_MS, undefined, { ref: false })]);
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    do await this.#write();
    while (this.#waiting.length > 0 && !this.#isFailing);
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#writing !== null || this.#isClosed) return;
    const pauseMs = Math.max(0, this.#nextMs - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#write();
    }, pauseMs).unref();
  }

  #write(): Promise<void> {
    this.#writing ??= this.#outside(() => this.#writeBatches()).finally(() => {
      this.#writing = null;
      this.#nextMs = performance.now() + this.#options.pauseMs;
      if (this.#waiting.length > 0) this.#schedule();
    });
    return this.#writing;
  }

  /** Writes the buffered rows, and further full batches that arrive during the write. */
  async #writeBatches(): Promise<void> {
    const { batch: size } = this.#options;
    do {
      const batch = this.#waiting.slice(0, size);
      if (batch.length === 0) return;
      try {
        await this.#writeOrHalve(batch);
        this.#isFailing = false;
      } catch (error) {
        this.#failed(error);
        // They stay for the next try, as long as there is room.
        if (isTransientError(error)) return;
        this.#options.onRowsDropped(batch.length);
      }
      this.#waiting = this.#waiting.slice(batch.length);
    } while (this.#waiting.length >= size);
  }

  /** One row with a value that the database refuses does not take the others with it. */
  async #writeOrHalve(rows: readonly Row[]): Promise<void> {
    try {
      await this.#options.write(rows);
    } catch (error) {
      if (!/^2[23]/.test(sqlState(error) ?? '')) throw error;
      if (rows.length === 1) {
        this.#options.onRowsDropped(1);
        return;
      }
      const half = rows.length >> 1;
      await this.#writeOrHalve(rows.slice(0, half));
      await this.#writeOrHalve(rows.slice(half));
    }
  }

  #failed(error: unknown): void {
    if (!this.#isFailing) this.#options.log.warn({ err: error }, this.#options.warning);
    this.#isFailing = true;
  }
}
