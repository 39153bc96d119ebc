import { mkdir } from 'node:fs/promises';
import { createBackup } from '../backup/create.ts';
import { listBackups, readManifest } from '../backup/layout.ts';
import { restoreBackup } from '../backup/restore.ts';
import { verifyBackup } from '../backup/verify.ts';
import type { Result } from '../features/commands.ts';
import { optional, required, UsageError, type Values } from '../features/commands.ts';
import { systemClock } from '../kernel/clock.ts';
import { openBlobStore, openStoreAt } from '../media/storage/index.ts';
import type { Config } from '../platform/config.ts';
import { MAINTAINING } from '../platform/db/deadline.ts';
import { openDatabase } from '../platform/db/index.ts';
import { createSecrets, findSecretKey } from '../platform/secrets.ts';
import { connectOrStartServer, type Disposers, startOwnServer } from './database-server.ts';
import { type CheckResult, problem } from './doctor/check-result.ts';

/** A command of the operator that builds nothing of the program: it works where that does not start, too. */
export interface MaintenanceCommand {
  usage: string;
  /** Result for an invalid configuration. By default the command fails. */
  refused?(reason: string): Result;
  run(config: Config, values: Values, closers: Disposers): Promise<Result>;
}

/** Rows are read on one connection, while another one holds the lock. */
const POOL = 3;

function open(url: string, name: string, closers: Disposers) {
  const { sql, close } = openDatabase({ url, pool: POOL, name, bounds: MAINTAINING });
  closers.push(close);
  return sql;
}

/** Returns a fingerprint that does not reveal the key. */
async function fingerprintOf(config: Config): Promise<string> {
  const key = await findSecretKey(config);
  if (key === null) {
    throw new Error(
      `secret key not found: copy the platform's key to ${config.DATA_DIR}/secret.key, or set SECRET_KEY_FILE`,
    );
  }
  return createSecrets(key).sign('backup', 'fingerprint');
}

function keepOf(values: Values): number | undefined {
  const value = optional(values, 'keep');
  if (value !== undefined && !/^[1-9][0-9]{0,5}$/.test(value)) {
    throw new UsageError('--keep must be a positive whole number');
  }
  return value === undefined ? undefined : Number(value);
}

const backup: MaintenanceCommand = {
  usage: 'backup --to FOLDER|s3://BUCKET/PREFIX [--keep N]',
  async run(config, values, closers) {
    const to = required(values, 'to');
    const keep = keepOf(values);
    const fingerprint = await fingerprintOf(config);
    // It has what the database has: hashes of passwords, addresses of people.
    if (!to.startsWith('s3://')) await mkdir(to, { recursive: true, mode: 0o700 });
    const sql = open(await connectOrStartServer(config, closers), 'marquee backup', closers);
    const report = await createBackup({
      ...{ sql, keep, fingerprint, clock: systemClock },
      store: await openBlobStore(config),
      dataDir: config.DATA_DIR,
      target: await openStoreAt(to, config),
    });
    const { id, rows, files, sizeBytes, copied, pruned } = report;
    const text = [
      `backup ${id}: ${rows} rows, ${files} files of ${sizeBytes} bytes, of which ${copied.files} with ${copied.sizeBytes} bytes are new`,
      'The backup does not include the secret key: store it separately.',
      ...(pruned.length === 0 ? [] : [`removed ${pruned.join(', ')}`]),
    ];
    return { data: report, text: text.join('\n') };
  },
};

const backupList: MaintenanceCommand = {
  usage: 'backup list --from FOLDER|s3://BUCKET/PREFIX',
  async run(config, values) {
    const { whole } = await listBackups(await openStoreAt(required(values, 'from'), config));
    return { data: whole.map((id) => ({ id })), text: whole.join('\n') };
  },
};

const backupVerify: MaintenanceCommand = {
  usage: 'backup verify --from FOLDER|s3://BUCKET/PREFIX [--id BACKUP_ID]',
  async run(config, values) {
    const target = await openStoreAt(required(values, 'from'), config);
    const manifest = await readManifest(target, optional(values, 'id'));
    const problems = await verifyBackup(target, manifest);
    const { id, startedAt, media } = manifest;
    const data = { id, startedAt, tables: manifest.tables.length, files: media.files, problems };
    if (problems.length > 0) return { data, text: [`${id}:`, ...problems].join('\n'), isBad: true };
    return { data, text: `${id} is complete: ${data.tables} tables, ${data.files} files` };
  },
};

const restore: MaintenanceCommand = {
  usage: 'restore --from FOLDER|s3://BUCKET/PREFIX [--id BACKUP_ID]',
  async run(config, values, closers) {
    const target = await openStoreAt(required(values, 'from'), config);
    const manifest = await readManifest(target, optional(values, 'id'));
    const fingerprint = await fingerprintOf(config);
    const sql = open(await startOwnServer(config, closers), 'restore', closers);
    const report = await restoreBackup({
      ...{ sql, target, manifest, fingerprint },
      store: await openBlobStore(config),
      dataDir: config.DATA_DIR,
    });
    const { id, rows, files, startedAt } = report;
    const text = `restored ${id}: ${rows} rows, ${files} files; changes after ${startedAt} may be missing`;
    return { data: report, text };
  },
};

const doctor: MaintenanceCommand = {
  usage: 'doctor',
  refused: (reason) =>
    toCheckReport([
      problem('configuration', reason, 'correct it (docs/configuration.md) and run marquee doctor again'),
    ]),
  async run(config, _values, closers) {
    // Loaded only here, with all that it looks at.
    const { runChecks } = await import('./doctor/run-checks.ts');
    return toCheckReport(await runChecks(config, systemClock, closers));
  },
};

function toCheckReport(findings: CheckResult[]): Result {
  const lines = findings.flatMap(({ status, check, text, remedy }) => [
    `${status.padEnd(7)}  ${check}: ${text}`,
    ...(remedy === null ? [] : [`         -> ${remedy}`]),
  ]);
  const isBad = findings.some(({ status }) => status === 'PROBLEM');
  return { data: { findings }, text: lines.join('\n'), ...(isBad ? { isBad } : {}) };
}

export const maintenanceCommands: ReadonlyMap<string, MaintenanceCommand> = new Map([
  ['backup', backup],
  ['backup list', backupList],
  ['backup verify', backupVerify],
  ['restore', restore],
  ['doctor', doctor],
]);
