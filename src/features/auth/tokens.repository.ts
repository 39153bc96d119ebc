import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';

export interface SigningKeyRow {
  kid: string;
  private_key: Uint8Array;
  created_at: Date;
}

/** Any constant: it lets one process at a time make a key. */
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

/** Until the transaction ends. */
export async function lockKeys(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx);
}

export async function insertKey(tx: Tx, key: SigningKeyRow): Promise<void> {
  await tx.insertInto('signing_key').values(key).execute();
}

/** Drops each key that had a successor before `time`. */
export async function deleteKeysReplacedBefore(tx: Tx, time: Date): Promise<void> {
  await sql`
    delete from signing_key old where exists (
      select 1 from signing_key newer
      where newer.created_at > old.created_at and newer.created_at < ${time}
    )`.execute(tx);
}
