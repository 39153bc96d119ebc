import { randomBytes } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../kernel/clock.ts';
import { makeFolder, orNull } from './disk-files.ts';

/** Time without writes after which a file counts as left by a killed process. */
const STALE_MS = 86_400_000;

/** A folder for files on their way. */
export interface TempDir {
  /** The path of a file that does not exist yet. */
  name(): Promise<string>;
}

export function createTempDir(dir: string): TempDir {
  let ready: Promise<void> | null = null;
  const prepare = async () => {
    await makeFolder(dir);
    for (const name of await readdir(dir)) {
      const found = await orNull(stat(join(dir, name)));
      const isStale = found !== null && systemClock.ms() - found.mtimeMs > STALE_MS;
      if (isStale) await rm(join(dir, name), { force: true });
    }
  };
  return {
    async name() {
      ready ??= prepare().catch((error: unknown) => {
        ready = null;
        throw error;
      });
      await ready;
      return join(dir, randomBytes(12).toString('hex'));
    },
  };
}
