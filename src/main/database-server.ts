import type { Config } from '../platform/config.ts';
import { readEmbeddedUrl, startEmbeddedPostgres } from '../platform/db/embedded.ts';
import { acquireInstanceLock } from '../platform/instance-lock.ts';
import { createLogger } from '../platform/logger.ts';

/** Cleanup functions of a command, run in reverse order. */
export type Disposers = (() => Promise<void> | void)[];

/** The database of the platform, whether it runs or not: where it does not, a command starts it for its own time. */
export async function connectOrStartServer(config: Config, closers: Disposers): Promise<string> {
  return config.DATABASE_URL ?? readEmbeddedUrl(config.DATA_DIR) ?? (await startOwnServer(config, closers));
}

/** @throws {Error} one line, when the platform runs on this data folder. */
export async function startOwnServer(config: Config, closers: Disposers): Promise<string> {
  const lock = acquireInstanceLock(config.DATA_DIR);
  closers.push(() => lock.release());
  if (config.DATABASE_URL !== undefined) return config.DATABASE_URL;
  const postgres = await startEmbeddedPostgres({ dataDir: config.DATA_DIR, log: createLogger('silent') });
  closers.push(() => postgres.stop());
  return postgres.url;
}
