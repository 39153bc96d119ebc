import { setTimeout as sleep } from 'node:timers/promises';

/** Request that writes to an upload. */
export interface Writer {
  /** `performance.now()` since which it waits for bytes; null while it is processing some. */
  silentSince: number | null;
  /** Ends the writer: its connection is closed, the bytes received are retained. */
  abort(): void;
}

/** Silence after which the next writer considers the connection of the current one lost. */
const SILENT_MS = 1500;
/** Time that the next writer waits for an active one. */
const PATIENCE_MS = 5000;

/**
 * The writers of this process, at most one for each upload. A client that has lost its connection comes back
 * before the server has noticed: it takes over from a silent writer, and waits for what that one has stored.
 */
export interface Writers {
  /**
   * Waits for the writer's turn.
   *
   * @returns null when another writer is still active after the wait.
   */
  enter(id: string, writer: Writer): Promise<{ leave(): void } | null>;
  /**
   * Waits until there is no writer, after ending a silent one.
   *
   * @returns false when a writer remains.
   */
  waitForEnd(id: string, patienceMs: number): Promise<boolean>;
  abort(id: string): void;
  /** Ends a silent writer, because another process wants to write. */
  makeWay(id: string): void;
  abortAll(): void;
}

export function createWriters(): Writers {
  const active = new Map<string, Writer & { gone: Promise<void> }>();

  const waitForEnd = async (id: string, patienceMs: number): Promise<boolean> => {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const writer = active.get(id);
      if (writer === undefined) return true;
      const now = performance.now();
      const silentIn = (writer.silentSince ?? now) + SILENT_MS - now;
      if (silentIn <= 0) {
        writer.abort();
        await writer.gone;
        continue;
      }
      if (now >= deadline) return false;
      const waited = new AbortController();
      const wait = sleep(Math.min(silentIn, deadline - now), undefined, {
        signal: waited.signal,
        ref: false,
      });
      await Promise.race([writer.gone, wait.catch(() => {})]);
      waited.abort();
    }
  };

  return {
    waitForEnd,
    async enter(id, writer) {
      do if (!(await waitForEnd(id, PATIENCE_MS))) return null;
      while (active.has(id));
      const { promise: gone, resolve } = Promise.withResolvers<void>();
      active.set(id, Object.assign(writer, { gone }));
      return {
        leave() {
          active.delete(id);
          resolve();
        },
      };
    },
    abort: (id) => active.get(id)?.abort(),
    makeWay(id) {
      const writer = active.get(id);
      const silentSince = writer?.silentSince ?? Number.POSITIVE_INFINITY;
      if (performance.now() - silentSince >= SILENT_MS) writer?.abort();
    },
    abortAll() {
      for (const writer of active.values()) writer.abort();
    },
  };
}
