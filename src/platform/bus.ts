import { randomUUID } from 'node:crypto';
import type { Sql } from 'postgres';
import { afterCommit } from './db/shared-transaction.ts';
import type { Logger } from './logger.ts';

type Listener = (payload: string) => void;

/**
 * Hints between processes over PostgreSQL's LISTEN/NOTIFY. A hint only means "look now": subscribers also
 * poll, because a hint may be lost with its connection.
 */
export interface Bus {
  /**
   * Delivers a hint to this process immediately and to the others after one round trip. Must not be called in
   * a transaction; in one that the whole request shares, the hint waits for the commit by itself.
   */
  publish(topic: string, payload?: string): void;
  /** @returns the function that ends the subscription. */
  subscribe(topic: string, listener: Listener): () => void;
  close(): Promise<void>;
}

const CHANNEL = 'marquee';

export async function createBus(sql: Sql, log: Logger): Promise<Bus> {
  const listeners = new Map<string, Set<Listener>>();
  const self = randomUUID();
  const pending = new Set<string>();
  let flushing: Promise<void> | null = null;

  const emit = (topic: string, payload: string) => {
    for (const listener of listeners.get(topic) ?? []) listener(payload);
  };
  const subscription = await sql.listen(CHANNEL, (message) => {
    const [origin = '', topic = '', ...rest] = message.split('\n');
    if (origin !== self) emit(topic, rest.join('\n'));
  });

  // One transaction at a time with all that waits, equal hints coalesced: NOTIFY takes a global lock at commit
  // (docs/decisions/database.md#hints-between-processes).
  const flush = async () => {
    try {
      while (pending.size > 0) {
        const messages = [...pending].map((message) => `${self}\n${message}`);
        pending.clear();
        await sql`select pg_notify(${CHANNEL}, message) from unnest(${messages}::text[]) message`;
      }
    } catch (error) {
      log.warn({ err: error }, 'a notification to the other processes was lost');
    } finally {
      // Reset in the same turn as the last check of `pending`, so that no hint is missed in between.
      flushing = null;
    }
  };

  const publish = (topic: string, payload: string) => {
    emit(topic, payload);
    pending.add(`${topic}\n${payload}`);
    flushing ??= flush();
  };

  return {
    publish: (topic, payload = '') => afterCommit(() => publish(topic, payload)),
    subscribe(topic, listener) {
      const set = listeners.get(topic) ?? new Set();
      listeners.set(topic, set.add(listener));
      return () => set.delete(listener);
    },
    async close() {
      await flushing;
      await subscription.unlisten();
    },
  };
}
