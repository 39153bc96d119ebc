import { JobDeferredError, type JobRun } from '../../../jobs/job.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import type { BlobStore } from '../../../media/contract/index.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { lockWorkspaces } from '../../../platform/db/workspace.ts';
import type { Logger } from '../../../platform/logger.ts';
import { ERASED } from './data-inventory.ts';
import {
  anonymizeLedger,
  type DeleteProviderCustomers,
  erasePerson,
  type Person,
} from './person.repository.ts';
import type { ErasureRow } from './repository.ts';
import * as repository from './repository.ts';
import { deleteRows, rowsOf, type Subject } from './rows.repository.ts';
import { describeOutstandingSales } from './rules.ts';

export interface EraseDeps {
  db: Db;
  clock: Clock;
  log: Logger;
  store: Pick<BlobStore, 'delete' | 'deletePrefix'>;
  accounts: {
    byId(id: string): Promise<{ email: string; username: string; name: string | null }>;
    /** Removes all personal data; the row stays, closed, for the ledger. */
    bury(tx: Tx, id: string): Promise<void>;
  };
  /** Leaves a team of another account and corrects its counts. */
  leaveTeam(userId: string, accountId: string): Promise<void>;
  unfollowAll(accountId: string): Promise<void>;
  forgetSubscriber(email: string): Promise<void>;
  forgetCustomers: DeleteProviderCustomers;
  /** Deletes jobs whose payload contains one of these IDs. */
  forgetJobs(ids: readonly string[], except: string): Promise<void>;
  /** Clears cached accounts on every node. */
  forget(): void;
}

/** Maximum delay of an erasure by unfinished work, such as a broadcast on a lost node. */
const WAIT_MS = DAY_MS;
const WAIT_SEC = 30;
/** Retry interval while customers' purchases are running, which takes days to end. */
const RUNNING_WAIT_SEC = 3600;

/**
 * Returns the job function. Each step is idempotent, so a crash loses nothing, and the row that names the
 * account is read until the last step.
 */
export function createEraser(deps: EraseDeps): (run: JobRun<{ accountId: string }>) => Promise<void> {
  const { db, clock, log, accounts } = deps;
  return async ({ id: jobId, payload: { accountId }, signal, confirm }) => {
    const erasure = await begin(deps, accountId);
    if (erasure === undefined) return;
    const subject = { accountId, workspaceIds: await repository.workspacesOf(db, accountId) };
    const isLate = clock.ms() > (erasure.started_at ?? erasure.due_at).getTime() + WAIT_MS;
    if (!isLate && (await repository.isBusy(db, subject))) {
      throw new JobDeferredError('a broadcast, room or recording of the account is still active', WAIT_SEC);
    }
    const { email, username, name } = await accounts.byId(accountId);
    const person = { email, ids: [accountId, ...subject.workspaceIds], username, name };
    await leaveOthers(deps, person, accountId);
    signal.throwIfAborted();
    await eraseMedia(deps, subject);
    // Rows that were being written at the start are visible now: repeat until none is found.
    while (await eraseRows(deps, subject, jobId)) signal.throwIfAborted();
    await eraseMedia(deps, subject);
    await db.transaction().execute((tx) => erasePerson(tx, person, deps.forgetCustomers));
    await db.transaction().execute(async (tx) => {
      await anonymizeLedger(tx, subject, deps.forgetCustomers);
      await accounts.bury(tx, accountId);
      await repository.finish(tx, accountId, clock.now());
      await confirm(tx);
    });
    deps.forget();
    log.info({ accountId }, 'an account was erased');
  };
}

/**
 * Marks the erasure as irreversible. Purchases by others may have begun since the account was closed: they
 * end first, and until then the owner can restore the account and end them. Purchases of the person delay
 * nothing: anyone could book in their name.
 *
 * @returns undefined when it was canceled or is done.
 */
async function begin({ db, clock, log }: EraseDeps, accountId: string): Promise<ErasureRow | undefined> {
  const found = await repository.findErasure(db, accountId);
  if (found === undefined) return undefined;
  return db.transaction().execute(async (tx) => {
    await lockWorkspaces(tx, accountId);
    const running =
      found.started_at === null
        ? describeOutstandingSales(await repository.countOutstandingSales(tx, accountId))
        : [];
    if (running.length > 0) {
      log.warn(
        { accountId, running },
        'account erasure is postponed: other people depend on active resources',
      );
      throw new JobDeferredError('the account has active resources on which others depend', RUNNING_WAIT_SEC);
    }
    return repository.begin(tx, accountId, clock.now());
  });
}

async function leaveOthers(deps: EraseDeps, { email }: Person, accountId: string): Promise<void> {
  for (const team of await repository.teamsOf(deps.db, accountId)) await deps.leaveTeam(accountId, team);
  await deps.unfollowAll(accountId);
  await deps.forgetSubscriber(email);
}

async function eraseMedia({ db, store }: EraseDeps, subject: Subject): Promise<void> {
  for (const key of await repository.originalKeys(db, subject)) await store.delete(key);
  for (const id of subject.workspaceIds) await store.deletePrefix(`w/${id}/`);
}

/** @returns whether any rows were deleted. */
async function eraseRows({ db, forgetJobs }: EraseDeps, subject: Subject, jobId: string): Promise<boolean> {
  await forgetJobs([subject.accountId, ...subject.workspaceIds], jobId);
  let count = 0;
  for (const table of ERASED) count += await deleteRows(db, table, rowsOf(table, subject));
  return count > 0;
}
