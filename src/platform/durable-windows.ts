import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from 'postgres';
import { addHits, purgeWindows, readWindows, type StoredWindow } from './db/counter-windows.ts';
import type { Window, WindowJournal } from './fixed-window-counter.ts';
import type { Logger } from './logger.ts';
import type { Secrets } from './secrets.ts';

/** Interval between two writes, and so what a crash forgives at most. */
export const FLUSH_MS = 10_000;
/** Rows of one statement: some 10 ms. */
const BATCH_ROWS = 1000;
const CLOSE_MS = 5000;
/** Length of a stored key, with as many bits as `counterKey` has. */
const KEY_LENGTH = 22;

/** Stores in the database what counters count in memory (docs/decisions/rate-limits.md#restarts). */
export interface DurableWindows {
  /** Returns the journal of the counter of this name. */
  journal(name: string): WindowJournal;
  /** Reads what earlier processes stored. A failure is logged: counts then follow with the next flush. */
  load(): Promise<void>;
  /** Adds new hits to those in the database and takes over what other processes counted. A failure is logged. */
  flush(): Promise<void>;
  /** Flushes for at most 5 seconds. */
  close(): Promise<void>;
}

interface Deps {
  sql: Sql;
  secrets: Pick<Secrets, 'sign'>;
  log: Pick<Logger, 'warn'>;
  /** Epoch milliseconds. */
  nowMs(): number;
}

export function createDurableWindows({ sql, secrets, log, nowMs }: Deps): DurableWindows {
  const journals = new Map<string, Journal>();
  let flushing: Promise<void> | null = null;
  let isFailing = false;

  const journal = (name: string): Journal => {
    const keyOf = (key: string) => secrets.sign('counter window', `${name} ${key}`).slice(0, KEY_LENGTH);
    const found = journals.get(name) ?? new Journal(keyOf);
    journals.set(name, found);
    return found;
  };
  const writeAll = async () => {
    for (const [name, one] of journals) {
      for (const batch of one.batches(nowMs))
        one.settle(batch, await addHits(sql, name, batch.rows, nowMs()));
    }
  };
  const flush = () => {
    flushing ??= writeAll()
      .then(
        () => {
          isFailing = false;
        },
        (error: unknown) => {
          if (!isFailing) log.warn({ err: error }, 'counts could not be stored; will retry');
          isFailing = true;
        },
      )
      .finally(() => {
        flushing = null;
      });
    return flushing;
  };
  const read = async () => {
    await purgeWindows(sql, nowMs());
    for await (const { name, window } of readWindows(sql, nowMs())) journal(name).restore(window);
  };
  return {
    journal,
    flush,
    load: () => read().catch((error: unknown) => log.warn({ err: error }, 'stored counts could not be read')),
    async close() {
      const flushed = (flushing ?? Promise.resolve()).then(flush);
      await Promise.race([flushed, sleep(CLOSE_MS, undefined, { ref: false })]);
    },
  };
}

/** Hits of a window that the database does not have yet. */
interface PendingHits {
  window: Window;
  hits: number;
}

/** Rows that are being written, and what each is made of. */
interface Batch {
  rows: StoredWindow[];
  pending: Map<string, { key: string; entry: PendingHits; sentHits: number }>;
}

class Journal implements WindowJournal {
  /** Hides addresses and emails, which keys are made of. */
  readonly #storedKeyOf: (key: string) => string;
  /** Windows of earlier processes that have not been requested yet, by their stored key. */
  readonly #restored = new Map<string, Window>();
  /** At most one entry for each window in memory. */
  readonly #pending = new Map<string, PendingHits>();

  constructor(storedKeyOf: (key: string) => string) {
    this.#storedKeyOf = storedKeyOf;
  }

  find(key: string): Window | undefined {
    if (this.#restored.size === 0) return undefined;
    const storedKey = this.#storedKeyOf(key);
    const found = this.#restored.get(storedKey);
    this.#restored.delete(storedKey);
    return found;
  }

  record(key: string, window: Window): void {
    const entry = this.#pending.get(key);
    // Hits of an ended window are no longer needed.
    if (entry?.window === window) entry.hits += 1;
    else this.#pending.set(key, { window, hits: 1 });
  }

  discard(key: string): void {
    this.#pending.delete(key);
  }

  restore({ key, endsAtMs, hits }: StoredWindow): void {
    this.#restored.set(key, { count: hits, endsAtMs });
  }

  /** Yields the rows to write now; hits that arrive during the flush belong to the next one. */
  *batches(nowMs: () => number): Generator<Batch> {
    this.#forgetRestored(nowMs());
    const entries = [...this.#pending];
    for (let from = 0; from < entries.length; from += BATCH_ROWS) {
      const batch: Batch = { rows: [], pending: new Map() };
      for (const [key, entry] of entries.slice(from, from + BATCH_ROWS)) {
        const { endsAtMs } = entry.window;
        if (endsAtMs <= nowMs()) {
          this.#drop(key, entry);
          continue;
        }
        const storedKey = this.#storedKeyOf(key);
        batch.rows.push({ key: storedKey, endsAtMs, hits: entry.hits });
        batch.pending.set(storedKey, { key, entry, sentHits: entry.hits });
      }
      if (batch.rows.length > 0) yield batch;
    }
  }

  /** Takes over the windows as they are stored now. */
  settle(batch: Batch, stored: readonly StoredWindow[]): void {
    for (const { key: storedKey, endsAtMs, hits } of stored) {
      const sent = batch.pending.get(storedKey);
      if (sent === undefined) continue;
      const { key, entry, sentHits } = sent;
      const { window } = entry;
      entry.hits -= sentHits;
      const count = hits + entry.hits;
      // Less than was known is left of a window only when its row was purged.
      window.count = window.endsAtMs === endsAtMs ? Math.max(window.count, count) : count;
      window.endsAtMs = endsAtMs;
      if (entry.hits === 0) this.#drop(key, entry);
    }
  }

  #drop(key: string, entry: PendingHits): void {
    if (this.#pending.get(key) === entry) this.#pending.delete(key);
  }

  /** They come in the order in which they end. */
  #forgetRestored(nowMs: number): void {
    for (const [key, { endsAtMs }] of this.#restored) {
      if (endsAtMs > nowMs) return;
      this.#restored.delete(key);
    }
  }
}
