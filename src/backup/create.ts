import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress } from 'node:zlib';
import type { Sql } from 'postgres';
import type { Clock } from '../kernel/clock.ts';
import type { BlobStore } from '../media/contract/index.ts';
import { type Snapshot, withBackupLock, withSnapshot } from '../platform/db/dump.ts';
import { createHashingStream, listBackups, type Manifest, tableKey, writeManifest } from './layout.ts';
import { createMediaCopy } from './media.ts';
import { prune } from './prune.ts';

interface BackupOptions {
  sql: Sql;
  store: BlobStore;
  dataDir: string;
  target: BlobStore;
  /** Fingerprint of the secret key, which is not in the backup. */
  fingerprint: string;
  clock: Clock;
  /** Number of backups to retain, including this one. Default: all. */
  keep: number | undefined;
}

export interface BackupReport {
  id: string;
  rows: number;
  files: number;
  sizeBytes: number;
  /** Content that was not there yet. */
  copied: { files: number; sizeBytes: number };
  /** Backups that were removed. */
  pruned: string[];
}

/**
 * Creates a backup while the platform runs (docs/guides/operations.md#backup). Media are copied before and
 * after the database: the row of a file removed in between is deleted before the snapshot, and the second
 * pass finds new files.
 *
 * @throws {Error} with one line; the next backup removes partial files.
 */
export function createBackup(options: BackupOptions): Promise<BackupReport> {
  const { sql, store, dataDir, target, fingerprint, clock, keep } = options;
  return withBackupLock(sql, async () => {
    const startedAt = clock.now().toISOString();
    // They sort by the time, also two of one second.
    const id = `${startedAt.slice(0, -1).replaceAll(/[:.]/g, '-')}-${randomBytes(2).toString('hex')}`;
    const before = (await listBackups(target)).whole.at(-1) ?? null;
    const media = await createMediaCopy({ id, store, dataDir, target, before });
    await media.pass();
    const database = await dump(sql, target, id);
    await media.pass();
    const list = await media.writeList();
    const finishedAt = clock.now().toISOString();
    const said = { format: 1, id, startedAt, finishedAt, secretKey: fingerprint } as const;
    await writeManifest(target, { ...said, ...database, media: list });
    const { files, sizeBytes } = list;
    const rows = database.tables.reduce((sum, table) => sum + table.rows, 0);
    return { id, rows, files, sizeBytes, copied: media.copied, pruned: await prune(target, keep) };
  });
}

type Database = Pick<Manifest, 'migrations' | 'tables' | 'sequences'>;

async function dump(sql: Sql, target: BlobStore, id: string): Promise<Database> {
  const dumped: Database = { migrations: [], tables: [], sequences: [] };
  await withSnapshot(sql, async (snapshot) => {
    const { migrations, sequences } = snapshot;
    Object.assign(dumped, { migrations, sequences });
    for (const table of snapshot.tables) {
      const written = await dumpTable(snapshot, table, target, id);
      if (written !== null) dumped.tables.push(written);
    }
  });
  return dumped;
}

/** @returns null for a table without rows, of which there is no file. */
async function dumpTable(
  snapshot: Snapshot,
  table: Snapshot['tables'][number],
  target: BlobStore,
  id: string,
): Promise<Manifest['tables'][number] | null> {
  const rows = (await snapshot.rowsOf(table))[Symbol.asyncIterator]();
  const first = await rows.next();
  if (first.done === true) return null;
  const all = async function* () {
    yield first.value;
    yield* rows;
  };
  const plain = createHashingStream();
  const packed = createHashingStream();
  const passed = pipeline(Readable.from(all()), plain, createZstdCompress(), packed);
  await Promise.all([target.put(tableKey(id, table.name), packed, 'application/zstd'), passed]);
  return {
    name: table.name,
    columns: table.columns.map(({ name }) => name),
    rows: plain.lines,
    sizeBytes: packed.sizeBytes,
    sha256: packed.digest(),
  };
}
