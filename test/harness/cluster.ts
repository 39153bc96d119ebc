import { execFile } from 'node:child_process';
import { access, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { migrationsHash } from './migrations.ts';

const CLUSTERS = join(import.meta.dirname, '../../.cache/test-clusters');

const run = promisify(execFile);

/**
 * Copies the database of a started platform into an empty data folder, in a tenth of the time of the first
 * start.
 */
export async function seedCluster(dataDir: string): Promise<void> {
  if (await isThere(dataDir, 'postgres.json')) return;
  const cluster = await migratedCluster();
  await mkdir(dataDir, { recursive: true });
  // Preserve the owner, who is a different user if the tests run as root.
  for (const name of ['postgres', 'postgres.json']) await run('cp', ['-a', join(cluster, name), dataDir]);
}

/**
 * Creates the cluster once for each state of the migrations; several test processes may create it
 * concurrently.
 */
async function migratedCluster(): Promise<string> {
  const name = await migrationsHash();
  const folder = join(CLUSTERS, name);
  if (await isThere(folder, 'postgres.json')) return folder;
  const made = join(CLUSTERS, `${name}.${process.pid}`);
  await makeCluster(made);
  await rename(made, folder).catch(() => rm(made, { recursive: true, force: true }));
  const old = (await readdir(CLUSTERS)).filter((other) => !other.startsWith(name));
  for (const other of old) await rm(join(CLUSTERS, other), { recursive: true, force: true });
  return folder;
}

async function makeCluster(dataDir: string): Promise<void> {
  // Loaded only here: they take most of a second, and are mostly not needed.
  const [{ startEmbeddedPostgres }, { openDatabase }, { migrate }, { createLogger }] = await Promise.all([
    import('../../src/platform/db/embedded.ts'),
    import('../../src/platform/db/index.ts'),
    import('../../src/platform/db/migrate.ts'),
    import('../../src/platform/logger.ts'),
  ]);
  const settings = { fsync: 'off', wal_recycle: 'off', wal_init_zero: 'off' };
  const server = await startEmbeddedPostgres({ dataDir, log: createLogger('silent'), settings });
  const database = openDatabase({ url: server.url, pool: 2, name: 'seed' });
  await migrate(database.sql).finally(() => database.close());
  await server.stop();
}

function isThere(folder: string, name: string): Promise<boolean> {
  return access(join(folder, name)).then(
    () => true,
    () => false,
  );
}
