import type { JobRun } from '../../../jobs/job.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import type { BlobStore } from '../../../media/contract/index.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Database } from '../../../platform/db/tables.generated.ts';
import { type ArchiveFile, createZipStream } from './archive.ts';
import { EXPORTED } from './data-inventory.ts';
import { exportReadyEmail } from './emails.ts';
import * as repository from './exports.repository.ts';
import type { Exports } from './exports.service.ts';
import { workspacesOf } from './repository.ts';
import type { Subject } from './rows.repository.ts';
import { exportFolder, exportKey } from './rules.ts';

interface Deps {
  db: Db;
  clock: Clock;
  store: Pick<BlobStore, 'open' | 'head' | 'partials' | 'deletePrefix'>;
  disk: { admit(bytes: number): Promise<void> };
  exports: Pick<Exports, 'urlOf'>;
  accounts: { byId(id: string): Promise<{ email: string }> };
  mailbox: { enqueue(tx: Tx, mail: ReturnType<typeof exportReadyEmail>): Promise<void> };
  /** Returns the live workspace of an account, which contains its files. */
  workspaceOf(accountId: string): Promise<string>;
}

const RETENTION_MS = 7 * DAY_MS;
const README = `All data of your account, live and test.

data/      One file per table: a JSON array of its rows. Times are in UTC. Passwords, keys and other secrets are excluded.
pictures/  Images of your account and channel
originals/ Original files of your videos, if still stored; the file name is the video ID
`;

/** Returns the job function, which streams the archive to the storage and restarts after a crash. */
export function createExporter(
  deps: Deps,
): (run: JobRun<{ accountId: string; exportId: string }>) => Promise<void> {
  const { db, clock, store, accounts } = deps;
  return async ({ payload: { accountId, exportId }, signal, isLast, confirm }) => {
    const workspaceId = await deps.workspaceOf(accountId);
    const subject = { accountId, workspaceIds: await workspacesOf(db, accountId) };
    try {
      // Deletes leftovers of a crashed process and earlier archives.
      await store.deletePrefix(exportFolder(workspaceId));
      const sizeBytes = await write(deps, subject, exportKey(workspaceId, exportId), signal);
      const { email } = await accounts.byId(accountId);
      const now = clock.now();
      const ready = {
        status: 'READY',
        size_bytes: sizeBytes,
        ready_at: now,
        expires_at: dateFromMs(now.getTime() + RETENTION_MS),
      } as const;
      await db.transaction().execute(async (tx) => {
        if (!(await repository.endExport(tx, exportId, ready))) return;
        const row = await repository.findExport(tx, exportId);
        const url = row === undefined ? null : deps.exports.urlOf(row);
        if (url !== null) {
          const mail = exportReadyEmail(email, { url, expiresAt: ready.expires_at });
          await deps.mailbox.enqueue(tx, mail);
        }
        await confirm(tx);
      });
    } catch (error) {
      if (isLast && !signal.aborted) {
        const failed = { status: 'FAILED', size_bytes: null, ready_at: null, expires_at: null } as const;
        await db.transaction().execute((tx) => repository.endExport(tx, exportId, failed));
      }
      throw error;
    }
  };
}

/** @returns the size in bytes. */
async function write(deps: Deps, subject: Subject, key: string, signal: AbortSignal): Promise<number> {
  const { clock, store } = deps;
  const state = await store.partials.create(key, 'application/zip');
  let failure: unknown = null;
  // The storage stores the bytes before a failure, so the source reports the failure.
  const source = async function* () {
    try {
      for await (const chunk of createZipStream(filesOf(deps, subject), clock.now())) {
        signal.throwIfAborted();
        yield chunk;
      }
    } catch (error) {
      failure = error ?? new Error('the archive was interrupted');
      throw error;
    }
  };
  const written = await store.partials.append(key, state, 0, source());
  if (failure !== null) {
    await store.partials.abort(key, written);
    throw failure;
  }
  return (await store.partials.complete(key, written)).sizeBytes;
}

async function* filesOf({ db, store, disk }: Deps, subject: Subject): AsyncGenerator<ArchiveFile> {
  yield { path: 'README.txt', isCompressed: true, open: async () => once(README) };
  for (const table of EXPORTED) {
    yield { path: `data/${table}.json`, isCompressed: true, open: () => jsonArray(db, table, subject) };
  }
  for (const { id, image } of await repository.listImages(db, subject)) {
    yield { path: `pictures/${id}.webp`, isCompressed: false, open: async () => once(image) };
  }
  for (const { id, original_key: key } of await repository.originals(db, subject)) {
    const found = key === null ? null : await store.head(key);
    if (key === null || found === null) continue;
    await disk.admit(found.sizeBytes);
    const name = key.slice(key.lastIndexOf('/') + 1);
    yield {
      path: `originals/${id}/${name}`,
      isCompressed: false,
      size: found.sizeBytes,
      open: async () => (await store.open(key))?.body ?? once(''),
    };
  }
}

async function* once(content: string | Uint8Array): AsyncGenerator<string | Uint8Array> {
  yield content;
}

async function* jsonArray(db: Db, table: keyof Database, subject: Subject): AsyncGenerator<string> {
  let before = '[\n';
  for await (const row of repository.exportedRows(db, table, subject)) {
    yield before + row;
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}
