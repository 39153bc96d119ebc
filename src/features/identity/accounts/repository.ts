import { randomBytes } from 'node:crypto';
import type { Plan } from '../../../kernel/plans.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';

export interface NewAccount {
  id: string;
  email: string;
  password_hash: string;
  name: string | null;
  username: string;
  role: 'USER' | 'ADMIN';
  plan: Plan;
  email_verified_at: Date | null;
  terms_url: string | null;
  terms_accepted_at: Date | null;
}

export async function insertAccount(tx: Tx, account: NewAccount): Promise<void> {
  await tx
    .insertInto('account')
    .values({ ...account, suspended_at: null })
    .execute();
}

export async function usernamesLike(db: Db, stem: string): Promise<Set<string>> {
  const rows = await db
    .selectFrom('account')
    .select('username')
    .where('username', 'like', `${stem}%`)
    .execute();
  return new Set(rows.map((row) => row.username));
}

export interface AccountSummary {
  id: string;
  email: string;
  username: string;
  name: string | null;
  role: 'USER' | 'ADMIN';
  plan: Plan;
  email_verified_at: Date | null;
  suspended_at: Date | null;
  created_at: Date;
}

const SUMMARY = [
  'id',
  'email',
  'username',
  'name',
  'role',
  'plan',
  'email_verified_at',
  'suspended_at',
  'created_at',
] as const;

export interface AccountFilter {
  plan?: Plan | undefined;
  role?: AccountSummary['role'] | undefined;
  isSuspended?: true | undefined;
  /** Case-insensitive part of the email address, the username or the name. */
  match?: string | undefined;
}

export function listAccounts(db: Db, filter: AccountFilter): Promise<AccountSummary[]> {
  const { plan, role, isSuspended, match } = filter;
  let query = db.selectFrom('account').select(SUMMARY);
  if (plan !== undefined) query = query.where('plan', '=', plan);
  if (role !== undefined) query = query.where('role', '=', role);
  if (isSuspended === true) query = query.where('suspended_at', 'is not', null);
  if (match !== undefined) {
    const pattern = `%${match.replace(/[\\%_]/g, '\\$&')}%`;
    query = query.where((eb) =>
      eb.or([eb('email', 'ilike', pattern), eb('username', 'ilike', pattern), eb('name', 'ilike', pattern)]),
    );
  }
  return query.orderBy('id').execute();
}

export function findByUsername(db: Db, username: string): Promise<AccountSummary | undefined> {
  return db.selectFrom('account').select(SUMMARY).where('username', '=', username).executeTakeFirst();
}

export function findByEmail(db: Db, email: string): Promise<AccountSummary | undefined> {
  return db.selectFrom('account').select(SUMMARY).where('email', '=', email).executeTakeFirst();
}

export function findById(db: Db, id: string): Promise<AccountSummary | undefined> {
  return db.selectFrom('account').select(SUMMARY).where('id', '=', id).executeTakeFirst();
}

export async function countAccounts(db: Db): Promise<number> {
  const row = await db
    .selectFrom('account')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return row.count;
}

/** @returns whether there is such an account. */
export async function updateAccount(
  db: Db,
  email: string,
  change: { plan?: Plan; suspended_at?: Date | null; email_verified_at?: Date },
): Promise<boolean> {
  const result = await db.updateTable('account').set(change).where('email', '=', email).executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Closes an account; a suspension by the operator stays, with its time. */
export async function closeAccount(tx: Tx, id: string, at: Date): Promise<void> {
  await tx
    .updateTable('account')
    .set({ suspended_at: at })
    .where('id', '=', id)
    .where('suspended_at', 'is', null)
    .execute();
}

export async function reopenAccount(tx: Tx, id: string, closedAt: Date): Promise<void> {
  await tx
    .updateTable('account')
    .set({ suspended_at: null })
    .where('id', '=', id)
    .where('suspended_at', '=', closedAt)
    .execute();
}

/**
 * Overwrites the personal data: the email address and the username become available, and sign-in is
 * impossible.
 */
export async function anonymizeAccount(tx: Tx, id: string): Promise<void> {
  const word = randomBytes(8).toString('hex');
  await tx
    .updateTable('account')
    .set((eb) => ({
      email: `${word}@erased.invalid`,
      username: `erased-${word}`,
      password_hash: '-',
      name: null,
      bio: null,
      role: 'USER',
      email_verified_at: null,
      locale: 'en',
      timezone: 'UTC',
      embed_mode: 'OPEN',
      embed_domains: [],
      embed_updated_at: null,
      terms_url: null,
      terms_accepted_at: null,
      token_epoch: eb('token_epoch', '+', 1),
    }))
    .where('id', '=', id)
    .execute();
}
