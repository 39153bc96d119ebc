import { hasAny } from '../../../platform/db/has-any.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type {
  EmailLinkRequestPurpose,
  EmailTokenTable,
  EmailTokenPurpose as LinkPurpose,
} from '../../../platform/db/tables.generated.ts';

export async function insertToken(tx: Tx, token: Omit<EmailTokenTable, 'used_at'>): Promise<void> {
  await tx
    .insertInto('email_token')
    .values({ ...token, used_at: null })
    .execute();
}

/** Finds the account of a valid link. */
export function findValidToken(db: Db, hash: Uint8Array, purpose: LinkPurpose, now: Date) {
  return db
    .selectFrom('email_token')
    .select(['account_id', 'email'])
    .where('hash', '=', hash)
    .where('purpose', '=', purpose)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst();
}

/** Consumes a link. @returns its account, or undefined when it is unknown, used or expired. */
export function consumeToken(tx: Tx, hash: Uint8Array, purpose: LinkPurpose, now: Date) {
  return tx
    .updateTable('email_token')
    .set({ used_at: now })
    .where('hash', '=', hash)
    .where('purpose', '=', purpose)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .returning(['account_id', 'email', 'created_at'])
    .executeTakeFirst();
}

/** Voids the open links of an account for these purposes; with `since`, only those created at or after it. */
export async function voidTokens(
  tx: Tx,
  accountId: string,
  purposes: readonly LinkPurpose[],
  now: Date,
  since?: Date,
): Promise<void> {
  let query = tx
    .updateTable('email_token')
    .set({ used_at: now })
    .where('account_id', '=', accountId)
    .where('purpose', 'in', purposes)
    .where('used_at', 'is', null);
  if (since !== undefined) query = query.where('created_at', '>=', since);
  await query.execute();
}

/** Reports whether another account than `by` had the address recently and may restore it. */
export async function isEmailReserved(
  db: Db,
  { email, by, now }: { email: string; by: string | null; now: Date },
): Promise<boolean> {
  let query = db
    .selectFrom('email_token')
    .select('account_id')
    .where('email', '=', email)
    .where('purpose', '=', 'KEEP_EMAIL')
    .where('used_at', 'is', null)
    .where('expires_at', '>', now);
  if (by !== null) query = query.where('account_id', '!=', by);
  return (await query.executeTakeFirst()) !== undefined;
}

export async function countTokens(db: Db, accountId: string, purpose: LinkPurpose, since: Date) {
  return db
    .selectFrom('email_token')
    .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.min<Date | null>('created_at').as('oldest')])
    .where('account_id', '=', accountId)
    .where('purpose', '=', purpose)
    .where('created_at', '>', since)
    .executeTakeFirstOrThrow();
}

export async function insertRequest(
  db: Db,
  purpose: EmailLinkRequestPurpose,
  email: string,
  now: Date,
): Promise<void> {
  await db.insertInto('email_link_request').values({ purpose, email, created_at: now }).execute();
}

/** Reports whether a request is waiting, including one that another worker has locked. */
export function hasRequest(db: Db): Promise<boolean> {
  return hasAny(db, [db.selectFrom('email_link_request').select('id')]);
}

/** Claims the oldest request that no worker has locked; the commit deletes it. */
export async function claimNextRequest(tx: Tx) {
  const oldest = tx
    .selectFrom('email_link_request')
    .select('id')
    .orderBy('id')
    .limit(1)
    .forUpdate()
    .skipLocked();
  return tx
    .deleteFrom('email_link_request')
    .where('id', '=', oldest)
    .returning(['purpose', 'email'])
    .executeTakeFirst();
}

export async function deleteTokensBefore(db: Db, time: Date): Promise<void> {
  await db.deleteFrom('email_token').where('created_at', '<', time).execute();
}
