import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import type { Config } from '../../platform/config.ts';
import { readEmbeddedUrl } from '../../platform/db/embedded.ts';
import { acquireInstanceLock } from '../../platform/instance-lock.ts';
import { connectOrStartServer, type Disposers } from '../database-server.ts';
import { type CheckContext, type CheckResult, problem, reasonOf } from './check-result.ts';
import { machineChecks } from './machine.ts';
import { serviceChecks } from './services.ts';

/**
 * Checks everything the platform depends on (docs/guides/operations.md#doctor), without changing anything.
 */
export async function runChecks(config: Config, clock: Clock, closers: Disposers): Promise<CheckResult[]> {
  const isRunning = readEmbeddedUrl(config.DATA_DIR) !== null || isLocked(config.DATA_DIR);
  const database = await findDatabase(config, closers);
  const examined: CheckContext = { config, clock, isRunning, database };
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
    // A separate check reports an unwritable folder.
    return error instanceof Error && error.message.startsWith('another ');
  }
}

async function findDatabase(config: Config, closers: Disposers): Promise<CheckContext['database']> {
  if (config.DATABASE_URL === undefined && !existsSync(join(config.DATA_DIR, 'postgres'))) return null;
  try {
    return { url: await connectOrStartServer(config, closers) };
  } catch (failure) {
    return { failure };
  }
}
