import { createWriteStream } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Sql } from 'postgres';
import { contentTypeOf } from '../kernel/media-keys.ts';
import type { BlobStore } from '../media/contract/index.ts';
import { claimForRestore, loadTables } from '../platform/db/load.ts';
import { knownMigrations, migrate } from '../platform/db/migrate.ts';
import { hasOlderMigrations, OLDER_BACKUP_REMEDY } from '../platform/db/older-migrations.ts';
import { forEachConcurrent } from './for-each-concurrent.ts';
import { blobKey, createHashingStream, type Manifest, type MediaFile } from './layout.ts';
import { discardStream, mediaListOf, readMediaList, readVerified, tableOf } from './read-backup.ts';
import { isDataPath } from './sources.ts';

const PARALLEL = 4;

interface RestoreOptions {
  sql: Sql;
  store: BlobStore;
  dataDir: string;
  target: BlobStore;
  manifest: Manifest;
  /** Fingerprint of the secret key that the platform will have. */
  fingerprint: string;
}

export interface RestoreReport {
  id: string;
  /** Start of the backup: data acknowledged later is lost. */
  startedAt: string;
  rows: number;
  files: number;
  /** Files that were not there with this content already. */
  copied: number;
  /** Migrations that are newer than the backup. */
  applied: string[];
}

/**
 * Restores a backup into an installation without a database (docs/guides/operations.md#restore). After an
 * interruption it can be called again, and no other process uses the database until the restore is complete.
 *
 * @throws {Error} with one line that names the obstacle or the damage.
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  const { sql, target, manifest, fingerprint } = options;
  const { id, startedAt, migrations, tables, sequences } = manifest;
  if (manifest.secretKey !== fingerprint) {
    throw new Error(
      'the secret key does not match the backup, so encrypted data could not be read; provide the key used for the backup',
    );
  }
  if (hasOlderMigrations(migrations)) {
    throw new Error(`the backup is too old for this version: ${OLDER_BACKUP_REMEDY}`);
  }
  const known = await knownMigrations();
  const unknown = migrations.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new Error(
      `the backup is newer than this program, which does not support ${unknown}: update the program first`,
    );
  }
  await claimForRestore(sql, migrations);
  await readVerified(target, mediaListOf(manifest), discardStream());
  const copied = await restoreMedia(options);
  await migrate(sql, migrations);
  await loadTables(sql, { tables, sequences }, (table, into) =>
    readVerified(target, tableOf(manifest, table), into),
  );
  const applied = await migrate(sql);
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  return { id, startedAt, rows, files: manifest.media.files, copied, applied };
}

async function restoreMedia(options: RestoreOptions): Promise<number> {
  const { target, manifest } = options;
  let copied = 0;
  await forEachConcurrent(readMediaList(target, manifest.id), PARALLEL, async (file) => {
    const isNew = file.place === 'STORE' ? await storeFile(options, file) : await dataFile(options, file);
    if (isNew) copied += 1;
  });
  return copied;
}

/** Skips files that already exist, in a bucket that was not lost or after an interrupted restore. */
async function storeFile({ store, target }: RestoreOptions, file: MediaFile): Promise<boolean> {
  const { key, etag, sizeBytes, sha256 } = file;
  const there = await store.head(key);
  if (there?.etag === etag && there.sizeBytes === sizeBytes) return false;
  if (there?.sizeBytes === sizeBytes && (await hashOf(store, key)) === sha256) return false;
  const content = new PassThrough();
  const blob = { key: blobKey(sha256), sizeBytes, sha256, isCompressed: false };
  const stored = store.put(key, content, contentTypeOf(key));
  await Promise.all([stored, readVerified(target, blob, content)]).catch(async (error: unknown) => {
    content.destroy();
    await stored.catch(() => {});
    throw error;
  });
  return true;
}

async function hashOf(store: BlobStore, key: string): Promise<string | null> {
  const file = await store.open(key);
  if (file === null) return null;
  const measured = createHashingStream();
  await pipeline(file.body, measured, discardStream());
  return measured.digest();
}

async function dataFile({ dataDir, target }: RestoreOptions, file: MediaFile): Promise<boolean> {
  const { key, sizeBytes, sha256 } = file;
  if (!isDataPath(key)) throw new Error(`the backup contains a file that does not belong to Marquee: ${key}`);
  const path = join(dataDir, key);
  await mkdir(dirname(path), { recursive: true });
  const blob = { key: blobKey(sha256), sizeBytes, sha256, isCompressed: false };
  await readVerified(target, blob, createWriteStream(`${path}.restored`, { flush: true }));
  await rename(`${path}.restored`, path);
  return true;
}
