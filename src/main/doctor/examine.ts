import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import type { Config } from '../../platform/config.ts';
import { readEmbeddedUrl } from '../../platform/db/embedded.ts';
import { acquireInstanceLock } from '../../platform/instance-lock.ts';
import { type Closers, reachServer } from '../database-server.ts';
import { type Examined, type Finding, problem, reasonOf } from './finding.ts';
import { machineChecks } from './machine.ts';
import { serviceChecks } from './services.ts';

/** Looks at all that the platform stands on (docs/guides/operating.md#doctor), and changes nothing. */
export async function examine(config: Config, clock: Clock, closers: Closers): Promise<Finding[]> {
  const isRunning = readEmbeddedUrl(config.DATA_DIR) !== null || isLocked(config.DATA_DIR);
  const database = await findDatabase(config, closers);
  const examined: Examined = { config, clock, isRunning, database };
  const found = await Promise.all(
    [...machineChecks, ...serviceChecks].map((check) =>
      check(examined).catch((error: unknown) => [
        problem('doctor', reasonOf(error), 'report it: this is a bug in Marquee'),
      ]),
    ),
  );
  return found.flat();
}

function isLocked(dataDir: string): boolean {
  try {
    acquireInstanceLock(dataDir).release();
    return false;
  } catch (error) {
    // That the folder cannot be written to is told by its own check.
    return error instanceof Error && error.message.startsWith('another ');
  }
}

async function findDatabase(config: Config, closers: Closers): Promise<Examined['database']> {
  if (config.DATABASE_URL === undefined && !existsSync(join(config.DATA_DIR, 'postgres'))) return null;
  try {
    return { url: await reachServer(config, closers) };
  } catch (failure) {
    return { failure };
  }
}
