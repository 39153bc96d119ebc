import { hash } from '@node-rs/argon2';
import type { Clock } from '../../kernel/clock.ts';
import { AppError, notFound } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { Plan } from '../../kernel/plans.ts';
import { brokenConstraint, type Db } from '../../platform/db/index.ts';
import * as repository from './repository.ts';
import * as rules from './rules.ts';

export type { AccountSummary } from './repository.ts';

export interface AccountInput {
  email: string;
  password: string;
  name?: string | null | undefined;
  /** Made from the address when absent. */
  username?: string | undefined;
  plan?: Plan | undefined;
  role?: 'USER' | 'ADMIN' | undefined;
  verified: boolean;
}

export interface Accounts {
  /**
   * An account with its live and its test workspace.
   *
   * @throws {AppError} INVALID_EMAIL, WEAK_PASSWORD, EMAIL_EXISTS, BAD_REQUEST or CONFLICT (`username`).
   */
  create(input: AccountInput): Promise<{ id: string; email: string; username: string }>;
  list(): Promise<repository.AccountSummary[]>;
  /** @throws {AppError} NOT_FOUND. */
  byEmail(email: string): Promise<repository.AccountSummary>;
  /** @throws {AppError} NOT_FOUND. */
  planOf(id: string): Promise<Plan>;
  isEmpty(): Promise<boolean>;
  /** Each: @throws {AppError} NOT_FOUND. */
  setPlan(email: string, plan: Plan): Promise<void>;
  suspend(email: string): Promise<void>;
  unsuspend(email: string): Promise<void>;
  verify(email: string): Promise<void>;
}

export function createAccounts({ db, clock }: { db: Db; clock: Clock }): Accounts {
  const change = async (email: string, values: Parameters<typeof repository.updateAccount>[2]) => {
    if (!(await repository.updateAccount(db, rules.normaliseEmail(email), values))) throw notFound();
  };
  return {
    create: (input) => createAccount(db, clock, input),
    list: () => repository.listAccounts(db),
    async byEmail(email) {
      const account = await repository.findByEmail(db, rules.normaliseEmail(email));
      if (account === undefined) throw notFound();
      return account;
    },
    async planOf(id) {
      const account = await repository.findById(db, id);
      if (account === undefined) throw notFound();
      return account.plan;
    },
    isEmpty: async () => (await repository.countAccounts(db)) === 0,
    setPlan: (email, plan) => change(email, { plan }),
    suspend: (email) => change(email, { suspended_at: clock.now() }),
    unsuspend: (email) => change(email, { suspended_at: null }),
    verify: (email) => change(email, { email_verified_at: clock.now() }),
  };
}

async function createAccount(db: Db, clock: Clock, input: AccountInput) {
  const email = rules.normaliseEmail(input.email);
  rules.assertPassword(input.password);
  const passwordHash = await hash(input.password);
  const stem = rules.usernameStem(email.split('@')[0] ?? '');
  const username =
    input.username === undefined
      ? rules.suggestUsername(email, await repository.usernamesLike(db, stem))
      : rules.normaliseUsername(input.username);
  const id = newId('usr');
  try {
    await db.transaction().execute(async (tx) => {
      await repository.insertAccount(tx, {
        id,
        email,
        username,
        password_hash: passwordHash,
        name: rules.normaliseName(input.name ?? null),
        role: input.role ?? 'USER',
        plan: input.plan ?? 'VIP',
        email_verified_at: input.verified ? clock.now() : null,
      });
      await repository.insertWorkspace(tx, newId('wsp'), id, 'live');
      await repository.insertWorkspace(tx, newId('wsp'), id, 'test');
    });
  } catch (error) {
    const constraint = brokenConstraint(error);
    if (constraint === 'account_email') throw new AppError('EMAIL_EXISTS', { field: 'email', cause: error });
    if (constraint === 'account_username') {
      throw new AppError('CONFLICT', {
        field: 'username',
        message: 'This user name is taken.',
        cause: error,
      });
    }
    throw error;
  }
  return { id, email, username };
}
