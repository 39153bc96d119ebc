import type { Db, Tx } from '../../../platform/db/index.ts';

/** Account data that a sign-in checks. */
export interface Credentials {
  id: string;
  email: string;
  name: string | null;
  role: 'USER' | 'ADMIN';
  password_hash: string;
  suspended_at: Date | null;
  email_verified_at: Date | null;
  token_epoch: number;
}

const CREDENTIALS = [
  'id',
  'email',
  'name',
  'role',
  'password_hash',
  'suspended_at',
  'email_verified_at',
  'token_epoch',
] as const;

export function findByEmail(db: Db, email: string): Promise<Credentials | undefined> {
  return db.selectFrom('account').select(CREDENTIALS).where('email', '=', email).executeTakeFirst();
}

export function findById(db: Db, id: string): Promise<Credentials | undefined> {
  return db.selectFrom('account').select(CREDENTIALS).where('id', '=', id).executeTakeFirst();
}

/** Replaces the hash of an unchanged password; does nothing when the password has changed in the meantime. */
export async function replaceHash(db: Db, id: string, from: string, to: string): Promise<void> {
  await db
    .updateTable('account')
    .set({ password_hash: to })
    .where('id', '=', id)
    .where('password_hash', '=', from)
    .execute();
}

/** Sets a confirmed email address. @throws when another account has it. */
export async function changeEmail(tx: Tx, id: string, email: string, at: Date): Promise<void> {
  await tx.updateTable('account').set({ email, email_verified_at: at }).where('id', '=', id).execute();
}

/** Sets a new password, which revokes all earlier user tokens and sessions. */
export async function changePassword(tx: Tx, id: string, hash: string): Promise<void> {
  await tx
    .updateTable('account')
    .set((eb) => ({ password_hash: hash, token_epoch: eb('token_epoch', '+', 1) }))
    .where('id', '=', id)
    .execute();
}

/** @returns whether the account still has this address. */
export async function markVerified(tx: Tx, id: string, email: string, at: Date): Promise<boolean> {
  const result = await tx
    .updateTable('account')
    .set((eb) => ({ email_verified_at: eb.fn.coalesce('email_verified_at', eb.val(at)) }))
    .where('id', '=', id)
    .where('email', '=', email)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Finds the account data that decides whether its tokens are valid. */
export function findTokenState(db: Db, id: string) {
  return db
    .selectFrom('account')
    .select(['token_epoch', 'suspended_at'])
    .where('id', '=', id)
    .executeTakeFirst();
}
