import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';

/** @returns whether the account has signed in from anywhere. */
export async function hasSignInLocations(tx: Tx, accountId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('sign_in_location')
    .select('account_id')
    .where('account_id', '=', accountId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** @returns whether the account has not signed in from there before. */
export async function recordSignInLocation(
  tx: Tx,
  accountId: string,
  { location_hash, ...seen }: { location_hash: Uint8Array; network: Uint8Array; last_seen_at: Date },
): Promise<boolean> {
  const row = await tx
    .insertInto('sign_in_location')
    .values({ account_id: accountId, location_hash, ...seen })
    .onConflict((conflict) => conflict.columns(['account_id', 'location_hash']).doUpdateSet(seen))
    // xmax is zero for an inserted row, and the transaction ID for an updated one.
    .returning(sql<boolean>`xmax = 0`.as('is_new'))
    .executeTakeFirstOrThrow();
  return row.is_new;
}

/** @returns whether the account has signed in from the network since then. */
export async function hasNetwork(
  db: Db,
  accountId: string,
  { network, since }: { network: Uint8Array; since: Date },
): Promise<boolean> {
  const row = await db
    .selectFrom('sign_in_location')
    .select('account_id')
    .where('account_id', '=', accountId)
    .where('network', '=', network)
    .where('last_seen_at', '>', since)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export async function deleteSignInLocationsBefore(db: Db, time: Date): Promise<void> {
  await db.deleteFrom('sign_in_location').where('last_seen_at', '<', time).execute();
}
