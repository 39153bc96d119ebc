import type { JobQueue } from '../../../jobs/job.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { AppError, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { BlobStore } from '../../../media/contract/index.ts';
import { type Db, violatedConstraint } from '../../../platform/db/index.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { ExportRow } from './exports.repository.ts';
import * as repository from './exports.repository.ts';
import { exportJob } from './jobs.ts';
import { exportKey } from './rules.ts';

/** Archives of everything that an account has (docs/concepts/me.md#data-export). */
export interface Exports {
  /** Starts an export, which replaces a finished one. @throws {AppError} CONFLICT while one is pending. */
  start(accountId: string): Promise<ExportRow>;
  /** @throws {AppError} NOT_FOUND when there is none. */
  latest(accountId: string): Promise<ExportRow>;
  /** Returns the download URL of a ready export, which needs no session; null otherwise. */
  urlOf(row: ExportRow): string | null;
  /** Returns the storage key of an export; null for an invalid or expired URL. */
  keyFor(id: string, signature: string): Promise<string | null>;
  /** Deletes expired exports. */
  cleanUp(): Promise<void>;
}

interface Deps {
  db: Db;
  clock: Clock;
  jobs: Pick<JobQueue, 'enqueue'>;
  secrets: Pick<Secrets, 'sign' | 'verify'>;
  store: Pick<BlobStore, 'delete'>;
  /** Returns the live workspace of an account, which contains its files. */
  workspaceOf(accountId: string): Promise<string>;
  publicUrl: string;
}

const PURPOSE = 'account export';

export function createExports(deps: Deps): Exports {
  const { db, clock, jobs, secrets, store, workspaceOf, publicUrl } = deps;
  return {
    async start(accountId) {
      const row = { id: newId('exp'), account_id: accountId, created_at: clock.now() };
      try {
        return await db.transaction().execute(async (tx) => {
          await jobs.enqueue(tx, exportJob, { accountId, exportId: row.id }, { key: row.id });
          return repository.insertExport(tx, row);
        });
      } catch (error) {
        if (violatedConstraint(error) !== 'account_export_pending') throw error;
        throw new AppError('CONFLICT', { message: 'An export is already in progress.', cause: error });
      }
    },
    async latest(accountId) {
      const row = await repository.findLatest(db, accountId);
      if (row === undefined) throw notFound();
      return row;
    },
    urlOf: ({ id, status }) =>
      status === 'READY' ? `${publicUrl}/exports/${id}.zip?signature=${secrets.sign(PURPOSE, id)}` : null,
    async keyFor(id, signature) {
      if (!secrets.verify(PURPOSE, id, signature)) return null;
      const row = await repository.findExport(db, id);
      const isGood = row?.status === 'READY' && (row.expires_at?.getTime() ?? 0) > clock.ms();
      return isGood ? exportKey(await workspaceOf(row.account_id), id) : null;
    },
    async cleanUp() {
      for (const row of await repository.findOver(db, clock.now())) {
        await store.delete(exportKey(await workspaceOf(row.account_id), row.id));
        await repository.deleteExport(db, row.id);
      }
    },
  };
}
