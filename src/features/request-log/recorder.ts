import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AnsweredRequest } from '../../http/ports.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { isPassing } from '../../platform/db/index.ts';
import type { Logger } from '../../platform/logger.ts';
import { Sampler } from './rules.ts';

const PAUSE_MS = 1000;
const BATCH = 500;
/** Some 2 MB: what is held while the database is slow or away. */
const MAX_WAITING = 5000;
const CLOSE_MS = 5000;

/** One row to be. */
export interface RecordedRequest extends AnsweredRequest {
  id: string;
  at: Date;
}

/**
 * Takes requests down beside their way, and writes them in batches (docs/decisions/request-log.md): the first at
 * once, those that follow after a second, or as soon as they are 500.
 */
export interface Recorder {
  /** Never waits and never fails: what there is no room for is counted and dropped. */
  note(request: AnsweredRequest): void;
  /** Writes what is still to be written, for at most 5 seconds. */
  close(): Promise<void>;
}

interface Deps {
  /** May be repeated with the same rows after a lost connection. */
  write(rows: readonly RecordedRequest[]): Promise<void>;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  /** So many rows are lost. */
  onDropped(count: number): void;
}

export function createRecorder(deps: Deps): Recorder {
  const { clock } = deps;
  const sampler = new Sampler();
  const buffer = new RowBuffer(deps);
  return {
    note(request) {
      const group = request.keyId ?? request.workspaceId;
      if (!sampler.admits(group, request.status >= 400, clock.ms())) return;
      buffer.add({ ...request, id: newId('req'), at: clock.now() });
    },
    async close() {
      await Promise.race([buffer.close(), sleep(CLOSE_MS, undefined, { ref: false })]);
    },
  };
}

class RowBuffer {
  readonly #deps: Deps;
  /** A batch belongs to no request, so it runs in no transaction of one. */
  readonly #outside = AsyncLocalStorage.snapshot();
  #waiting: RecordedRequest[] = [];
  #timer: NodeJS.Timeout | undefined;
  #nextMs = 0;
  #writing: Promise<void> | null = null;
  #isFailing = false;
  #isClosed = false;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  add(row: RecordedRequest): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#deps.onDropped(1);
      return;
    }
    this.#waiting.push(row);
    // While the database is away, the timer tries again and not every request.
    if (this.#waiting.length >= BATCH && !this.#isFailing) void this.#write();
    else this.#schedule();
  }

  async close(): Promise<void> {
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
      this.#nextMs = performance.now() + PAUSE_MS;
      if (this.#waiting.length > 0) this.#schedule();
    });
    return this.#writing;
  }

  /** What waits, and whole batches that have come meanwhile. */
  async #writeBatches(): Promise<void> {
    do {
      const batch = this.#waiting.slice(0, BATCH);
      if (batch.length === 0) return;
      try {
        await this.#deps.write(batch);
        this.#isFailing = false;
      } catch (error) {
        this.#failed(error);
        // They stay for the next try, as long as there is room.
        if (isPassing(error)) return;
        this.#deps.onDropped(batch.length);
      }
      this.#waiting = this.#waiting.slice(batch.length);
    } while (this.#waiting.length >= BATCH);
  }

  #failed(error: unknown): void {
    if (!this.#isFailing) this.#deps.log.warn({ err: error }, 'the request log could not be written');
    this.#isFailing = true;
  }
}
