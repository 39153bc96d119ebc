import type { Redis } from 'ioredis';
import type { Logger } from './logger.ts';

/** Longer than a command ever takes; an answer that waits for a lost store still arrives within 100 ms. */
const ANSWER_MS = 80;
/** Timeout for opening a connection, and for its first commands. */
const CONNECT_MS = 1_000;
/** Pause between attempts to reconnect after the first; a lost store gets no requests during the pause. */
const RECONNECT_MS = 1_000;

/** Valkey or Redis, for what nodes share and may lose: counters and leases. */
export interface RedisStore {
  /**
   * Runs commands when the store is available.
   *
   * @returns null immediately while it is known to be unavailable, and within 80 ms when an outage is
   *   detected. Nothing is queued: commands that could not be sent are never sent later.
   */
  attempt<T>(commands: (client: Redis) => Promise<T>): Promise<T | null>;
  /** Client for libraries that hold one; use it inside `attempt`. */
  readonly client: Redis;
  close(): Promise<void>;
}

/**
 * Connects, and reconnects without limit. Resolves once the store answers, or after a second without it.
 *
 * @param url `redis://` or `rediss://`, with a password and a database number where there are any.
 */
export async function openRedis({ url, log }: { url: string; log: Logger }): Promise<RedisStore> {
  // Loaded only where there is a store.
  const { Redis: Client } = await import('ioredis');
  const client = new Client(url, {
    connectionName: 'marquee',
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: CONNECT_MS,
    connectTimeout: CONNECT_MS,
    disconnectTimeout: ANSWER_MS,
    retryStrategy: (times) => (times === 1 ? 0 : RECONNECT_MS),
  });
  const { host, port } = client.options;
  let up = false;
  client.on('ready', () => {
    up = true;
    log.info({ host, port }, 'the counter store is available again');
  });
  const lost = (error: Error | undefined) => {
    if (up)
      log.warn({ err: error, host, port }, 'the counter store is unavailable; limits apply per process');
    up = false;
  };
  client.on('close', () => lost(undefined));
  // The library writes each failed attempt to the console if there is no listener.
  client.on('error', (error) => log.debug({ err: error, host, port }, 'the counter store does not respond'));

  await firstAnswer(client, log);
  return {
    client,
    async attempt(commands) {
      if (!up) return null;
      try {
        return await inTime(commands(client));
      } catch (error) {
        lost(error instanceof Error ? error : undefined);
        // A store that is frozen keeps its connection: a new one shows when it is back.
        client.stream.destroy();
        return null;
      }
    },
    async close() {
      up = false;
      client.disconnect();
    },
  };
}

/** Rejects after 80 ms, unless the answer had arrived and only this process was too busy to read it. */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => setImmediate(late.reject, new Error('no response in time')), ANSWER_MS);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function firstAnswer(client: Redis, log: Logger): Promise<void> {
  const answered = Promise.withResolvers<boolean>();
  const timer = setTimeout(answered.resolve, CONNECT_MS, false);
  client.once('ready', () => answered.resolve(true));
  if (!(await answered.promise)) log.warn('the Redis server at REDIS_URL does not respond');
  clearTimeout(timer);
}
