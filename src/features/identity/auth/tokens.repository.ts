import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';

export interface TokenRow {
  id: string;
  account_id: string;
  expires_at: Date;
}

export interface SigningKeyRow {
  kid: string;
  private_key: Uint8Array;
  created_at: Date;
}

/** Arbitrary advisory-lock ID: one process at a time creates a key. */
const LOCK = 7_220_421;

/** Newest first. */
export function listKeys(db: Db): Promise<SigningKeyRow[]> {
  return db
    .selectFrom('signing_key')
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('kid', 'desc')
    .execute();
}

/** Takes an advisory lock until the transaction ends. */
export async function lockKeys(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx);
}

export async function insertKey(tx: Tx, key: SigningKeyRow): Promise<void> {
  await tx.insertInto('signing_key').values(key).execute();
}

/** Deletes keys that were replaced before `time`. */
export async function deleteKeysReplacedBefore(tx: Tx, time: Date): Promise<void> {
  await sql`
    delete from signing_key old where exists (
      select 1 from signing_key newer
      where newer.created_at > old.created_at and newer.created_at < ${time}
    )`.execute(tx);
}

export async function insertToken(tx: Tx, token: TokenRow): Promise<void> {
  await tx.insertInto('user_token').values(token).execute();
}

export async function hasToken(db: Db, accountId: string, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('user_token')
    .select('id')
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return row !== undefined;
}

export async function deleteToken(db: Db, accountId: string, id: string): Promise<void> {
  await db.deleteFrom('user_token').where('id', '=', id).where('account_id', '=', accountId).execute();
}

/** @param keep ID to retain, if any. */
export async function deleteTokensOf(tx: Tx, accountId: string, keep: string | null): Promise<void> {
  let query = tx.deleteFrom('user_token').where('account_id', '=', accountId);
  if (keep !== null) query = query.where('id', '!=', keep);
  await query.execute();
}

export async function deleteExpiredTokens(db: Db, now: Date): Promise<void> {
  await db.deleteFrom('user_token').where('expires_at', '<=', now).execute();
}
