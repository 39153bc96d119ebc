import { setTimeout as sleep } from 'node:timers/promises';
import { sqlState } from '../../../../platform/db/index.ts';
import type { Logger } from '../../../../platform/logger.ts';
import { type FinishDeps, finishCounted } from './record-results.ts';
import type { Finish } from './repository.ts';

const BATCH = 500;
/** Maximum characters of response bodies in one statement, which the last one may exceed. */
const BATCH_CHARACTERS = 2_000_000;
const RETRY_FIRST_MS = 50;
const RETRY_MAX_MS = 1000;
/** Failures of the server or of the connection rather than of the statement's data. */
const TRANSIENT = /^(08|40|53|55|57|58|XX)/;

export interface FinisherOptions extends FinishDeps {
  log: Logger;
  /** After this time the lease is lost and finishing has no use. */
  giveUpAfterMs: number;
  /** Called for each batch with the jobs that were finished, and how many had lost their lease. */
  onFinished: (batch: readonly Finish[], lost: number) => void;
}

interface Waiting {
  item: Finish;
  giveUpAt: number;
}

/**
 * Finishes attempts in batches: one statement runs at a time and takes everything queued during the previous
 * one, so that an idle worker finishes immediately and a busy one pays a small part of a statement
 * (docs/decisions/events-and-deliveries.md#batches).
 */
export class ResultWriter {
  readonly #options: FinisherOptions;
  #queue: Waiting[] = [];
  #running: Promise<void> | null = null;

  constructor(options: FinisherOptions) {
    this.#options = options;
  }

  add(item: Finish): void {
    this.#queue.push({ item, giveUpAt: performance.now() + this.#options.giveUpAfterMs });
    this.#running ??= this.#run();
  }

  /** Resolves when all queued items are finished or abandoned. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#take();
      const lost = await this.#finish(batch);
      this.#options.onFinished(
        batch.map(({ item }) => item),
        lost,
      );
    }
    // Reset in the same tick as the last check of the queue, or an item added in between would wait for the
    // next.
    this.#running = null;
  }

  #take(): Waiting[] {
    let characters = 0;
    const end = this.#queue.findIndex(({ item }, n) => {
      if (n === BATCH || characters >= BATCH_CHARACTERS) return true;
      characters += item.log?.responseBody?.length ?? 0;
      return false;
    });
    return this.#queue.splice(0, end === -1 ? this.#queue.length : end);
  }

  /** @returns the number of jobs whose lease was lost. */
  async #finish(batch: Waiting[]): Promise<number> {
    for (let delayMs = RETRY_FIRST_MS; ; delayMs = Math.min(delayMs * 2, RETRY_MAX_MS)) {
      const items = batch.map(({ item }) => item);
      try {
        const done = await finishCounted(this.#options, items);
        return items.length - done.length;
      } catch (error) {
        const state = sqlState(error);
        if (state !== undefined && !TRANSIENT.test(state)) return this.#isolate(batch, error);
        if (batch.every(({ giveUpAt }) => giveUpAt <= performance.now())) {
          this.#options.log.error(
            { err: error, count: batch.length },
            'the results of deliveries could not be stored',
          );
          return batch.length;
        }
        await sleep(delayMs);
      }
    }
  }

  /** One row that the database refuses must not hold up its batch, nor be retried for ever. */
  async #isolate(batch: Waiting[], error: unknown): Promise<number> {
    const [only, ...others] = batch;
    if (only === undefined) return 0;
    if (others.length > 0) {
      const half = Math.ceil(batch.length / 2);
      return (await this.#finish(batch.slice(0, half))) + (await this.#finish(batch.slice(half)));
    }
    const { log } = only.item;
    this.#options.log.error({ err: error, job: only.item.job }, 'a delivery row was rejected');
    if (log === null || (log.responseBody === null && log.errorMessage === null)) return 1;
    const bare = {
      ...log,
      responseBody: null,
      errorMessage: log.errorMessage === null ? null : 'unreadable',
    };
    return this.#finish([{ ...only, item: { ...only.item, log: bare } }]);
  }
}
