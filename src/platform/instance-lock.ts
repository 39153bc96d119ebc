import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const SQLITE_BUSY = 5;
/** One that was killed is gone by then. */
const LEAVING_MS = 1000;

export interface InstanceLock {
  release(): void;
}

/**
 * Makes this process the only one on a data folder. SQLite's exclusive transaction is a lock of the operating
 * system (`fcntl`): it vanishes with the process, `kill -9` included, and children do not inherit it.
 *
 * @throws {Error} one line naming the folder, when another process holds it or it cannot be written.
 */
export function acquireInstanceLock(dataDir: string): InstanceLock {
  const path = join(dataDir, 'instance.lock');
  let file: DatabaseSync | undefined;
  try {
    mkdirSync(dataDir, { recursive: true });
    file = new DatabaseSync(path, { timeout: LEAVING_MS });
    file.exec('begin exclusive');
  } catch (error) {
    file?.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) {
      throw new Error(`another Marquee process already runs on ${dataDir}`, { cause: error });
    }
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`DATA_DIR ${dataDir} cannot be used: ${reason}`, { cause: error });
  }
  const held = file;
  return { release: () => held.close() };
}
