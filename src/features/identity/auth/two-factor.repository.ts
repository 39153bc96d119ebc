import { type Selectable, sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { TwoFactorTable } from '../../../platform/db/tables.generated.ts';

export type TwoFactorRow = Selectable<TwoFactorTable>;

export function findTwoFactor(db: Db, accountId: string): Promise<TwoFactorRow | undefined> {
  return db.selectFrom('two_factor').selectAll().where('account_id', '=', accountId).executeTakeFirst();
}

export function lockTwoFactor(tx: Tx, accountId: string): Promise<TwoFactorRow | undefined> {
  return tx
    .selectFrom('two_factor')
    .selectAll()
    .where('account_id', '=', accountId)
    .forUpdate()
    .executeTakeFirst();
}

/** Starts an enrollment, or restarts it. @returns false when the second factor is enabled already. */
export async function upsertEnrollment(db: Db, accountId: string, secret: Uint8Array, now: Date) {
  const result = await db
    .insertInto('two_factor')
    .values({ account_id: accountId, secret, enabled_at: null, created_at: now })
    .onConflict((conflict) =>
      conflict
        .column('account_id')
        .doUpdateSet({ secret, created_at: now })
        .where('two_factor.enabled_at', 'is', null),
    )
    .executeTakeFirst();
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

export async function enable(tx: Tx, accountId: string, at: Date, recoveryHashes: string[]): Promise<void> {
  await tx.updateTable('two_factor').set({ enabled_at: at }).where('account_id', '=', accountId).execute();
  await tx.deleteFrom('recovery_code').where('account_id', '=', accountId).execute();
  await tx
    .insertInto('recovery_code')
    .values(recoveryHashes.map((hash) => ({ account_id: accountId, hash, used_at: null })))
    .execute();
}

/** Deletes the secret, recovery codes and open challenges. */
export async function remove(tx: Tx, accountId: string): Promise<void> {
  for (const table of ['two_factor', 'recovery_code', 'sign_in_challenge'] as const) {
    await tx.deleteFrom(table).where('account_id', '=', accountId).execute();
  }
}

/** @returns false when this step's code, or a later one's, has been used. */
export async function consumeTimeStep(tx: Tx, accountId: string, step: number): Promise<boolean> {
  const result = await tx
    .updateTable('two_factor')
    .set({ last_step: step })
    .where('account_id', '=', accountId)
    .where('last_step', '<', step)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** @returns false when no such unused code exists. */
export async function consumeRecoveryCode(
  tx: Tx,
  accountId: string,
  hash: string,
  at: Date,
): Promise<boolean> {
  const result = await tx
    .updateTable('recovery_code')
    .set({ used_at: at })
    .where('account_id', '=', accountId)
    .where('hash', '=', hash)
    .where('used_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

export async function countRecoveryCodes(db: Db, accountId: string): Promise<number> {
  const row = await db
    .selectFrom('recovery_code')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('account_id', '=', accountId)
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow();
  return row.count;
}

interface NewChallenge {
  id: string;
  account_id: string;
  created_at: Date;
  expires_at: Date;
}

export async function insertChallenge(db: Db, challenge: NewChallenge): Promise<void> {
  await db
    .insertInto('sign_in_challenge')
    .values({ ...challenge, used_at: null })
    .execute();
}

/**
 * Counts an attempt. @returns the account, or undefined when the challenge is unknown, used, expired or has
 * no attempts left.
 */
export async function countAttempt(
  tx: Tx,
  id: string,
  now: Date,
  maxTries: number,
): Promise<string | undefined> {
  const row = await tx
    .updateTable('sign_in_challenge')
    .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
    .where('id', '=', id)
    .where('attempts', '<', maxTries)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .returning('account_id')
    .executeTakeFirst();
  return row?.account_id;
}

/** Counts attempts of unanswered challenges of the account since `since`. */
export async function countTries(tx: Tx, accountId: string, since: Date): Promise<number> {
  const row = await tx
    .selectFrom('sign_in_challenge')
    .select(sql<number>`coalesce(sum(attempts), 0)::int`.as('count'))
    .where('account_id', '=', accountId)
    .where('created_at', '>', since)
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow();
  return row.count;
}

export async function consumeChallenge(tx: Tx, id: string, at: Date): Promise<void> {
  await tx.updateTable('sign_in_challenge').set({ used_at: at }).where('id', '=', id).execute();
}

export async function deleteChallengesOf(tx: Tx, accountId: string): Promise<void> {
  await tx.deleteFrom('sign_in_challenge').where('account_id', '=', accountId).execute();
}

export async function deleteChallengesBefore(db: Db, time: Date): Promise<void> {
  await db.deleteFrom('sign_in_challenge').where('created_at', '<', time).execute();
}
