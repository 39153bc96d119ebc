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
  /** Made from the address when absent. */
  username?: string | undefined;
  plan?: Plan | undefined;
  role?: 'USER' | 'ADMIN' | undefined;
  verified: boolean;
  /** What the person saw and agreed to, where they were shown terms. */
  terms?: { url: string; acceptedAt: Date } | undefined;
}

export interface NewIdentity {
  id: string;
  email: string;
  username: string;
}

export interface Accounts {
  /**
   * An account with its live and its test workspace.
   *
   * @param also what else belongs to the same transaction.
   * @throws {AppError} INVALID_EMAIL, WEAK_PASSWORD, EMAIL_EXISTS, BAD_REQUEST or CONFLICT (`username`).
   */
  create(input: AccountInput, also?: (tx: Tx, account: NewIdentity) => Promise<void>): Promise<NewIdentity>;
  /** The hash of a password that a user chose. @throws {AppError} WEAK_PASSWORD, for the field. */
  hashPassword(password: string, field?: string): Promise<string>;
  /** In its one form. @throws {AppError} INVALID_EMAIL. */
  normaliseEmail(email: string): string;
  passwordMinLength: number;
  /** What signing in reads and writes of an account. */
  credentials: typeof credentials;
  list(filter: repository.AccountFilter): Promise<repository.AccountSummary[]>;
  /** @throws {AppError} NOT_FOUND. */
  byEmail(email: string): Promise<repository.AccountSummary>;
  /** @throws {AppError} NOT_FOUND. */
  byId(id: string): Promise<repository.AccountSummary>;
  /** As it is spelled. @throws {AppError} NOT_FOUND, also for one who is suspended. */
  byUsername(username: string): Promise<repository.AccountSummary>;
  isEmpty(): Promise<boolean>;
  /** As a suspension: nobody sees it, and its keys are refused. */
  close(tx: Tx, id: string, at: Date): Promise<void>;
  /** Takes a `close` of that time back; a suspension by the operator stays. */
  reopen(tx: Tx, id: string, closedAt: Date): Promise<void>;
  /** All that says who it was is gone; the row stays, closed, for what refers to it. */
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
  // Before the costly hash; the unique index decides between two at once.
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

/** A suggested name can be taken by another account in the meantime; then a random one is tried. */
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
