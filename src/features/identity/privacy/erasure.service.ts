import type { JobQueue } from '../../../jobs/job.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import { parseEmail } from '../../../kernel/email.ts';
import { AppError, badRequest, notFound } from '../../../kernel/errors.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { lockWorkspaces } from '../../../platform/db/workspace.ts';
import { hashSecret, newSecret } from '../../../platform/tokens.ts';
import { accountDeletedEmail } from './emails.ts';
import { erasureJob } from './jobs.ts';
import { type DeleteProviderCustomers, erasePerson } from './person.repository.ts';
import * as repository from './repository.ts';
import { describeOutstandingSales, describeOwnCommitments } from './rules.ts';

/** Erasure of accounts and people (docs/decisions/privacy.md). */
export interface Erasure {
  /**
   * Closes the account immediately, and erases it seven days later.
   *
   * @throws {AppError} INVALID_CREDENTIALS; CONFLICT with the list of blockers.
   */
  request(accountId: string, password: string, from: { ip: string }): Promise<{ erasedAt: Date }>;
  /**
   * Erases without the waiting period, including an account that its owner has closed. @throws {AppError}
   * NOT_FOUND, CONFLICT.
   */
  eraseNow(email: string): Promise<{ id: string }>;
  /** Reports whether the link can still restore an account. */
  isKeepable(token: string): Promise<boolean>;
  /** Restores the account, without its sessions. @returns false when it is too late. */
  keep(token: string): Promise<boolean>;
  /**
   * Erases a person without an account: purchases, bookings and subscriptions at every creator.
   *
   * @throws {AppError} BAD_REQUEST, field `email`; CONFLICT with the list of blockers, and for the address of
   *   an account.
   */
  erasePerson(email: string): Promise<void>;
}

const GRACE_PERIOD_MS = 7 * DAY_MS;

export interface ErasureDeps {
  db: Db;
  clock: Clock;
  jobs: Pick<JobQueue, 'enqueue' | 'cancel'>;
  mailbox: { enqueue(tx: Tx, mail: ReturnType<typeof accountDeletedEmail>): Promise<void> };
  accounts: {
    /** @throws {AppError} NOT_FOUND. */
    byId(id: string): Promise<{ id: string; email: string }>;
    /** @throws {AppError} NOT_FOUND. */
    byEmail(email: string): Promise<{ id: string; email: string }>;
    /** Hides the account and rejects its keys. */
    close(tx: Tx, id: string, at: Date): Promise<void>;
    /** Reverts a `close` of that time. */
    reopen(tx: Tx, id: string, closedAt: Date): Promise<void>;
  };
  signIns: {
    /** @throws {AppError} INVALID_CREDENTIALS; RATE_LIMITED after many failures. */
    confirmPassword(accountId: string, password: string, from: { ip: string }): Promise<void>;
    /** Ends user tokens and sessions. Call `forget` after the commit. */
    endAll(tx: Tx, accountId: string): Promise<void>;
    forget(): void;
  };
  /** Removes this email address from every subscriber list. */
  forgetSubscriber(email: string): Promise<void>;
  forgetCustomers: DeleteProviderCustomers;
  publicUrl: string;
}

export function createErasure(deps: ErasureDeps): Erasure {
  const { db, jobs, accounts, signIns } = deps;
  return {
    async request(accountId, password, from) {
      await signIns.confirmPassword(accountId, password, from);
      return { erasedAt: await schedule(deps, await accounts.byId(accountId), GRACE_PERIOD_MS) };
    },
    async eraseNow(email) {
      const account = await accounts.byEmail(email);
      await schedule(deps, account, 0);
      return { id: account.id };
    },
    isKeepable: async (token) =>
      (await repository.findCancelableErasure(db, hashSecret(token))) !== undefined,
    async keep(token) {
      const isKept = await db.transaction().execute(async (tx) => {
        const row = await repository.cancelErasure(tx, hashSecret(token));
        if (row === undefined) return false;
        await accounts.reopen(tx, row.account_id, row.requested_at);
        await jobs.cancel(tx, erasureJob, row.account_id);
        return true;
      });
      signIns.forget();
      return isKept;
    },
    async erasePerson(given) {
      const email = parseEmail(given);
      if (email === null) throw badRequest('email', 'Enter a valid email address.');
      if (await isOfAccount(deps, email)) {
        throw new AppError('CONFLICT', {
          message: 'This email address belongs to an account. Erase the account instead.',
        });
      }
      refuseRunning(
        describeOwnCommitments(await repository.countOwnSubscriptions(db, { accountId: '', email })),
      );
      await deps.forgetSubscriber(email);
      const person = { email, ids: [], username: null, name: null };
      await db.transaction().execute((tx) => erasePerson(tx, person, deps.forgetCustomers));
    },
  };
}

async function isOfAccount({ accounts }: ErasureDeps, email: string): Promise<boolean> {
  try {
    await accounts.byEmail(email);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_FOUND') return false;
    throw error;
  }
}

async function schedule(
  deps: ErasureDeps,
  { id, email }: { id: string; email: string },
  afterMs: number,
): Promise<Date> {
  const { db, clock, jobs, accounts, signIns, publicUrl } = deps;
  const requestedAt = clock.now();
  const dueAt = dateFromMs(clock.ms() + afterMs);
  const token = newSecret();
  const own = describeOwnCommitments(await repository.countOwnSubscriptions(db, { accountId: id, email }));
  await db.transaction().execute(async (tx) => {
    await lockWorkspaces(tx, id);
    refuseRunning([...describeOutstandingSales(await repository.countOutstandingSales(tx, id)), ...own]);
    const row = {
      account_id: id,
      requested_at: requestedAt,
      due_at: dueAt,
      undo_token_hash: hashSecret(token),
    };
    if (!(await repository.insertErasure(tx, row))) {
      if (afterMs > 0) throw notFound();
      // An erasure that has begun keeps its job.
      if (await repository.bringForward(tx, row)) await jobs.cancel(tx, erasureJob, id);
    }
    await accounts.close(tx, id, requestedAt);
    await signIns.endAll(tx, id);
    await jobs.enqueue(tx, erasureJob, { accountId: id }, { key: id, delaySec: afterMs / 1000 });
    const link = `${publicUrl}/keep-account?token=${token}`;
    if (afterMs > 0) await deps.mailbox.enqueue(tx, accountDeletedEmail(email, { dueAt, link }));
  });
  signIns.forget();
  return dueAt;
}

/** Rejects when commitments are running. @throws {AppError} CONFLICT with each one and how to end it. */
function refuseRunning(open: readonly string[]): void {
  if (open.length === 0) return;
  throw new AppError('CONFLICT', { message: `End these first: ${open.join('; ')}.` });
}
