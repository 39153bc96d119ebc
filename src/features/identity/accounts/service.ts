import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../kernel/clock.ts';
import { AppError, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Plan } from '../../../kernel/plans.ts';
import { type Db, type Tx, violatedConstraint } from '../../../platform/db/index.ts';
import { insertWorkspace } from '../../../platform/db/workspace.ts';
import type { Passwords } from '../../../platform/passwords.ts';
import * as credentials from './credentials.repository.ts';
import * as repository from './repository.ts';
import * as rules from './rules.ts';

export interface AccountInput {
  email: string;
  password: string;
  name?: string | null | undefined;
  /** Suggested from the email address when absent. */
  username?: string | undefined;
  plan?: Plan | undefined;
  role?: 'USER' | 'ADMIN' | undefined;
  verified: boolean;
  /** Accepted terms, if any were shown. */
  terms?: { url: string; acceptedAt: Date } | undefined;
}

export interface NewIdentity {
  id: string;
  email: string;
  username: string;
}

export interface Accounts {
  /**
   * Creates an account with its live and its test workspace.
   *
   * @param also writes in the same transaction.
   * @throws {AppError} INVALID_EMAIL, WEAK_PASSWORD, EMAIL_EXISTS, BAD_REQUEST or CONFLICT (`username`).
   */
  create(input: AccountInput, also?: (tx: Tx, account: NewIdentity) => Promise<void>): Promise<NewIdentity>;
  /** Validates and hashes a new password. @throws {AppError} WEAK_PASSWORD, for the field. */
  hashPassword(password: string, field?: string): Promise<string>;
  /** Normalizes an email address. @throws {AppError} INVALID_EMAIL. */
  normaliseEmail(email: string): string;
  passwordMinLength: number;
  /** Reads and writes of an account that sign-in needs. */
  credentials: typeof credentials;
  list(filter: repository.AccountFilter): Promise<repository.AccountSummary[]>;
  /** @throws {AppError} NOT_FOUND. */
  byEmail(email: string): Promise<repository.AccountSummary>;
  /** @throws {AppError} NOT_FOUND. */
  byId(id: string): Promise<repository.AccountSummary>;
  /** Returns the account by exact username. @throws {AppError} NOT_FOUND, also for a suspended account. */
  byUsername(username: string): Promise<repository.AccountSummary>;
  isEmpty(): Promise<boolean>;
  /** Closes the account like a suspension: it is hidden and its keys are rejected. */
  close(tx: Tx, id: string, at: Date): Promise<void>;
  /** Reverts a `close` of that time; a suspension by the operator stays. */
  reopen(tx: Tx, id: string, closedAt: Date): Promise<void>;
  /** Removes all personal data; the row stays, closed, because other rows refer to it. */
  bury(tx: Tx, id: string): Promise<void>;
  /** Each: @throws {AppError} NOT_FOUND. */
  setPlan(email: string, plan: Plan): Promise<void>;
  suspend(email: string): Promise<void>;
  unsuspend(email: string): Promise<void>;
  verify(email: string): Promise<void>;
}

interface Deps {
  db: Db;
  clock: Clock;
  passwords: Pick<Passwords, 'hash'>;
}

export function createAccounts(deps: Deps): Accounts {
  const { db, clock } = deps;
  const change = async (email: string, values: Parameters<typeof repository.updateAccount>[2]) => {
    if (!(await repository.updateAccount(db, rules.normalizeEmail(email), values))) throw notFound();
  };
  const byId = async (id: string) => {
    const account = await repository.findById(db, id);
    if (account === undefined) throw notFound();
    return account;
  };
  return {
    create: (input, also) => createAccount(deps, input, also),
    normaliseEmail: rules.normalizeEmail,
    hashPassword(password, field) {
      rules.assertPassword(password, field);
      return deps.passwords.hash(password);
    },
    passwordMinLength: rules.PASSWORD_MIN,
    credentials,
    list: (filter) => repository.listAccounts(db, filter),
    async byEmail(email) {
      const account = await repository.findByEmail(db, rules.normalizeEmail(email));
      if (account === undefined) throw notFound();
      return account;
    },
    byId,
    async byUsername(username) {
      const account = await repository.findByUsername(db, username);
      if (account === undefined || account.suspended_at !== null) throw notFound();
      return account;
    },
    close: (tx, id, at) => repository.closeAccount(tx, id, at),
    reopen: (tx, id, closedAt) => repository.reopenAccount(tx, id, closedAt),
    bury: (tx, id) => repository.anonymizeAccount(tx, id),
    isEmpty: async () => (await repository.countAccounts(db)) === 0,
    setPlan: (email, plan) => change(email, { plan }),
    suspend: (email) => change(email, { suspended_at: clock.now() }),
    unsuspend: (email) => change(email, { suspended_at: null }),
    verify: (email) => change(email, { email_verified_at: clock.now() }),
  };
}

async function createAccount(deps: Deps, input: AccountInput, also?: Parameters<Accounts['create']>[1]) {
  const { db, clock, passwords } = deps;
  const email = rules.normalizeEmail(input.email);
  rules.assertPassword(input.password);
  const chosen = input.username === undefined ? null : rules.normalizeUsername(input.username);
  // Checked before the costly hash; the unique index decides between concurrent requests.
  if ((await repository.findByEmail(db, email)) !== undefined) throw emailExists();
  const account = {
    id: newId('usr'),
    email,
    password_hash: await passwords.hash(input.password),
    name: rules.normalizeName(input.name ?? null),
    role: input.role ?? 'USER',
    plan: input.plan ?? 'VIP',
    email_verified_at: input.verified ? clock.now() : null,
    terms_url: input.terms?.url ?? null,
    terms_accepted_at: input.terms?.acceptedAt ?? null,
  };
  for (let attempt = 1; ; attempt++) {
    const username = chosen ?? (await freeUsername(db, email, attempt));
    const made = { id: account.id, email, username };
    try {
      await db.transaction().execute(async (tx) => {
        await repository.insertAccount(tx, { ...account, username });
        await insertWorkspace(tx, newId('wsp'), account.id, 'live');
        await insertWorkspace(tx, newId('wsp'), account.id, 'test');
        await also?.(tx, made);
      });
      return made;
    } catch (error) {
      const constraint = violatedConstraint(error);
      if (constraint === 'account_email') throw emailExists(error);
      if (constraint !== 'account_username') throw error;
      if (chosen !== null || attempt === USERNAME_TRIES) throw usernameTaken(error);
    }
  }
}

/**
 * Number of attempts: another account can take a suggested name in the meantime; then a random one is tried.
 */
const USERNAME_TRIES = 4;

async function freeUsername(db: Db, email: string, attempt: number): Promise<string> {
  const stem = rules.usernameStem(email.split('@')[0] ?? '');
  if (attempt > 1) return `${stem}-${randomBytes(4).toString('hex')}`;
  return rules.suggestUsername(email, await repository.usernamesLike(db, stem));
}

function emailExists(cause?: unknown): AppError {
  return new AppError('EMAIL_EXISTS', { field: 'email', cause });
}

function usernameTaken(cause: unknown): AppError {
  return new AppError('CONFLICT', { field: 'username', message: 'This username is already taken.', cause });
}
