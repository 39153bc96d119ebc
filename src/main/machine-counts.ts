import type { Clock } from '../kernel/clock.ts';
import type { Config } from '../platform/config.ts';
import { attachCountServer, type ChildChannel, createCountServer } from '../platform/count-server.ts';
import { openDatabase } from '../platform/db/index.ts';
import { createDurableWindows, FLUSH_MS } from '../platform/durable-windows.ts';
import type { Logger } from '../platform/logger.ts';
import { createSecrets } from '../platform/secrets.ts';

/** Counts of all processes of this machine, in the first one (docs/decisions/rate-limits.md#processes-of-one-machine). */
export interface MachineCounts {
  /** Lets a forked process count here. It must receive its channel as `Settings.parent`. */
  attach(child: ChildChannel): void;
  /** Stores the counts. Call it after the children have ended and before the database stops. */
  close(): Promise<void>;
}

interface Options {
  config: Config;
  /** A migrated database. */
  databaseUrl: string;
  secretKey: Buffer;
  clock: Clock;
  log: Logger;
}

/**
 * Reads the stored counts; call it before the children listen.
 *
 * @returns null with Redis, where all processes count.
 */
export async function openMachineCounts(options: Options): Promise<MachineCounts | null> {
  const { config, databaseUrl: url, secretKey, clock, log } = options;
  if (config.REDIS_URL !== undefined) return null;
  const database = openDatabase({
    url,
    pool: 1,
    name: 'marquee counts',
    deadlineMs: config.DATABASE_DEADLINE_MS,
  });
  const nowMs = () => clock.ms();
  const secrets = createSecrets(secretKey);
  const durable = createDurableWindows({ sql: database.sql, secrets, log, nowMs });
  const server = createCountServer({ nowMs, durable });
  await durable.load();
  const timer = setInterval(() => void durable.flush(), FLUSH_MS).unref();
  return {
    attach: (child) => attachCountServer(server, child),
    async close() {
      clearInterval(timer);
      await durable.close();
      await database.close();
    },
  };
}
